import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { bodyLimitBytes } from '#http/failure.ts';
import { deepOnly, isDeepRun } from '../harness/deep-only.ts';
import { operations, pathOf } from './operation.ts';
import { sampleBodies } from './sample-body.ts';
import { type Exchange, Target } from './target.ts';

let target: Target;
before(async () => {
  target = await Target.open();
});
after(() => target.close());

const json = { 'content-type': 'application/json' };
const posts = operations.filter(({ route }) => route.method === 'POST');

/** Of hostile texts, `npm test` takes every third for each operation, other ones for each, so that each text reaches many. */
const textsFor = (texts: readonly string[], operationIndex: number): readonly string[] =>
  isDeepRun ? texts : texts.filter((_, index) => (operationIndex + index) % 3 === 0);

async function judged(path: string, payload?: string | Uint8Array): Promise<Exchange & { code: number }> {
  const method = payload === undefined ? 'GET' : 'POST';
  const exchange = await target.send({ method, path, headers: payload === undefined ? {} : json, payload });
  assert.deepEqual(target.judge(exchange), [], `${method} ${path} -> ${exchange.text.slice(0, 500)}`);
  return { ...exchange, code: (JSON.parse(exchange.text) as { code: number }).code };
}

async function codeOf(path: string, payload?: string | Uint8Array): Promise<[number, number]> {
  const { status, code } = await judged(path, payload);
  return [status, code];
}

/** A valid session whose metadata is this text. */
function sessionWith(metadata: string): string {
  const { metadata: _, ...rest } = sampleBodies['createCheckoutSession'] ?? {};
  return `${JSON.stringify(rest).slice(0, -1)},"metadata":${metadata}}`;
}

test('on every route a body of 256 KiB is read, and one byte more is 413', async () => {
  for (const { route } of posts) {
    const padded = (bytes: number) => `{}${' '.repeat(bytes - 2)}`;
    assert.notEqual((await codeOf(route.path, padded(bodyLimitBytes)))[0], 413);
    assert.deepEqual(await codeOf(route.path, padded(bodyLimitBytes + 1)), [413, 400110]);
    assert.deepEqual(await codeOf(route.path, padded(20 * bodyLimitBytes)), [413, 400110]);
  }
});

test('on every route sixteen levels are read, and more are refused at once', async () => {
  for (const { route } of posts) {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    assert.deepEqual(await codeOf(route.path, nested(16)), [200, 400101]);
    for (const body of [nested(17), nested(20_000), '['.repeat(bodyLimitBytes)]) {
      assert.deepEqual(await codeOf(route.path, body), [400, 400100]);
    }
  }
});

/** Processor time of this process so far, which is independent of the load of the machine. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

test(
  'a million keys are refused, and as many as fit are read without blocking the service',
  deepOnly,
  async (t) => {
    const keys = (count: number) =>
      `{${Array.from({ length: count }, (_, index) => `"${index.toString(36)}":0`).join()}}`;
    const million = keys(1_000_000);
    const fitting = keys(30_000);
    assert.ok(fitting.length < bodyLimitBytes);
    const begin = cpuMs();
    for (const { route } of posts) {
      assert.deepEqual(await codeOf(route.path, million), [413, 400110]);
      assert.deepEqual(await codeOf(route.path, fitting), [200, 400101]);
    }
    assert.deepEqual(await codeOf('/session/checkout/create', sessionWith(fitting)), [200, 400101]);
    const perRequestMs = (cpuMs() - begin) / (2 * posts.length);
    // The unit is this machine's own time for parsing the million.
    const parsing = cpuMs();
    JSON.parse(million);
    const unitMs = cpuMs() - parsing;
    t.diagnostic(`${perRequestMs.toFixed(0)} ms for each, ${unitMs.toFixed(0)} ms to parse a million keys`);
    assert.ok(
      perRequestMs < 2 * unitMs,
      `${perRequestMs} ms for each, and ${unitMs} ms to parse a million keys`,
    );
  },
);

/** Keys that would change a prototype instead of adding data. */
/** Outside of metadata, an object must not have a name twice. */
const repeatedName = '{"__proto__":{"__proto__":{"polluted":1}},"__proto__":{"polluted":2}}';
const pollution = [
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"a":{"__proto__":{"polluted":1},"b":[{"__proto__":{"polluted":1}}]}}',
  '{"\\u005f_proto__":{"polluted":1}}',
  '{"__proto__":null,"toString":"x","hasOwnProperty":1,"valueOf":{},"toJSON":"y","then":1}',
  repeatedName,
  '{"prototype":{"polluted":1},"__defineGetter__":1,"__lookupSetter__":2}',
];

