import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { findFreePort } from '@florin/world';
import { makeCertificate, type TestCertificate } from '../../test/harness/certificate.ts';
import { type Receiver, startReceiver } from '../../test/harness/receiver.ts';
import { createEgress, type Egress, EgressFailure, type EgressOptions, type Lookup } from './egress.ts';

let certificate: TestCertificate;
let receiver: Receiver;
const opened: Egress[] = [];

before(async () => {
  certificate = makeCertificate({
    now: new Date(),
    hosts: ['localhost', '127.0.0.1', '::1', 'shop.example'],
  });
  receiver = await startReceiver({ certificate });
});
after(async () => {
  await Promise.all(opened.map((egress) => egress.close()));
  await receiver.close();
});

function open(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ addresses: { allowLoopback: true }, ca: certificate.ca, ...options });
  opened.push(egress);
  return egress;
}

async function outcome(egress: Egress, url: string, timeoutMs = 15_000): Promise<string | number> {
  try {
    return (await egress.post(url, { headers: {}, body: '{}', timeoutMs })).status;
  } catch (error) {
    if (error instanceof EgressFailure) return error.reason;
    throw error;
  }
}

test('a post arrives with its headers and exact body, and requests no compression', async () => {
  receiver.behave({ kind: 'answer', status: 202, body: 'thanks', retryAfter: '7' });
  const body = '{"text":"é€😀"}';
  const response = await open().post(receiver.url, { headers: { 'content-type': 'application/json' }, body });
  assert.deepEqual(
    { ...response, latencyMs: 0 },
    { status: 202, headers: { retryAfter: '7' }, bodyText: 'thanks', latencyMs: 0 },
  );
  const request = receiver.requests.at(-1);
  assert.equal(request?.body, body);
  assert.equal(request?.headers['content-type'], 'application/json');
  assert.equal(request?.headers['accept-encoding'], 'identity');
  assert.equal(request?.headers['content-length'], String(Buffer.byteLength(body)));
});

test('receivers that hang do not take connections from other receivers', async () => {
  const egress = open({ maxOrigins: 2 });
  const silent = await Promise.all(Array.from({ length: 5 }, () => startReceiver({ certificate })));
  for (const { url, behave } of silent) {
    behave({ kind: 'hang' });
    assert.equal(await outcome(egress, url, 100), 'timed out');
  }
  receiver.behave({ kind: 'answer', status: 204 });
  assert.equal(await outcome(egress, receiver.url), 204);
  await Promise.all(silent.map((one) => one.close()));
});

test('an exchange in flight completes while more origins are contacted than one agent serves', async () => {
  const egress = open({ maxOrigins: 1 });
  const [slow, other] = [await startReceiver({ certificate }), await startReceiver({ certificate })];
  slow.behave({ kind: 'slow', delayMs: 300, status: 201 });
  other.behave({ kind: 'answer', status: 202 });
  const waiting = outcome(egress, slow.url);
  await slow.waitFor(1);
  assert.deepEqual([await outcome(egress, other.url), await waiting], [202, 201]);
  await Promise.all([slow.close(), other.close()]);
});

test('connections are kept alive: five posts in a row need one or two', async () => {
  receiver.behave({ kind: 'answer', status: 204 });
  const egress = open();
  const before = receiver.connectionCount();
  for (let index = 0; index < 5; index += 1) await outcome(egress, receiver.url);
  assert.equal(receiver.connectionCount() - before <= 2, true);
});

test('redirects are answers, never followed', async () => {
  const egress = open();
  for (const status of [301, 302, 303, 307, 308]) {
    const count = receiver.requests.length;
    receiver.behave({ kind: 'redirect', location: receiver.url, status });
    assert.equal(await outcome(egress, receiver.url), status);
    assert.equal(receiver.requests.length, count + 1);
  }
});

test('a body is cut at 64 KiB and never decompressed', async () => {
  const egress = open();
  receiver.behave({ kind: 'endless body' });
  const endless = await egress.post(receiver.url, { headers: {}, body: '' });
  assert.deepEqual([endless.status, endless.bodyText], [200, 'x'.repeat(64 * 1024)]);
  receiver.behave({ kind: 'gzip bomb' });
  const bomb = await egress.post(receiver.url, { headers: {}, body: '' });
  assert.equal(bomb.status, 200);
  assert.equal(Buffer.from(bomb.bodyText.slice(0, 1)).toString('hex'), '1f');
  assert.equal(bomb.bodyText.length <= 64 * 1024, true);
});

test('a receiver that hangs, resets or sends invalid HTTP fails, and one that stalls after its status does not', async () => {
  const egress = open();
  receiver.behave({ kind: 'hang' });
  assert.equal(await outcome(egress, receiver.url, 200), 'timed out');
  receiver.behave({ kind: 'reset' });
  assert.equal(await outcome(egress, receiver.url), 'connection reset');
  receiver.behave({ kind: 'garbage' });
  assert.equal(await outcome(egress, receiver.url), 'malformed response');
  receiver.behave({ kind: 'dripping body' });
  assert.equal(await outcome(egress, receiver.url, 2_000), 200);
  receiver.behave({ kind: 'answer', status: 204 });
  assert.equal(await outcome(egress, receiver.url), 204);
});

