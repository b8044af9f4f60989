import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import express from 'express';
import fastify from 'fastify';
import { fixture, sign } from './testing.ts';
import {
  expressWebhook,
  fastifyWebhook,
  honoWebhook,
  type OnEvent,
  type ReceiverOptions,
  webhookHandler,
} from './webhooks.ts';
import type { FlorinEvent } from './wire.gen.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const path = '/webhooks/florin';

/** A server that receives at the path, and answers other paths with the body that its application parsed. */
interface Receiver {
  readonly origin: string;
  close(): Promise<unknown>;
}
type OpenReceiver = (options: ReceiverOptions, onEvent: OnEvent) => Promise<Receiver>;

async function listening(server: Server): Promise<Receiver> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
    return once(server, 'close');
  };
  return { origin, close };
}

function expressApp(...early: readonly express.RequestHandler[]): OpenReceiver {
  return (options, onEvent) => {
    const app = express();
    for (const handler of early) app.use(handler);
    app.post(path, expressWebhook(options, onEvent));
    app.use(express.json());
    app.post('/other', (request, response) => response.json(request.body));
    const fail: express.ErrorRequestHandler = (error: Error, _request, response, _next) =>
      response.status(500).end(error.message);
    app.use(fail);
    return listening(createServer(app));
  };
}

const openers: Readonly<Record<string, OpenReceiver>> = {
  Express: expressApp(),
  'Express behind express.raw': expressApp(express.raw({ type: 'application/json' })),
  async Fastify(options, onEvent) {
    const app = fastify();
    app.register(fastifyWebhook(path, options, onEvent));
    app.post('/other', async (request) => request.body);
    return { origin: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() };
  },
  'web requests': async (options, onEvent) => {
    const handle = webhookHandler(options, onEvent);
    const server = createServer(async (incoming, outgoing) => {
      const body = await buffer(incoming);
      const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const request = new Request('http://shop.test/', { method: 'POST', body, headers });
      const { status, body: text } = await handle(request).catch(
        () => new Response('failed', { status: 500 }),
      );
      outgoing.writeHead(status).end(text === null ? '' : await new Response(text).text());
    });
    return listening(server);
  },
};

const post = (origin: string, init: { body: string; headers: Record<string, string> }) =>
  fetch(`${origin}${path}`, { method: 'POST', ...init });

for (const [name, open] of Object.entries(openers)) {
  test(`${name}: an event is handed on and answered with 204, and a wrong signature with 400`, async () => {
    const events: FlorinEvent[] = [];
    const receiver = await open({ secret: async () => secret }, (event) => events.push(event));
    try {
      const event = fixture('session.paid', { metadata: { order: 'Ä-1042' } });
      const signed = await sign(event, secret);
      assert.equal((await post(receiver.origin, signed)).status, 204);
      const forged = await post(receiver.origin, { ...signed, body: signed.body.replace('1042', '1043') });
      assert.deepEqual([forged.status, await forged.text()], [400, 'webhook_signature_wrong\n']);
      assert.deepEqual(events, [event]);
    } finally {
      await receiver.close();
    }
  });

  test(`${name}: an event whose handling fails is answered with 500, so that it comes again`, async () => {
    const receiver = await open({ secret }, () => Promise.reject(new Error('database down')));
    try {
      const signed = await sign(fixture('session.paid'), secret);
      assert.equal((await post(receiver.origin, signed)).status, 500);
    } finally {
      await receiver.close();
    }
  });
}

test('an example of the service is answered and left out, unless the receiver wants it', async () => {
  const example = { ...fixture('session.paid'), fixture: true as const };
  for (const [takesFixtures, count] of [
    [undefined, 0],
    [true, 1],
  ] as const) {
    const events: FlorinEvent[] = [];
    const handle = webhookHandler({ secret, takesFixtures }, (event) => events.push(event));
    const { body, headers } = await sign(example, secret);
    const { status } = await handle(new Request('http://shop.test/', { method: 'POST', body, headers }));
    assert.deepEqual([status, events.length], [204, count]);
  }
});