function assertUnpolluted(): void {
  assert.equal(Reflect.get({}, 'polluted'), undefined);
  assert.equal(Reflect.get([], 'polluted'), undefined);
  assert.equal(
    Reflect.get(() => undefined, 'polluted'),
    undefined,
  );
}

test('keys such as __proto__ are data: metadata is returned byte for byte, and no prototype changes', async () => {
  for (const metadata of pollution) {
    const created = await judged('/session/checkout/create', sessionWith(metadata));
    assert.equal(created.code, 0, created.text);
    assert.ok(created.text.includes(`"metadata":${metadata}`));
    const { sessionId } = (JSON.parse(created.text) as { data: { sessionId: string } }).data;
    assert.ok((await judged(`/session/${sessionId}`)).text.includes(`"metadata":${metadata}`));
    assert.ok((await judged('/session/list/all/1/1')).text.includes(`"metadata":${metadata}`));
    assert.ok((await judged('/event/list/1/1?type=session.created')).text.includes(`"metadata":${metadata}`));
  }
  assertUnpolluted();
});

test('keys such as __proto__ are unknown fields everywhere else, nested or not', async () => {
  for (const [operationIndex, { id, route }] of posts.entries()) {
    for (const text of textsFor(pollution, operationIndex)) {
      const members = text.slice(1, -1);
      const refused = text === repeatedName ? 400100 : 400101;
      const body = JSON.stringify(sampleBodies[id]);
      // In the body itself, and in each object within it.
      for (const at of [...body.matchAll(/\{(?=")/g)].map((match) => match.index + 1)) {
        if (body.slice(0, at).endsWith('"metadata":{')) continue;
        const changed = `${body.slice(0, at)}${members},${body.slice(at)}`;
        assert.equal((await codeOf(route.path, changed))[1], refused);
      }
    }
  }
  assertUnpolluted();
});

test('a page is a plain number within its bounds, and anything else is refused', async () => {
  const lists = operations.filter(({ route }) => route.params?.properties['page'] !== undefined);
  assert.ok(lists.length >= 12);
  const refused = [
    '0',
    '-1',
    '+1',
    '01',
    '1e3',
    '1.0',
    '1_000',
    '0x10',
    '１',
    '٣',
    '²',
    ' 1',
    '1 ',
    'NaN',
    'Infinity',
  ];
  for (const [operationIndex, { route }] of lists.entries()) {
    const path = (page: string, size: string) => pathOf(route, { webhookId: '@@webhook:2@@', page, size });
    const more = ['\0', '1\0', '1000000001', '99999999999999999999', '9'.repeat(400)];
    for (const text of textsFor([...refused, ...more], operationIndex)) {
      assert.deepEqual(await codeOf(path(text, '10')), [200, 400101], `page ${text}`);
      assert.deepEqual(await codeOf(path('1', text)), [200, 400101], `size ${text}`);
    }
    assert.deepEqual(await codeOf(path('1', '101')), [200, 400101]);
    const farthest = await judged(path('1000000000', '100'));
    assert.equal(farthest.code, 0);
    assert.ok(farthest.text.includes('"hasMore":false') && farthest.text.includes('[]'));
  }
});

test('a URL has two slashes, no credentials and no control characters', async () => {
  const refused = [
    'https:shop.example.com',
    'https:/shop.example.com',
    'https:\\\\shop.example.com',
    'https://sh\top.example.com/',
    'https://shop.example.com/\r\nSet-Cookie: a=b',
    'https://shop.example.com/\u0085',
    '\u0001https://shop.example.com/',
    ' https://shop.example.com/',
    'https://user@shop.example.com/',
    'https://user:pass@shop.example.com/',
    'http://shop.example.com/',
    '//shop.example.com/',
    '/checkout',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://',
    'https://x:99999/',
  ];
  const link = sampleBodies['createLink'] ?? {};
  const product = sampleBodies['createProduct'] ?? {};
  const session = sampleBodies['createCheckoutSession'] ?? {};
  for (const url of refused) {
    const bodies: [string, object][] = [
      ['/product/create', { ...product, imageUrl: url }],
      ['/payment/link/create', { ...link, successUrl: url }],
      ['/session/checkout/create', { ...session, successUrl: url }],
    ];
    for (const [path, body] of bodies) {
      assert.deepEqual(await codeOf(path, JSON.stringify(body)), [200, 400101], `${path} ${url}`);
    }
  }
  const taken = JSON.stringify({ ...session, successUrl: 'HTTPS://shop.example.com/?id={SESSION_ID}#日本' });
  assert.equal((await judged('/session/checkout/create', taken)).code, 0);
});

test('an Idempotency-Key on a read has no effect', async () => {
  for (const key of ['', 'x', 'k'.repeat(256), "'; --"]) {
    const headers = { 'idempotency-key': key };
    const exchange = await target.send({ method: 'GET', path: '/account/list', headers, payload: undefined });
    assert.deepEqual([target.judge(exchange), exchange.status, exchange.changes], [[], 200, []]);
    assert.equal((JSON.parse(exchange.text) as { code: number }).code, 0);
  }
});

/** Sends a head and then single bytes of the body until the server closes; returns the server's answer. */
function drip(port: number, head: string): Promise<string> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head);
      // Only after the head, which a busy machine may send late.
      timer = setInterval(() => socket.write(' '), 50);
    });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    // A reset answers the bytes that arrive after the close.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(timer);
      resolve(text);
    });
  });
}

