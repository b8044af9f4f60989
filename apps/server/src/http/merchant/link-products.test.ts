import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openLinkShop } from '../../../test/harness/link-shop.ts';

const { world, post, get, addProduct, linkBody } = await openLinkShop();
after(() => world.close());

// proves S2.12, S3.5, S3.6, S4.7, W4.3
test('archiving a product disables its links and keeps their version; unarchiving leaves them disabled', async () => {
  const productId = await addProduct();
  const other = await addProduct('Cup');
  const { linkId, versionCode } = (await post('/payment/link/create', linkBody(productId))).data;
  const items = [other, productId].map((id) => ({ itemType: 'product', productId: id, unitPrice: 1_000 }));
  const custom = { linkType: 'custom', lineItems: [{ itemType: 'user_priced', productId }] };
  const others: string[] = [];
  for (const changes of [{ lineItems: items }, custom])
    others.push((await post('/payment/link/create', linkBody(productId, changes))).data.linkId);
  const statuses = async () =>
    Promise.all(others.map(async (id) => (await get(`/payment/link/${id}`)).data.status));
  const untouched = (await post('/payment/link/create', linkBody(other))).data.linkId;
  const state = async () => {
    const { data } = await get(`/payment/link/${linkId}`);
    return [data.status, data.lineItems.items[0].productData.status, data.versionCode];
  };
  assert.deepEqual((await post('/product/archive', { productId })).data, { success: true });
  assert.deepEqual(await state(), ['disabled', 'archived', versionCode]);
  assert.deepEqual(await statuses(), ['disabled', 'disabled']);
  assert.equal((await get(`/payment/link/${untouched}`)).data.status, 'active');
  assert.equal((await post('/payment/link/enable', { linkId })).code, 100304);
  assert.equal((await post('/payment/link/create', linkBody(productId))).code, 100304);
  assert.deepEqual((await post('/product/unarchive', { productId })).data, { success: true });
  assert.deepEqual(await state(), ['disabled', 'active', versionCode]);
  assert.deepEqual(await statuses(), ['disabled', 'disabled']);
  assert.deepEqual((await post('/payment/link/enable', { linkId })).data, { success: true });
  assert.deepEqual(await state(), ['active', 'active', versionCode]);
});

test('a link created while its product is being archived never stays active', async () => {
  for (let round = 0; round < 8; round += 1) {
    const productId = await addProduct();
    const [created] = await Promise.all([
      post('/payment/link/create', linkBody(productId)),
      post('/product/archive', { productId }),
    ]);
    if (created.code === 0) {
      assert.equal((await get(`/payment/link/${created.data.linkId}`)).data.status, 'disabled');
    } else assert.equal(created.code, 100304);
  }
});

// proves W2.13
test('a product edit increases the version of its links', async () => {
  const productId = await addProduct();
  const { linkId, versionCode } = (await post('/payment/link/create', linkBody(productId))).data;
  await post('/product/update', { productId, name: 'Green tea', commonPrices: [1] });
  const { data } = await get(`/payment/link/${linkId}`);
  assert.equal(data.lineItems.items[0].productData.productName, 'Green tea');
  assert.notEqual(data.versionCode, versionCode);
});

// proves S4.8, S7.6
test('a product that a link ever referenced cannot be removed; one that only sessions used can', async () => {
  const [used, free] = [await addProduct(), await addProduct()];
  const { linkId } = (await post('/payment/link/create', linkBody(used))).data;
  await post('/payment/link/update', { linkId, ...linkBody(await addProduct()) });
  assert.equal((await post('/product/remove', { productId: used })).code, 100305);
  assert.deepEqual((await post('/product/remove', { productId: free })).data, { success: true });
  assert.equal((await post('/product/remove', { productId: free })).code, 100306);
  assert.equal((await post('/product/archive', { productId: free })).code, 100306);
  assert.deepEqual((await post('/product/list/by/ids', { productIds: [free] })).data, []);
  const events = await world.eventsOf(free);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['product.created', 'product.removed'],
  );
});
