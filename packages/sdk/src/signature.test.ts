import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { signWebhook } from '@florin/outbox';
import { eventTypes } from '@florin/protocol/event.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { FlorinError, microUsd, unwrap } from './florin.ts';
import { fixture, sign } from './testing.ts';

const [key, other] = [randomBytes(32), randomBytes(32)];
const [secret, otherSecret] = [key, other].map((bytes) => `whsec_${bytes.toString('base64')}`) as [
  string,
  string,
];
const event = fixture('session.paid', { metadata: { order: 'A-1042' } });
const body = JSON.stringify(event);
const timestampSeconds = 1_767_323_060;
const now = () => timestampSeconds * 1_000;

/** As the service signs. */
function headersOf(keys: readonly Uint8Array[], text = body): Record<string, string> {
  return { ...signWebhook({ eventId: event.id, timestampSeconds, body: text, keys }) };
}

async function slugOf(unwrapping: Promise<unknown>): Promise<string> {
  const error = await unwrapping.then(
    () => assert.fail('it did not throw'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FlorinError, String(error));
  return error.slug;
}

test('the event of a notification is what the service signed, as text, bytes or a buffer, and with any kind of headers', async () => {
  const headers = headersOf([key]);
  const shouted = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
  );
  const bytes = new TextEncoder().encode(body);
  for (const [raw, own] of [
    [body, headers],
    [bytes, new Headers(headers)],
    [bytes.buffer, shouted],
    [Buffer.from(body), headers],
  ] as const)
    assert.deepEqual(await unwrap(raw, own, secret, { now }), event);
});

test('while a key is being replaced, either secret verifies, and any of several signatures is enough', async () => {
  assert.deepEqual(await unwrap(body, headersOf([key]), [otherSecret, secret], { now }), event);
  assert.deepEqual(await unwrap(body, headersOf([other, key]), secret, { now }), event);
  assert.equal(await slugOf(unwrap(body, headersOf([other]), secret, { now })), 'webhook_signature_wrong');
});

test('another body, id or time, and a signature that is cut or of another version, are refused', async () => {
  const headers = headersOf([key]);
  const signature = headers['webhook-signature'] ?? '';
  for (const [text, own] of [
    [`${body} `, headers],
    [body, { ...headers, 'webhook-id': 'evt_2' }],
    [body, { ...headers, 'webhook-timestamp': String(timestampSeconds + 1) }],
    [body, { ...headers, 'webhook-signature': signature.slice(0, -2) }],
    [body, { ...headers, 'webhook-signature': signature.replace('v1,', 'v2,') }],
    [body, { ...headers, 'webhook-signature': 'v1,' }],
    [body, { ...headers, 'webhook-signature': `${'v1,AA== '.repeat(10)}${signature}` }],
  ] as const)
    assert.equal(await slugOf(unwrap(text, own, secret, { now })), 'webhook_signature_wrong');
});

test('a notification without one of the headers is refused', async () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const { [name]: _, ...others } = headersOf([key]);
    assert.equal(await slugOf(unwrap(body, others, secret, { now })), 'webhook_unsigned');
  }
});

test('a notification that is older or newer than the tolerance is refused', async () => {
  const at = (seconds: number, toleranceSeconds?: number) =>
    unwrap(body, headersOf([key]), secret, { now: () => now() + seconds * 1_000, toleranceSeconds });
  assert.equal((await at(300)).id, event.id);
  assert.equal((await at(-300)).id, event.id);
  assert.equal(await slugOf(at(301)), 'webhook_too_old');
  assert.equal(await slugOf(at(-301)), 'webhook_too_old');
  await assert.rejects(at(301), { message: 'signed 301 seconds ago: the clocks differ, or it is a replay' });
  await assert.rejects(at(-301), { message: 'signed 301 seconds in the future: the clocks differ' });
  assert.equal((await at(3_000, 3_000)).id, event.id);
});

test('a tolerance that is no number of seconds refuses every notification, and so does a broken clock', async () => {
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, -1, '5m', '300', null]) {
    const toleranceSeconds = wrong as number;
    const unwrapping = unwrap(body, headersOf([key]), secret, { now, toleranceSeconds });
    await assert.rejects(unwrapping, { slug: 'argument_invalid', param: 'toleranceSeconds' }, String(wrong));
  }
  const misspelt = unwrap(body, headersOf([key]), secret, Object({ now, tolerance: 3 }));
  await assert.rejects(misspelt, { slug: 'argument_invalid', param: 'tolerance' });
  const bare = unwrap(body, headersOf([key]), secret, JSON.parse('300'));
  await assert.rejects(bare, { slug: 'argument_invalid', param: 'options' });
  const unwrapping = unwrap(body, headersOf([key]), secret, { now: () => Number.NaN });
  assert.equal(await slugOf(unwrapping), 'webhook_too_old');
});

test('what is signed and no event is refused', async () => {
  for (const text of ['', '[]', 'null', '{"id":"evt_1"}', JSON.stringify({ ...event, id: 'evt_2' })])
    assert.equal(await slugOf(unwrap(text, headersOf([key], text), secret, { now })), 'webhook_malformed');
});

test('a missing or masked secret, and a parsed body, are faults of the receiver', async () => {
  const unset = undefined as unknown as string;
  for (const wrong of [undefined, '', [], [unset], 'whsec_', 'whsec_****abcd', secret.slice('whsec_'.length)])
    assert.equal(await slugOf(unwrap(body, headersOf([key]), wrong, { now })), 'argument_invalid');
  for (const [raw, headers] of [
    [event, headersOf([key])],
    [body, undefined],
  ] as const)
    assert.equal(
      await slugOf(unwrap(raw as string, headers as Record<string, string>, secret, { now })),
      'argument_invalid',
    );
  assert.equal(await slugOf(sign(event, unset)), 'argument_invalid');
  assert.throws(() => fixture('session.pay' as 'session.paid'), { name: 'FlorinError', param: 'type' });
});

test('sign() signs as the service does, with one secret or several', async () => {
  const sentAt = new Date(now());
  const signed = await sign(event, [secret, otherSecret], { sentAt });
  assert.equal(signed.body, body);
  assert.deepEqual(signed.headers, { 'content-type': 'application/json', ...headersOf([key, other]) });
  const { body: text, headers } = await sign(event, secret);
  assert.deepEqual(new StandardWebhook(secret).verify(text, headers), event);
});

test('every type of event has a fixture with the changes of the test, and each fixture another id', async () => {
  const ids = new Set(eventTypes.map((type) => fixture(type).id));
  assert.equal(ids.size, eventTypes.length);
  const { data } = fixture('session.completed', { amount: microUsd(5), metadata: { order: 'A-1' } });
  assert.deepEqual(
    [data.session.amount, data.session.status, data.session.metadata],
    [5, 'completed', { order: 'A-1' }],
  );
  assert.equal(fixture('product.created', { name: 'Tea' }).data.product.name, 'Tea');
  assert.equal(fixture('session.completed').data.session.amount, 24_500_000);
});