test('certificates of another authority, for another name or out of time are refused', async () => {
  const stranger = open({ ca: makeCertificate({ now: new Date() }).ca });
  assert.equal(await outcome(stranger, receiver.url), 'tls failed');
  const wrongName = makeCertificate({ now: new Date(), hosts: ['other.example'] });
  const expired = makeCertificate({ now: new Date(Date.now() - 86_400_000 * 3), validDays: 1 });
  for (const bad of [wrongName, expired]) {
    const other = await startReceiver({ certificate: bad });
    assert.equal(await outcome(open({ ca: bad.ca }), other.url), 'tls failed');
    assert.equal(other.requests.length, 0);
    await other.close();
  }
});

test('a refused connection and a failed name lookup have different reasons', async () => {
  const closed = `https://127.0.0.1:${await findFreePort()}/`;
  assert.equal(await outcome(open(), closed), 'connection failed');
  const lookup: Lookup = (_hostname, _options, callback) =>
    callback(Object.assign(new Error('none'), { code: 'ENOTFOUND' }), []);
  assert.equal(await outcome(open({ lookup }), 'https://shop.example/'), 'name not resolved');
});

/** Answers each call with the next of the given addresses, and repeats the last one. */
function lookupOf(...answers: readonly (readonly string[])[]): Lookup & { calls: number } {
  const lookup: Lookup & { calls: number } = Object.assign(
    (_hostname: string, _options: unknown, callback: (error: null, addresses: LookupAddress[]) => void) => {
      const addresses = answers[Math.min(lookup.calls, answers.length - 1)] ?? [];
      lookup.calls += 1;
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    },
    { calls: 0 },
  );
  return lookup;
}

const literals = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '017700000001',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '192.168.1.1',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fd00::1]',
  '[fe80::1]',
  'localhost',
  'localhost.',
  'metadata.google.internal',
  'printer.local',
];

// proves W6.16
test('no spelling of a private target is ever connected to', async () => {
  receiver.behave({ kind: 'answer', status: 204 });
  const before = receiver.connectionCount();
  const egress = open({ addresses: { allowLoopback: false }, lookup: lookupOf(['127.0.0.1']) });
  const outcomes = await Promise.all(
    literals.map((host) => outcome(egress, `https://${host}:${receiver.port}/hook`)),
  );
  assert.deepEqual(
    literals.filter((_, index) => outcomes[index] !== 'address not allowed'),
    [],
  );
  assert.equal(receiver.connectionCount(), before);
});

test('names that resolve to private addresses are never connected to, not even with a public address', async () => {
  const answers = [
    ['127.0.0.1'],
    ['::1'],
    ['10.1.2.3'],
    ['169.254.169.254'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['fe80::1%eth0'],
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    [],
  ];
  const before = receiver.connectionCount();
  for (const allowLoopback of [false, true]) {
    for (const answer of answers) {
      const egress = open({ addresses: { allowLoopback }, lookup: lookupOf(answer) });
      assert.equal(await outcome(egress, `https://shop.example:${receiver.port}/`), 'address not allowed');
    }
  }
  assert.equal(receiver.connectionCount(), before);
});

// proves W6.16
test('a name that turns private after its first answer is refused at the next connection', async () => {
  for (const second of ['10.0.0.1', '::ffff:127.0.0.1', '169.254.169.254', 'fd00::1']) {
    // Only localhost may be loopback, so it replaces the public name here: no test may reach the internet.
    const lookup = lookupOf(['127.0.0.1'], [second]);
    const egress = open({ lookup });
    const url = `https://localhost:${receiver.port}/`;
    receiver.behave({ kind: 'reset' });
    assert.equal(await outcome(egress, url), 'connection reset');
    const before = receiver.connectionCount();
    assert.equal(await outcome(egress, url), 'address not allowed');
    assert.deepEqual([lookup.calls, receiver.connectionCount()], [2, before]);
  }
});

test('plain http reaches only loopback, where the policy allows it', async () => {
  const plain = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const { port } = plain.address() as AddressInfo;
  const local = open({ addresses: { allowLoopback: true, allowPlainLoopback: true } });
  assert.equal(await outcome(local, `http://127.0.0.1:${port}/`), 204);
  assert.equal(await outcome(local, `http://localhost:${port}/`), 204);
  assert.equal(await outcome(local, 'http://shop.example/'), 'address not allowed');
  assert.equal(await outcome(local, 'http://192.0.2.1/'), 'address not allowed');
  await new Promise((resolve) => {
    plain.close(resolve);
    plain.closeAllConnections();
  });
});

test('plain http and texts that are not URLs are refused', async () => {
  assert.equal(await outcome(open(), `http://127.0.0.1:${receiver.port}/`), 'address not allowed');
  assert.equal(await outcome(open(), 'nonsense'), 'address not allowed');
});
