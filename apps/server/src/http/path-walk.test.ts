import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { errorCatalogue, Refusal } from '@florin/protocol/error.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route, RouteTable } from '@florin/protocol/route.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { AgentWorld } from '../../test/harness/agent-fixture.ts';
import { checkoutOptionsOf } from '../../test/harness/checkout-fixture.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { agentDoor } from './agent/agent.ts';
import { checkoutDoor } from './checkout/checkout-door.ts';
import { discoveryDoor } from './discovery.ts';
import { docsDoor } from './docs/docs-door.ts';
import { imagesDoor } from './images/images-door.ts';
import { mcpDoor } from './mcp/mcp-door.ts';
import { merchantDoor } from './merchant/merchant-door.ts';
import { openApiDoor } from './openapi.ts';
import { idErrors } from './route-handler.ts';
import { buildServer } from './server.ts';
import { statusDoor } from './status/status-door.ts';

let world: MerchantWorld;
let agents: AgentWorld;
let server: FastifyInstance;
let key: string;

before(async () => {
  world = await MerchantWorld.open();
  agents = await AgentWorld.open();
  key = await world.addKey(await world.addMerchant());
  const { origin, chains, clock } = world.deps;
  const tables = [merchantApi, agentApi];
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [
      merchantDoor(world.deps),
      agentDoor({ db: agents.db, deps: agents.deps, basePaths: ['/aipay/api/v1', '/api/v1'] }),
      checkoutDoor(checkoutOptionsOf(world)),
      imagesDoor({ store: { read: async () => undefined }, log: silentLog }),
      statusDoor({ readStatus: async () => ({ isBalanced: true, chains: [] }) }),
      openApiDoor({ origin, tables }),
      discoveryDoor({ origin, serviceDomain: 'pay.example.com', chains, hasX402: false }),
      mcpDoor({ ...world.deps, origin, clock, limits: undefined }),
      docsDoor({ origin, chains }),
    ],
  });
});
after(async () => {
  await server.close();
  await agents.close();
  await world.close();
});

interface Walked {
  readonly name: string;
  readonly table: RouteTable;
  readonly route: Route;
}

/** Every route of every table that this server has. */
const walked: readonly Walked[] = [merchantApi, agentApi, checkoutApi].flatMap((table: RouteTable) =>
  Object.entries(table.routes).map(([name, route]) => ({ name, table, route })),
);
const namesIn = (path: string) => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
const idIn = (path: string) => namesIn(path).find((name) => name in idErrors);
const withId = walked.filter(({ route }) => idIn(route.path) !== undefined);
const needsKey = ({ table, route }: Walked) => table.security === 'api_key' && route.permissions.length > 0;

/** The route's URL with this raw text in place of its ids. */
function addressOf({ table, route }: Walked, id: string): string {
  return table.basePath + route.path.replaceAll(/:(\w+)/g, (_, name) => (name in idErrors ? id : '1'));
}

async function ask(
  { route }: Walked,
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; code: number; type: unknown; param: string }> {
  const body = route.method === 'POST' ? { payload: {}, headers: { ...headers } } : { headers };
  const reply = await server.inject({ method: route.method, url, ...body } as InjectOptions);
  const { code, error } = reply.json();
  return { status: reply.statusCode, code, type: reply.headers['content-type'], param: error?.param };
}

const json = 'application/json; charset=utf-8';
/** Raw URL texts that cannot be ids. */
const impossible: readonly [what: string, id: string][] = [
  ['a wrong form', 'no-such-id'],
  ['501 characters', 'x'.repeat(501)],
  ['8,000 characters', 'x'.repeat(8_000)],
  ['a percent sign without digits', 'sess_%zz'],
  ['half a character', '%E2%82'],
  ['NUL', 'sess_%00'],
  ['a slash', 'a%2Fb'],
  ['white space and line ends', '%20%0D%0Ax'],
  ['a letter outside of the alphabet', '%F0%9F%98%80'],
];

test('each id of a path has a not-found code, which its route documents', () => {
  assert.ok(withId.length >= 10);
  for (const { route } of [...withId, ...Object.values<Route>(x402Api.routes).map((route) => ({ route }))]) {
    const names = namesIn(route.path).filter((name) => name.endsWith('Id'));
    assert.ok(names.length > 0);
    for (const name of names) {
      const slug = idErrors[name];
      assert.ok(slug !== undefined && route.errors.includes(slug), `${route.path} has no code for ${name}`);
    }
  }
});

