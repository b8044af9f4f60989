import assert from 'node:assert/strict';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { createEgress, type Egress, EgressFailure } from '#outside/egress.ts';
import { makeCertificate, type TestCertificate } from '../../test/harness/certificate.ts';
import { addMerchant, addWebhook, selectAttempts } from '../../test/harness/webhook-fixture.ts';
import { fastSettings, openWebhookWorld, until } from '../../test/harness/webhook-world.ts';

const world = await openWebhookWorld();
const { db, openReceiver, withWorker, raise, deliveries, untilStatus } = world;
const certificate: TestCertificate = makeCertificate({ now: new Date() });
const servers: Server[] = [];
const sockets = new Set<Socket>();
let egress: Egress;

before(() => {
  egress = createEgress({ addresses: { allowLoopback: true }, ca: certificate.ca });
});
after(async () => {
  await egress.close();
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  await world.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A TLS server that answers each request's first bytes with what `behave` does. */
function rawServer(behave: (socket: TLSSocket) => void): Promise<number> {
  const server = createTlsServer({ cert: certificate.cert, key: certificate.key }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => behave(socket));
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return listening(server);
}

/** What comes of a post; the limit is short for those alone who never end. */
async function outcome(port: number, timeoutMs = 15_000): Promise<string | number> {
  try {
    const url = `https://127.0.0.1:${port}/`;
    return (await egress.post(url, { headers: {}, body: '{}', timeoutMs })).status;
  } catch (error) {
    if (error instanceof EgressFailure) return error.reason;
    throw error;
  }
}

test('headers that arrive slowly without end stop at the time-out', async () => {
  const port = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const drip = setInterval(() => socket.write('x: y\r\n'), 20);
    socket.on('close', () => clearInterval(drip));
  });
  assert.equal(await outcome(port, 400), 'timed out');
});

test('headers without end are refused', async () => {
  const port = await rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(100)}`);
  });
  assert.equal(await outcome(port), 'malformed response');
});

test('endless 1xx answers stop at the time-out, and a final status after a few of them counts', async () => {
  const flood = await rawServer((socket) => {
    const pour = () => {
      if (!socket.destroyed)
        socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50), () => setImmediate(pour));
    };
    pour();
  });
  assert.ok(
    ['timed out', 'malformed response', 'connection reset'].includes(String(await outcome(flood, 400))),
  );
  const polite = await rawServer((socket) => {
    socket.write(
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
    );
  });
  assert.equal(await outcome(polite), 204);
});

test('a receiver with only HTTP/2, or without TLS, fails with the reason', async () => {
  const h2 = createSecureServer({ cert: certificate.cert, key: certificate.key, allowHTTP1: false });
  h2.on('sessionError', () => undefined);
  const h2Port = await listening(h2 as unknown as Server);
  assert.ok(['malformed response', 'connection reset', 'tls failed'].includes(String(await outcome(h2Port))));
  const plain = createTcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  assert.equal(await outcome(await listening(plain)), 'tls failed');
});

test('a connection closed between two requests costs no attempt', async () => {
  const port = await rawServer((socket) => {
    // Says that it keeps the connection, and closes it.
    socket.end('HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n');
  });
  for (let index = 0; index < 10; index += 1) assert.equal(await outcome(port), 204);
});

// proves W6.13
test('redirects are failures and are not followed', async () => {
  const [receiver, elsewhere] = [await openReceiver(), await openReceiver()];
  receiver.behave({ kind: 'redirect', location: elsewhere.url, status: 308 });
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  await withWorker(async () => {
    await raise(merchantId, merchantId);
    await untilStatus(merchantId, 'failed');
  });
  assert.equal(elsewhere.requests.length, 0);
  const [attempt] = await db.query(selectAttempts, { merchantId });
  assert.deepEqual([attempt?.http_status, attempt?.error], [308, 'status 308: redirects are not followed']);
});

// proves W6.25
test('every failed attempt is logged and tried again, and delays no other receiver', async () => {
  const [bad, good] = [await openReceiver(), await openReceiver()];
  const kinds = [
    { kind: 'answer', status: 500 },
    { kind: 'redirect', location: good.url },
    { kind: 'reset' },
    { kind: 'garbage' },
    { kind: 'hang' },
    { kind: 'answer', status: 204 },
  ] as const;
  let count = 0;
  bad.behave(() => {
    count += 1;
    return kinds[Math.min(count, kinds.length) - 1] ?? kinds[0];
  });
  const [badId, goodId] = [await addMerchant(db), await addMerchant(db)];
  await addWebhook(db, badId, { webhookUrl: bad.url });
  await addWebhook(db, goodId, { webhookUrl: good.url });
  await withWorker(
    async () => {
      await raise(badId, badId);
      await raise(goodId, goodId);
      await until(
        async () =>
          [...(await deliveries(badId)), ...(await deliveries(goodId))].every(
            (row) => row.status === 'succeeded',
          ),
        'both are delivered',
      );
    },
    { settings: { ...fastSettings, attemptTimeoutMs: 5_000 } },
  );
  const attempts = await db.query(selectAttempts, { merchantId: badId });
  assert.deepEqual(
    attempts.map((row) => [row.http_status, row.error]),
    [
      [500, 'status 500'],
      [307, 'status 307: redirects are not followed'],
      [null, 'connection reset'],
      [null, 'malformed response'],
      [null, 'timed out'],
      [204, ''],
    ],
  );
  assert.equal(good.requests.length, 1);
});
