import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { maxLineItemsBytes } from '@florin/protocol/line-item.ts';
import type { FastifyInstance } from 'fastify';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { ChangeJournal } from '../../../test/fuzz/change-journal.ts';
import { checkoutOptionsOf } from '../../../test/harness/checkout-fixture.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { checkoutDoor } from '../checkout/checkout-door.ts';
import { buildServer } from '../server.ts';

const growProduct = statement({
  name: 'line_items_test_grow',
  parameters: { productId: 'text', description: 'text' },
  text: 'update products set description = :description where product_id = :productId',
});

let world: MerchantWorld;
let pages: FastifyInstance;
let journal: ChangeJournal;
let key: string;
let accountId: string;

before(async () => {
  world = await MerchantWorld.open();
  pages = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [checkoutDoor(checkoutOptionsOf(world))],
  });
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
  journal = await ChangeJournal.install(world.database.url);
});
after(async () => {
  await journal.close();
  await pages.close();
  await world.close();
});

const post = (path: string, body: unknown) => world.send('POST', path, { key, body });

/** Takes six bytes in JSON. */
const control = '\u0001';
const tooLarge = `lineItems must take at most ${maxLineItemsBytes} bytes as JSON, with the data of their products`;

/** A product whose data takes a given number of bytes: each control character of the description takes six. */
const productBody = (controls: number) => ({
  name: 'Tea',
  commonPrices: [1_000_000],
  description: control.repeat(controls),
});

async function addProduct(controls: number): Promise<string> {
  return (await post('/product/create', productBody(controls))).data.productId;
}

const sessionBody = (lineItems: object[]) => ({ accountId, settlementToken: 'ethereum::usdc', lineItems });

/** A fixed link that shows a product this many times. */
function linkBody(productId: string, items: number) {
  return {
    linkType: 'fixed',
    linkName: 'Shop',
    accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: Array(items).fill({ itemType: 'product', productId, quantity: 1, unitPrice: 1_000_000 }),
  };
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test('the line items of a checkout session may take 64 KiB with their products’ data, and not one byte more', async () => {
  const item = (productName: string, productDescription: string) => ({
    itemType: 'one_time',
    quantity: 1,
    unitPrice: 1_000_000,
    productData: { productName, productDescription },
  });
  const items = (last: number, name = 'Cup') => [
    ...Array(9).fill(item('😀'.repeat(100), control.repeat(1_000))),
    item(name, control.repeat(last)),
  ];
  const first = await post('/session/checkout/create', sessionBody(items(0)));
  assert.equal(first.code, 0, first.message);
  const left = maxLineItemsBytes - bytesOf(first.data.lineItems.items);
  const controls = Math.min(1_000, Math.floor(left / 6));
  const letters = left - 6 * controls;
  assert.ok(letters >= 0 && letters < 90, `${left} bytes are left`);
  const full = await post(
    '/session/checkout/create',
    sessionBody(items(controls, `Cup${'s'.repeat(letters)}`)),
  );
  assert.equal(full.code, 0, full.message);
  assert.equal(bytesOf(full.data.lineItems.items), maxLineItemsBytes);

  await journal.take();
  const over = sessionBody(items(controls, `Cup${'s'.repeat(letters + 1)}`));
  const refused = await post('/session/checkout/create', over);
  assert.deepEqual(
    [refused.code, refused.message, await journal.take()],
    [400101, `Invalid field: ${tooLarge}`, []],
  );
});

test('a session whose items repeat one large product too often is refused', async () => {
  const item = { itemType: 'product', productId: await addProduct(1_000) };
  assert.equal((await post('/session/checkout/create', sessionBody(Array(100).fill(item)))).code, 400101);
  assert.equal((await post('/session/checkout/create', sessionBody(Array(10).fill(item)))).code, 0);
});

test('a link whose line items take more is refused on create and update, and unchanged', async () => {
  const productId = await addProduct(1_000);
  const { linkId } = (await post('/payment/link/create', linkBody(productId, 10))).data;
  await journal.take();
  for (const [path, body] of [
    ['/payment/link/create', linkBody(productId, 11)],
    ['/payment/link/update', { ...linkBody(productId, 11), linkId }],
  ] as const) {
    const refused = await post(path, body);
    assert.deepEqual([refused.code, refused.message], [400101, `Invalid field: ${tooLarge}`], path);
  }
  assert.deepEqual(await journal.take(), []);
});

test('a product change is refused when a link that shows it would exceed the limit', async () => {
  const productId = await addProduct(0);
  const { linkId } = (await post('/payment/link/create', linkBody(productId, 20))).data;
  await journal.take();
  const refused = await post('/product/update', { productId, ...productBody(1_000) });
  const detail = `the line items of ${linkId}, which shows it, would take over ${maxLineItemsBytes} bytes as JSON`;
  assert.deepEqual(
    [refused.code, refused.message, await journal.take()],
    [400101, `Invalid field: ${detail}`, []],
  );
  assert.equal((await post('/product/update', { productId, ...productBody(500) })).code, 0);
});

test('a link that exceeds the limit regardless cannot be paid, shows as disabled, and states the reason', async () => {
  const productId = await addProduct(0);
  const { linkId } = (await post('/payment/link/create', linkBody(productId, 20))).data;
  await world.database.db.query(growProduct, { productId, description: control.repeat(1_000) });
  const { data } = await world.send('GET', `/payment/link/${linkId}`, { key });
  assert.equal(data.status, 'disabled');
  const begun = await pages.inject({
    method: 'POST',
    url: '/checkout/api/session',
    payload: { linkId, linkVersion: data.versionCode },
  });
  const enabled = await post('/payment/link/enable', { linkId });
  assert.deepEqual(
    [begun.json().code, enabled.code, enabled.message],
    [100103, 400101, `Invalid field: ${tooLarge}`],
  );
});
