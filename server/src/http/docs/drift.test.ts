import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { type ErrorName, errorCatalogue } from '@florin/protocol/error.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { errorsOf, operatorErrors, serverErrors } from '@florin/protocol/openapi-errors.ts';
import type { Route, RouteTable } from '@florin/protocol/route.ts';
import fastify from 'fastify';
import { AgentWorld } from '../../../test/harness/agent-fixture.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { agentDoor } from '../agent/agent.ts';
import { checkoutDoor } from '../checkout/checkout-door.ts';
import { addHealthRoutes } from '../health.ts';
import { merchantDoor } from '../merchant/merchant-door.ts';
import { openApiDoor } from '../openapi.ts';
import type { Door } from '../server.ts';
import { docsDoor } from './docs-door.ts';
import { referencePages, sitePages } from './site.ts';

const tables: readonly RouteTable[] = [merchantApi, agentApi];
const options = { origin: exampleOrigin, tables };
const slugs = Object.keys(errorCatalogue) as ErrorName[];
const source = fileURLToPath(new URL('../../', import.meta.url));

/** Pages and probes for people and programs that are no operations of an interface. */
const undocumented = [
  '/checkout/:sessionId',
  '/health/live',
  '/health/ready',
  '/link/:linkId',
  '/openapi.json',
];
/** The AI protocol behind a host of its own. */
const aliases = new Map([['/api/v1', agentApi.basePath]]);

let merchant: MerchantWorld;
let agent: AgentWorld;

before(async () => {
  [merchant, agent] = await Promise.all([MerchantWorld.open(), AgentWorld.open()]);
});

after(async () => {
  await Promise.all([merchant.close(), agent.close()]);
});

function doors(): Record<string, Door> {
  const { db, deps } = agent;
  return {
    merchantDoor: merchantDoor(merchant.deps),
    agentDoor: agentDoor({ db, deps, basePaths: [agentApi.basePath, ...aliases.keys()] }),
    checkoutDoor: checkoutDoor({
      db,
      chains: deps.chains,
      origin: exampleOrigin,
      agentApi: `${exampleOrigin}/aipay/api/v1`,
    }),
    openApiDoor: openApiDoor(options),
    docsDoor: docsDoor(options),
  };
}

/** The text of every file of the server that runs in production, beside the documentation itself. */
function productionTexts(): string[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('http/docs/'))
    .map((file) => readFileSync(`${source}${file}`, 'utf8'));
}

/** Every method and path that the doors add, HEAD aside, which fastify adds to each GET. */
async function servedRoutes(): Promise<string[]> {
  const served: string[] = [];
  const server = fastify();
  server.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) if (each !== 'HEAD') served.push(`${each} ${url}`);
  });
  addHealthRoutes(server, async () => ({ ready: true, checks: {} }));
  for (const door of Object.values(doors())) await server.register(async (scope) => door(scope));
  await server.ready();
  await server.close();
  return served;
}

test('every error that the server names is answered by an operation or by the server itself', () => {
  const documented = new Set<ErrorName>([
    ...serverErrors,
    ...operatorErrors,
    ...tables.flatMap((table) =>
      Object.values<Route>(table.routes).flatMap((route) => errorsOf(table, route)),
    ),
  ]);
  const texts = productionTexts();
  const refused = texts.flatMap((text) => [...text.matchAll(/\b(?:Refusal|refused)\(\s*'([a-z_]+)'/g)]);
  // Some are chosen first and thrown later, so every text that is a slug counts as well.
  const quoted = texts
    .flatMap((text) => [...text.matchAll(/'([a-z_]+)'/g)])
    .filter((match) => (slugs as readonly string[]).includes(match[1] ?? ''));
  const named = new Set([...refused, ...quoted].map((match) => match[1] ?? ''));
  assert.ok(named.size > 40);
  assert.deepEqual(
    [...named].filter((slug) => !documented.has(slug as ErrorName)),
    [],
  );
});

test('every error of a route is in the catalogue, and stands in its list once', () => {
  for (const table of tables) {
    for (const [id, route] of Object.entries<Route>(table.routes)) {
      assert.deepEqual(
        route.errors.filter((slug) => !slugs.includes(slug)),
        [],
        id,
      );
      assert.equal(new Set(route.errors).size, route.errors.length, id);
    }
  }
});

test('every error of the catalogue has a page', () => {
  const paths = new Set(referencePages(options).map(({ path }) => path));
  assert.deepEqual(
    slugs.filter((slug) => !paths.has(`/docs/errors/${errorCatalogue[slug].code}`)),
    [],
  );
});

test('the doors of the service are the doors of this test', () => {
  const wired = readdirSync(source)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(`${source}${file}`, 'utf8').matchAll(/\b(\w+Door)\(/g)])
    .map((match) => match[1] ?? '');
  // A wrapper: it adds no route to the door that it limits.
  const opened = wired.filter((name) => name !== 'limitedDoor');
  assert.deepEqual([...new Set(opened)].sort(), Object.keys(doors()).sort());
});

test('every route of the server is documented, or known to be undocumented', async () => {
  const operations = tables.flatMap(({ basePath, routes }) =>
    Object.values<Route>(routes).map(({ method, path }) => `${method} ${basePath}${path}`),
  );
  const pages = sitePages(options).flatMap(({ path }) => [`GET ${path}`, `GET ${path}.md`]);
  const indexes = ['', '/aipay'].flatMap((base) => [`GET ${base}/llms.txt`, `GET ${base}/llms-full.txt`]);
  const known = new Set([
    ...operations,
    ...pages,
    ...indexes,
    ...undocumented.map((path) => `GET ${path}`),
    ...[...aliases].flatMap(([alias, basePath]) =>
      operations
        .filter((operation) => operation.includes(` ${basePath}/`))
        .map((operation) => operation.replace(basePath, alias)),
    ),
  ]);
  const served = await servedRoutes();
  assert.deepEqual([...served].sort(), [...known].sort());
});
