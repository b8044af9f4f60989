import { wrongArgument } from './error.ts';
import { fixtureData } from './fixtures.gen.ts';
import { signedHeaders, type WebhookSecret } from './signature.ts';
import type { EventType, FlorinEvent } from './wire.gen.ts';

/** What tests of a shop need: example events, their signatures, and a local world in which payments happen. */

export type * from './wire.gen.ts';
export type { ActRequest, PayOptions, StartOptions, TestWorld, WorldManifest } from './world.ts';
export { openWorld, startWorld } from './world.ts';

/** An event of one type. */
export type EventOf<Type extends EventType> = Extract<FlorinEvent, { readonly type: Type }>;

/** The object that an event of one type is about: a session, a product, … */
type SubjectOf<Type extends EventType> = EventOf<Type>['data'][keyof EventOf<Type>['data']];

let madeEvents = 0;

/**
 * An event as the service sends it, with the members of its object that a test needs. Each has another id.
 *
 * @example fixture('session.paid', { metadata: { order: 'A-1042' }, amount: usd('4.50') })
 */
export function fixture<Type extends EventType>(
  type: Type,
  changes: Partial<SubjectOf<Type>> = {},
): EventOf<Type> {
  if (!Object.hasOwn(fixtureData, type)) throw wrongArgument('type', `there is no event ${type}`);
  const data: Record<string, object | string> = structuredClone(fixtureData[type]);
  // `session.exception` has two: its exception is meant.
  const [subject = ''] = Object.keys(data);
  const value = data[subject];
  data[subject] = typeof value === 'object' ? { ...value, ...changes } : (value ?? '');
  madeEvents += 1;
  const event = {
    id: `evt_Fixture${String(madeEvents).padStart(15, '0')}`,
    type,
    apiVersion: 'v1',
    timestamp: new Date().toISOString(),
    sequence: 1,
    data,
  };
  // The generated data has the members of its type; a test compares each with the schema.
  return event as unknown as EventOf<Type>;
}

/**
 * The body and the headers with which the service would send an event.
 *
 * @example
 * const { body, headers } = await sign(fixture('session.paid'), secret);
 * await fetch('http://localhost:3000/webhooks/florin', { method: 'POST', body, headers });
 */
export async function sign(
  event: FlorinEvent,
  secret: WebhookSecret | undefined,
  { sentAt = new Date() }: { readonly sentAt?: Date } = {},
): Promise<{ readonly body: string; readonly headers: Record<string, string> }> {
  const body = JSON.stringify(event);
  const timestampSeconds = Math.floor(sentAt.getTime() / 1_000);
  return { body, headers: await signedHeaders({ id: event.id, timestampSeconds, body, secret }) };
}