test('slow bodies end at the time limit, and delay no other request', async () => {
  const { server } = target.world;
  const setLimits = (limitMs: number) =>
    Object.assign(server.server, { requestTimeout: limitMs, headersTimeout: limitMs });
  const { requestTimeout, headersTimeout } = server.server;
  assert.deepEqual([requestTimeout, headersTimeout], [10_000, 10_000]);
  setLimits(600_000);
  await server.listen({ host: '127.0.0.1', port: 0 });
  const port = Number(new URL(server.listeningOrigin).port);
  const lines = [
    `POST ${merchantApi.basePath}/product/create HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${target.own.key}`,
    'Content-Type: application/json',
  ];
  const withBody = `${lines.join('\r\n')}\r\nContent-Length: 100000\r\n\r\n{`;
  const withoutEnd = `${lines.join('\r\n')}\r\nX-Slow:`;
  let ended = 0;
  const slow = Array.from({ length: 40 }, async (_, index) => {
    const end = await drip(port, index % 2 === 0 ? withBody : withoutEnd);
    ended += 1;
    return end;
  });
  for (let request = 0; request < 20; request += 1) await judged('/account/list');
  assert.equal(ended, 0, 'others waited for the slow ones');
  // Set only now, so that a slow machine can answer the earlier requests. A second is enough to show that the limit
  // applies.
  setLimits(1_000);
  for (const text of await Promise.all(slow)) {
    assert.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    assert.equal((JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { code: number }).code, 400100);
  }
  assert.deepEqual(await target.journal.take(), []);
});
