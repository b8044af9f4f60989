import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { type ErrorName, errorCatalogue } from '@florin/protocol/error.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { microUsd } from '@florin/protocol/money.ts';
import { errorsOf, operatorErrors, serverErrors } from '@florin/protocol/openapi-errors.ts';
import type { Route, RouteTable } from '@florin/protocol/route.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import fastify from 'fastify';
import { unsubscribeLinks, unsubscribePath } from '#mail/unsubscribe.ts';
import { readStatus } from '#reconcile/status.ts';
import { silentLog } from '#telemetry/log.ts';
import { AgentWorld } from '../../../test/harness/agent-fixture.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { agentDoor } from '../agent/agent.ts';
import { checkoutDoor } from '../checkout/checkout-door.ts';
import { dashboardDoor } from '../dashboard/dashboard-door.ts';
import { dashboardPagesDoor } from '../dashboard/pages.ts';
import { previewDoor } from '../dashboard/preview-door.ts';
import { uploadDoor } from '../dashboard/upload-door.ts';
import { discoveryDoor } from '../discovery.ts';
import { addHealthRoutes } from '../health.ts';
import { imagesDoor } from '../images/images-door.ts';
import { unsubscribeDoor } from '../mail/unsubscribe-door.ts';
import { mcpDoor } from '../mcp/mcp-door.ts';
import { merchantDoor } from '../merchant/merchant-door.ts';
import { openApiDoor } from '../openapi.ts';
import { reportsDoor } from '../reports/reports-door.ts';
import type { Door } from '../server.ts';
import { statusDoor } from '../status/status-door.ts';
import { x402Door } from '../x402/x402-door.ts';
import { docsDoor } from './docs-door.ts';

const tables: readonly RouteTable[] = [merchantApi, agentApi, x402Api];
const options = { origin: exampleOrigin, tables };
const slugs = Object.keys(errorCatalogue) as ErrorName[];
const source = fileURLToPath(new URL('../../', import.meta.url));
const errorPages = fileURLToPath(new URL('../../../../../docs/reference/errors/', import.meta.url));

/** Pages and probes that are not operations of an interface. */
const undocumented = [
  '/.well-known/ai-pay.json',
  '/aipay/.well-known/ai-pay.json',
  '/aipay/openapi.json',
  '/checkout/:sessionId',
  '/checkout/:sessionId/claim',
  '/checkout/:sessionId/deposit',
  '/checkout/:sessionId/code.svg',
  '/checkout/:sessionId/:orderId/address.svg',
  '/checkout/:sessionId/:orderId/wallet.svg',
  '/checkout/api/session/:sessionId/events',
  '/checkout/assets/:file',
  '/dashboard/api/*',
  '/embed/checkout/:sessionId',
  '/payment/v1/session/list/*',
  '/embed/look/:file',
  '/embed/v1.js',
  '/dashboard/preview',
  '/health/live',
  '/health/ready',
  '/images/:file',
  '/link/:linkId',
  '/link/:linkId/picture.png',
  '/reports/:reportId/:secret',
  '/status',
  '/status/metrics',
  '/openapi.json',
];
/** The APIs of the hosted page and of the dashboard: page and server have one version, and other clients must not rely on it. */
const pageTables: readonly RouteTable[] = [checkoutApi, dashboardApi];
const pageOperations = pageTables.flatMap(({ basePath, routes }) =>
  Object.values<Route>(routes).map(({ method, path }) => `${method} ${basePath}${path}`),
);
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
  const dashboard = {
    ...merchant.deps,
    people: merchant.database.db,
    signIn: {
      handle: () => Promise.reject(new Error('no person signs in here')),
      handleOnKnownDevice: () => Promise.reject(new Error('no person signs in here')),
      findSession: async () => undefined,
      findDevice: async () => undefined,
      close: async () => {},
    },
    dashboardOrigin: exampleOrigin,
    environment: 'local',
  } as const;
  return {
    merchantDoor: merchantDoor(merchant.deps),
    agentDoor: agentDoor({ db, deps, basePaths: [agentApi.basePath, ...aliases.keys()] }),
    checkoutDoor: checkoutDoor({
      ...deps,
      db,
      log: silentLog,
      agentApi: `${exampleOrigin}/aipay/api/v1`,
    }),
    dashboardDoor: dashboardDoor({
      ...dashboard,
      walletDelayMs: 0,
      installation: { rpcOf: () => assert.fail('no node is asked here'), wallets: [], configuration: {} },
      verifyWallet: async () => false,
    }),
    dashboardPagesDoor: dashboardPagesDoor(),
    uploadDoor: uploadDoor(dashboard),
    unsubscribeDoor: unsubscribeDoor({
      ...{ db, links: unsubscribeLinks(exampleOrigin, [new Uint8Array(32)]), dashboardOrigin: exampleOrigin },
    }),
    previewDoor: previewDoor({ ...dashboard, render: () => ({ text: '', policy: '' }) }),
    imagesDoor: imagesDoor({ store: { read: async () => undefined }, log: silentLog }),
    reportsDoor: reportsDoor({ db, clock: merchant.clock }),
    statusDoor: statusDoor({ readStatus: () => readStatus(db, deps.chains) }),
    openApiDoor: openApiDoor(options),
    discoveryDoor: discoveryDoor({ ...deps, origin: exampleOrigin, hasX402: true }),
    mcpDoor: mcpDoor({
      origin: exampleOrigin,
      clock: deps.clock,
      limits: undefined,
      lookupApiKey: async () => undefined,
    }),
    docsDoor: docsDoor({ origin: exampleOrigin, chains: deps.chains }),
    x402Door: x402Door({ deps: x402Deps(), enter: () => () => {}, basePaths: ['/aipay/x402'] }),
  };
}

