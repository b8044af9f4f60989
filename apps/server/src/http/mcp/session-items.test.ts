import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { merchantDoor } from '../merchant/merchant-door.ts';
import { buildServer } from '../server.ts';
import { mcpDoor } from './mcp-door.ts';

let world: MerchantWorld;
let server: FastifyInstance;
let key: string;
let accountId: string;
let productId: string;

before(async () => {
  world = await MerchantWorld.open();
  const { origin, clock } = world.deps;
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [merchantDoor(world.deps), mcpDoor({ ...world.deps, origin, clock, limits: undefined })],
  });
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
  const body = { name: 'Tea', commonPrices: [2_500_000, 4_000_000] };
  productId = (await world.send('POST', '/product/create', { key, body })).data.productId;
});
after(async () => {
  await server.close();
  await world.close();
});

async function ask(method: string, params: object): Promise<Record<string, unknown>> {
  const reply = await server.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    payload: { jsonrpc: '2.0', id: 1, method, params },
  });
  return reply.json().result;
}

async function callTool(
  name: string,
  input: object,
): Promise<{
  code: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  data: any;
  error: { param: string };
}> {
  const { content } = await ask('tools/call', { name, arguments: input });
  const [{ text }] = content as [{ text: string }];
  return JSON.parse(text.slice(text.indexOf('\n')));
}

const sold = () => ({ accountId, settlementToken: 'ethereum::usdc' });

test('a product item of a session may omit its price over HTTP and MCP: it is then the first common price', async () => {
  const body = { ...sold(), lineItems: [{ itemType: 'product', productId, quantity: 2 }] };
  const overHttp = (await world.send('POST', '/session/checkout/create', { key, body })).data;
  const overMcp = (await callTool('merchant_create_checkout_session', body)).data;
  for (const { amount, lineItems } of [overHttp, overMcp])
    assert.deepEqual([amount, lineItems.items[0].unitPrice], [5_000_000, 2_500_000]);
});

test('an item of a fixed link needs its price at both doors', async () => {
  const body = {
    ...sold(),
    linkType: 'fixed',
    linkName: 'Shop',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 2 }],
  };
  const overHttp = await world.send('POST', '/payment/link/create', { key, body });
  const overMcp = await callTool('merchant_create_link', body);
  const param = 'lineItems[0].unitPrice';
  assert.deepEqual([overHttp.code, JSON.parse(overHttp.text).error.param], [400101, param]);
  assert.deepEqual([overMcp.code, overMcp.error.param], [400101, param]);
});

test('the tools and the documents state where a price may be omitted', async () => {
  const { tools } = (await ask('tools/list', {})) as unknown as {
    tools: { name: string; inputSchema: { properties: Record<string, { items: Record<string, never> }> } }[];
  };
  const itemOf = (name: string) =>
    tools.find((tool) => tool.name === name)?.inputSchema.properties['lineItems']?.items;
  const session = itemOf('merchant_create_checkout_session') as unknown as {
    required: string[];
    properties: { unitPrice: { description: string } };
  };
  const link = itemOf('merchant_create_link') as unknown as typeof session;
  assert.deepEqual(session.required, ['itemType']);
  assert.match(session.properties.unitPrice.description, /first of the product’s commonPrices/);
  assert.match(link.properties.unitPrice.description, /A product item needs it/);
});
