import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { AuthContext, GenericEndpointContext } from 'better-auth';
import type { MemberContext } from './context.ts';

/** The first signs; all verify. */
export type MasterKeys = readonly [Uint8Array, ...Uint8Array[]];

/** The device cookie's life: 400 days, the most that browsers allow. */
const cookieSeconds = 400 * 24 * 3_600;
const deviceBytes = 16;
/** People of one browser that are recognised, the latest first. */
const maxPeople = 5;
const entryPattern = /^[\w-]{22}\.[\w-]{43}$/;

/**
 * The device by which a browser's cookie names this person. The cookie has an entry for each person who signed in there. We
 * sign each for its person, so that no client chooses one, and one person's entry says nothing about another.
 */
function deviceOf(
  masterKeys: MasterKeys,
  cookie: string | null | undefined,
  userId: string,
): string | undefined {
  return entriesOf(cookie)
    .map((entry) => entry.split('.', 2) as [string, string])
    .find(([device, mac]) => masterKeys.some((key) => isSame(mac, macOf(key, userId, device))))?.[0];
}

/**
 * Notes the browser of a sign-in by a cookie that outlives sessions. True when this person signs in with it for the first
 * time.
 */
export async function noteDevice(
  context: GenericEndpointContext,
  { random, clock, masterKeys }: MemberContext & { readonly masterKeys: MasterKeys },
  userId: string,
): Promise<boolean> {
  const { adapter, createAuthCookie } = context.context;
  const cookie = createAuthCookie('device', { maxAge: cookieSeconds });
  const sent = context.getCookie(cookie.name);
  const known = deviceOf(masterKeys, sent, userId);
  const device = known ?? Buffer.from(random.bytes(deviceBytes)).toString('base64url');
  const others = entriesOf(sent).filter((entry) => !entry.startsWith(`${device}.`));
  const entries = [`${device}.${macOf(masterKeys[0], userId, device)}`, ...others].slice(0, maxPeople);
  context.setCookie(cookie.name, entries.join('~'), cookie.attributes);
  const where = whereDevice(userId, device);
  if ((await adapter.findOne({ model: 'device', where })) !== null) return false;
  await adapter.create({
    model: 'device',
    data: { userId, deviceHash: hashOfDevice(device), createdAt: clock.now() },
  });
  return true;
}

/** The device of a browser's cookie, if this person has signed in with it before. */
export async function knownDevice(
  {
    adapter,
    masterKeys,
  }: { readonly adapter: Pick<AuthContext['adapter'], 'findOne'>; readonly masterKeys: MasterKeys },
  cookie: string | null | undefined,
  userId: string,
): Promise<string | undefined> {
  const device = deviceOf(masterKeys, cookie, userId);
  if (device === undefined) return undefined;
  return (await adapter.findOne({ model: 'device', where: whereDevice(userId, device) })) === null
    ? undefined
    : device;
}

/** The row of a person's device. */
function whereDevice(userId: string, device: string) {
  return [
    { field: 'userId', value: userId },
    { field: 'deviceHash', value: hashOfDevice(device) },
  ];
}

/** What is stored of a device. */
export function hashOfDevice(device: string): string {
  return hash('sha256', device);
}

function entriesOf(cookie: string | null | undefined): string[] {
  return (cookie ?? '').split('~', maxPeople).filter((entry) => entryPattern.test(entry));
}

function macOf(masterKey: Uint8Array, userId: string, device: string): string {
  const key = createHmac('sha256', masterKey).update('dashboard devices').digest();
  return createHmac('sha256', key).update(`${userId} ${device}`).digest('base64url');
}

function isSame(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}