for (const [what, id] of impossible) {
  test(`${what} in place of an id: 401 without a key, and not found with one`, async () => {
    for (const entry of withId) {
      const slug = idErrors[idIn(entry.route.path) ?? ''] ?? 'internal';
      const url = addressOf(entry, id);
      if (needsKey(entry)) {
        for (const headers of [{}, { authorization: 'Bearer sk_live_wrong' }] as Record<string, string>[]) {
          const refused = await ask(entry, url, headers);
          assert.deepEqual([refused.status, refused.type], [401, json], entry.name);
        }
      }
      // The page's API asks for its secret before it looks up a receipt, but gives the same answer for a missing one.
      const found = await ask(entry, url, { authorization: `Bearer ${key}` });
      assert.deepEqual(
        [found.status, found.code, found.type],
        [200, errorCatalogue[slug].code, json],
        `${entry.name} ${url.slice(0, 100)}`,
      );
    }
  });
}

test('every route with a key is 401 without it, for every path', async () => {
  for (const entry of walked.filter(needsKey)) {
    for (const suffix of ['', '?unknown=1', '?%zz=%zz']) {
      const refused = await ask(entry, addressOf(entry, 'x') + suffix, { accept: 'text/html' });
      assert.deepEqual([refused.status, refused.type], [401, json], entry.name);
    }
  }
});

test('every route refuses an unknown query parameter, by its name', async () => {
  for (const entry of walked) {
    const { status, code, param } = await ask(entry, `${addressOf(entry, 'x')}?unknown=1`, {
      authorization: `Bearer ${key}`,
    });
    assert.deepEqual([status, code, param], [200, 400101, 'unknown'], entry.name);
  }
  for (const url of [
    '/openapi.json',
    '/.well-known/ai-pay.json',
    '/health/live',
    '/health/ready',
    '/status/metrics',
    '/checkout/assets/x.js',
    '/checkout/api/session/x/events',
    '/images/x.webp',
  ]) {
    const reply = await server.inject({ url: `${url}?__proto__=1` });
    assert.deepEqual(
      [reply.statusCode, reply.json().code, reply.json().error.param],
      [200, 400101, '__proto__'],
      url,
    );
  }
});

test('a parameter that the stream of a session has twice is refused by its name', async () => {
  for (const name of ['lang', 'zone', 'order']) {
    const url = `/checkout/api/session/x/events?${name}=a&${name}=b`;
    const { code, error } = (await server.inject({ url })).json();
    assert.deepEqual([code, error.param], [400101, name]);
  }
});

test('a known query parameter is accepted, and its value checked', async () => {
  const authorization = `Bearer ${key}`;
  const send = async (query: string) =>
    (await server.inject({ url: `/payment/v1/event/list/1/10?${query}`, headers: { authorization } })).json();
  assert.equal((await send('type=session.*')).code, 0);
  assert.deepEqual(
    [await send('type=nonsense'), await send('type=a&type=b'), await send('Type=session.*')].map(
      ({ code }) => code !== 0,
    ),
    [true, true, true],
  );
});

test('pages for people accept any query', async () => {
  for (const url of ['/', '/status', '/link/x', '/checkout/x', '/checkout/x/claim']) {
    const reply = await server.inject({ url: `${url}?utm_source=letter`, headers: { accept: 'text/html' } });
    assert.match(String(reply.headers['content-type']), /^text\/html/, url);
    assert.ok([200, 404].includes(reply.statusCode), url);
  }
});

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('a browser gets a home page that links the sign-in, the documentation and the status', async () => {
  const reply = await server.inject({ url: '/', headers: browser });
  assert.deepEqual([reply.statusCode, reply.headers['content-type']], [200, 'text/html; charset=utf-8']);
  for (const path of [...reply.body.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path)) {
    // The pages of the dashboard and of the documentation are not built here.
    if (/^\/(?:dashboard|docs|llms)/.test(path)) continue;
    assert.equal((await server.inject({ url: path })).statusCode, 200, path);
  }
  for (const path of ['/dashboard', '/docs', '/status'])
    assert.ok(reply.body.includes(`href="${path}"`), path);
  const program = await server.inject({ url: '/' });
  assert.deepEqual([program.statusCode, program.json().code], [404, 404000]);
});

