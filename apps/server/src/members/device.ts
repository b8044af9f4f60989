import { hash } from 'node:crypto';
import type { GenericEndpointContext } from 'better-auth';
import type { MemberContext } from './context.ts';

/** The device cookie's life: 400 days, the most that browsers allow. */
const cookieSeconds = 400 * 24 * 3_600;
const deviceBytes = 16;

/**
 * Notes the browser of a sign-in by a cookie that outlives sessions. True when this person signs in with it for the first
 * time.
 */
export async function noteDevice(
  context: GenericEndpointContext,
  { random, clock }: MemberContext,
  userId: string,
): Promise<boolean> {
  const { adapter, createAuthCookie } = context.context;
  const cookie = createAuthCookie('device', { maxAge: cookieSeconds });
  const sent = context.getCookie(cookie.name);
  const device = sent ?? Buffer.from(random.bytes(deviceBytes)).toString('base64url');
  if (sent === null || sent === undefined) context.setCookie(cookie.name, device, cookie.attributes);
  const deviceHash = hash('sha256', device);
  const where = [
    { field: 'userId', value: userId },
    { field: 'deviceHash', value: deviceHash },
  ];
  if ((await adapter.findOne({ model: 'device', where })) !== null) return false;
  await adapter.create({ model: 'device', data: { userId, deviceHash, createdAt: clock.now() } });
  return true;
}