/** The least that adds its routes. */
function x402Deps(): Parameters<typeof x402Door>[0]['deps'] {
  const { db, deps } = agent;
  const sender = {
    plan: async () => ({ reverted: true, data: '0x' }) as const,
    record: () => Promise.reject(new Error('nothing is sent here')),
    broadcast: async () => {},
  };
  const smartAccounts = { perPayment: 0, failuresPerMerchant: 0 };
  const budgets = { perPayer: 0, perLink: 0, perNetwork: 0, smartAccounts };
  const signingOf = async () => ({ permits: new Set<never>() });
  const gasless = { signingOf, minAmount: microUsd(0n), budgets };
  const rpcOf = (chainId: number): never => {
    throw new Error(`chain ${chainId} is not asked here`);
  };
  const readPayment = async () => undefined;
  return { ...deps, db, rpcOf, readPayment, gasless, sender, offerKey: new Uint8Array(32), waitMs: 0 };
}

/** The text of every production file of the server. */
function productionTexts(): string[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(`${source}${file}`, 'utf8'));
}

/**
 * Every method and path that the doors add, except HEAD, which fastify adds to each GET, and OPTIONS, which browsers
 * send.
 */
async function servedRoutes(): Promise<string[]> {
  const served: string[] = [];
  const server = fastify();
  server.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat())
      if (each !== 'HEAD' && each !== 'OPTIONS') served.push(`${each} ${url}`);
  });
  addHealthRoutes(server, async () => ({ ready: true, checks: {} }));
  for (const door of Object.values(doors())) await server.register(async (scope) => door(scope));
  await server.ready();
  await server.close();
  return served;
}

// proves W7.6
test('every error that the server names is in an operation’s answers or the server’s own', () => {
  const documented = new Set<ErrorName>([
    ...serverErrors,
    ...operatorErrors,
    ...[...tables, ...pageTables].flatMap((table) =>
      Object.values<Route>(table.routes).flatMap((route) => errorsOf(table, route)),
    ),
  ]);
  const texts = productionTexts();
  const refused = texts.flatMap((text) => [...text.matchAll(/\b(?:Refusal|refused)\(\s*'([a-z_]+)'/g)]);
  // Some are chosen first and thrown later, so every quoted slug counts.
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

test('every error of a route is in the catalogue, and in its list once', () => {
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

// proves W7.2, W7.6
test('every error of the catalogue has a page', () => {
  const missing = slugs.filter((slug) => !existsSync(`${errorPages}${errorCatalogue[slug].code}.md`));
  assert.deepEqual(missing, []);
});

test('this test opens the same doors as the service', () => {
  const wired = readdirSync(`${source}service`)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(`${source}service/${file}`, 'utf8').matchAll(/\b(\w+Door)\(/g)])
    .map((match) => match[1] ?? '');
  // A wrapper: it adds no route to the door that it limits.
  const opened = wired.filter((name) => name !== 'limitedDoor');
  assert.deepEqual([...new Set(opened)].sort(), Object.keys(doors()).sort());
});

// proves S4.1
test('every route of the server is documented, or listed as undocumented', async () => {
  const operations = tables.flatMap(({ basePath, routes }) =>
    Object.values<Route>(routes).map(({ method, path }) => `${method} ${basePath}${path}`),
  );
  const pages = ['/dashboard', '/dashboard/*', '/docs', '/docs.md', '/docs/*', '/docs/chains.json'].map(
    (path) => `GET ${path}`,
  );
  const indexes = ['', '/aipay'].flatMap((base) => [`GET ${base}/llms.txt`, `GET ${base}/llms-full.txt`]);
  const known = new Set([
    ...operations,
    ...pages,
    ...indexes,
    ...undocumented.map((path) => `GET ${path}`),
    ...pageOperations,
    // Paths of no operation.
    'POST /dashboard/api/*',
    // Its body is a picture.
    'POST /dashboard/api/image/upload',
    // The links of weekly summaries, for mailboxes and people.
    ...['GET', 'POST'].map((method) => `${method} ${unsubscribePath}/:merchantId/:userId/:code`),
    // Forms of readers without scripts.
    'POST /checkout/:sessionId/deposit',
    'POST /link/:linkId',
    // The Model Context Protocol: its own tools/list documents it.
    'POST /aipay/mcp',
    'POST /mcp',
    ...[...aliases].flatMap(([alias, basePath]) =>
      operations
        .filter((operation) => operation.includes(` ${basePath}/`))
        .map((operation) => operation.replace(basePath, alias)),
    ),
  ]);
  const served = await servedRoutes();
  assert.deepEqual([...served].sort(), [...known].sort());
});