test('in the local world a terminal is told where the console, the dashboard and the API are', async () => {
  const local = await buildServer({
    ...{ log: silentLog, random: systemRandom, origin: 'http://localhost:4000', doors: [] },
    ...{ consoleUrl: 'http://localhost:4001/?key=x', ready: async () => ({ ready: true, checks: {} }) },
  });
  const { statusCode, headers, body } = await local.inject({ url: '/', headers: { accept: '*/*' } });
  assert.deepEqual([statusCode, headers['content-type']], [200, 'text/plain; charset=utf-8']);
  assert.match(body, /^Console: http:\/\/localhost:4001\/\?key=x$/m);
  assert.match(body, /^Dashboard: http:\/\/localhost:4000\/dashboard$/m);
  await local.close();
});

test('the home page has the name of the installation, and its host beside it', async () => {
  const named = await buildServer({
    ...{ log: silentLog, random: systemRandom, origin: 'https://pay.example.com', doors: [] },
    ...{ displayName: 'Tea & Pay', ready: async () => ({ ready: true, checks: {} }) },
  });
  const { body } = await named.inject({ url: '/', headers: browser });
  assert.match(body, /<title>Tea &amp; Pay<\/title>.*<h1>Tea &amp; Pay<\/h1><p>at pay\.example\.com<\/p>/s);
  await named.close();
});

test('a browser gets a page for an unknown path, with its code and the path escaped', async () => {
  for (const url of ['/nothing', '/%zz', `/${'x'.repeat(8_000)}`, '/images/nothing.webp', '/<script>']) {
    const reply = await server.inject({ url, headers: browser });
    assert.deepEqual(
      [reply.statusCode, reply.headers['content-type']],
      [404, 'text/html; charset=utf-8'],
      url,
    );
    assert.ok(reply.body.includes('404000') && reply.body.includes(String(reply.headers['request-id'])));
    assert.doesNotMatch(reply.body, /<script/);
    assert.match(String(reply.headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/);
    const program = await server.inject({ url });
    assert.deepEqual([program.statusCode, program.json().code], [404, 404000]);
  }
  const method = await server.inject({ method: 'DELETE', url: '/docs', headers: browser });
  assert.deepEqual([method.statusCode, method.headers['content-type']], [405, 'text/html; charset=utf-8']);
});

test('a payer’s page that fails says so in the payer’s language, with the code and the request for the support', async () => {
  const failures = [
    [new Refusal('rate_limited', { retryAfterSeconds: 30 }), 429, 'Warten Sie 30 Sekunden'],
    [new Error('a bug'), 500, 'Bezahlen ist zurzeit nicht möglich.'],
  ] as const;
  for (const [failure, status, words] of failures) {
    const failing = await buildServer({
      ...{ log: silentLog, random: systemRandom, origin: 'https://pay.example.com' },
      ready: async () => ({ ready: true, checks: {} }),
      doors: [
        async (door) => {
          for (const url of ['/link/:id', '/status'])
            door.get(url, { config: { query: 'any' } }, () => Promise.reject(failure));
        },
      ],
    });
    const read = (url: string) =>
      failing.inject({ url, headers: { ...browser, 'accept-language': 'de-AT,de;q=0.9' } });
    const { statusCode, headers, body } = await read('/link/lnk_1');
    assert.equal(statusCode, status);
    assert.match(body, /<html lang="de" dir="ltr">.*<h1>Nicht verfügbar<\/h1>/s);
    assert.ok(body.includes(words) && body.includes(String(headers['request-id'])), body);
    assert.match((await read('/link/lnk_1?lang=ar')).body, /<html lang="ar" dir="rtl">/);
    assert.match((await read('/status')).body, /<html lang="en" dir="ltr">/);
    await failing.close();
  }
});

test('links and sessions that cannot exist get a not-found page', async () => {
  for (const [what, id] of impossible) {
    for (const url of [`/link/${id}`, `/checkout/${id}`, `/checkout/${id}/claim`]) {
      const reply = await server.inject({ url, headers: browser });
      assert.deepEqual(
        [reply.statusCode, reply.headers['content-type']],
        [404, 'text/html; charset=utf-8'],
        `${what} ${url}`,
      );
    }
  }
});

test('below the interfaces for programs, a browser gets the envelope', async () => {
  for (const url of [
    '/payment/v1',
    '/payment/v1/nothing',
    '/payment/v1/session/x',
    '/aipay',
    '/aipay/api/v1/session/x',
    '/x402/link/x',
    '/mcp',
    '/api/v1/nothing',
    '/checkout/api/nothing',
  ]) {
    const reply = await server.inject({ url, headers: browser });
    assert.equal(reply.headers['content-type'], json, url);
    assert.equal(typeof reply.json().error.slug, 'string', url);
  }
});