test('a secret that is missing or malformed, a missing function and unknown options are refused when the receiver is made', () => {
  const makers: readonly ((options: ReceiverOptions, onEvent: OnEvent) => unknown)[] = [
    expressWebhook,
    honoWebhook,
    webhookHandler,
    (options, onEvent) => fastifyWebhook(path, options, onEvent),
  ];
  const absent = JSON.parse('null') as string;
  const wrong = [
    '',
    absent,
    undefined,
    [],
    'secret',
    'whsec_',
    'whsec_é',
    'whsec_abcd',
    [secret, ''],
    [secret, absent],
  ];
  for (const make of makers) {
    for (const each of wrong)
      assert.throws(
        () => make({ secret: each }, () => {}),
        { slug: 'argument_invalid', param: 'secret' },
        JSON.stringify(each),
      );
    const nothing = undefined as unknown as OnEvent;
    assert.throws(() => make({ secret }, nothing), { slug: 'argument_invalid', param: 'onEvent' });
    for (const [param, options] of Object.entries({
      tolerance: { tolerance: 3 },
      takesFixture: { takesFixture: true },
      toleranceSeconds: { toleranceSeconds: '3' },
    }))
      assert.throws(() => make(Object({ secret, ...options }), () => {}), {
        slug: 'argument_invalid',
        param,
      });
  }
});

test('a secret that a function does not find is the receiver’s fault: 500, and the sender tries again', async () => {
  const receiver = await expressApp()({ secret: () => undefined }, () => assert.fail());
  try {
    const answer = await post(receiver.origin, await sign(fixture('session.paid'), secret));
    assert.deepEqual([answer.status, await answer.text()], [500, 'the secret of the webhook is missing']);
  } finally {
    await receiver.close();
  }
});

test('Express: a body that express.json() has taken away is said to be, and other routes keep their bodies', async () => {
  const early = await expressApp(express.json())({ secret }, () => assert.fail());
  const late = await expressApp()({ secret }, () => {});
  try {
    const answer = await post(early.origin, await sign(fixture('session.paid'), secret));
    assert.equal(answer.status, 500);
    assert.match(await answer.text(), /mount the webhook before express\.json\(\)/);
    const headers = { 'content-type': 'application/json' };
    const other = await fetch(`${late.origin}/other`, { method: 'POST', body: '{"a":1}', headers });
    assert.deepEqual(await other.json(), { a: 1 });
  } finally {
    await Promise.all([early.close(), late.close()]);
  }
});

test('Fastify: other routes of the application keep their parsed bodies', async () => {
  const receiver = await openers['Fastify']?.({ secret }, () => {});
  assert.ok(receiver !== undefined);
  try {
    const headers = { 'content-type': 'application/json' };
    const other = await fetch(`${receiver.origin}/other`, { method: 'POST', body: '{"a":1}', headers });
    assert.deepEqual(await other.json(), { a: 1 });
  } finally {
    await receiver.close();
  }
});

test('a sender that goes away in the middle, and one that sends too much, do not end a server of node:http', async () => {
  const handle = expressWebhook({ secret }, () => assert.fail());
  const receiver = await listening(createServer((request, answer) => void handle(request, answer)));
  try {
    const { port } = new URL(receiver.origin);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST ${path} HTTP/1.1\r\nhost: shop\r\ncontent-length: 100\r\n\r\nhalf`);
    await once(socket, 'connect');
    socket.resetAndDestroy();
    const headers = (await sign(fixture('session.paid'), secret)).headers;
    const answer = await post(receiver.origin, { body: 'x'.repeat(1024 * 1024 + 1), headers });
    assert.deepEqual([answer.status, await answer.text()], [400, 'webhook_malformed\n']);
    assert.equal(
      (await post(receiver.origin, await sign(fixture('session.paid'), `whsec_${'A'.repeat(32)}`))).status,
      400,
    );
  } finally {
    await receiver.close();
  }
});
