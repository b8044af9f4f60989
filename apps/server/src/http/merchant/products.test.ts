import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';

let world: MerchantWorld;
let key: string;
before(async () => {
  world = await MerchantWorld.open();
  key = await world.addKey(await world.addMerchant());
});
after(() => world.close());

const post = (path: string, body: unknown) => world.send('POST', path, { key, body });
const tea = { name: 'Tea', commonPrices: [1_500_000] };

// proves S2.2, S2.5, S4.2, S4.5
test('a product is created with optional fields empty, listed, and read by id', async () => {
  const created = await post('/product/create', tea);
  const { productId } = created.data;
  assert.match(productId, /^prd_[0-9A-Za-z]{22}$/);
  const expected = {
    productId,
    name: 'Tea',
    description: '',
    imageUrl: '',
    imageStatus: 'none',
    imageReason: '',
    status: 'active',
    commonPrices: [1_500_000],
    attributes: [],
    createAt: '2030-01-01 00:00:00',
    updateAt: '2030-01-01 00:00:00',
  };
  assert.deepEqual(created.data, expected);
  const listed = await world.send('GET', '/product/list/1/1', { key });
  assert.deepEqual(listed.data, {
    total: 1,
    page: '1',
    size: '1',
    hasMore: false,
    nextCursor: '',
    products: [expected],
  });
  const read = await post('/product/list/by/ids', { productIds: ['prd_none', productId] });
  assert.deepEqual(read.data, [expected]);
  assert.deepEqual(await world.eventsOf(productId).then((events) => events[0]?.data), { product: expected });
});

const rejected: [string, object, string][] = [
  ['no name', { commonPrices: [1] }, 'name'],
  ['an empty name', { ...tea, name: '' }, 'name'],
  ['101 characters of name', { ...tea, name: '😀'.repeat(101) }, 'name'],
  ['1001 characters of description', { ...tea, description: 'x'.repeat(1001) }, 'description'],
  ['no prices', { ...tea, commonPrices: [] }, 'commonPrices'],
  ['six prices', { ...tea, commonPrices: [1, 2, 3, 4, 5, 6] }, 'commonPrices'],
  ['a price of 0', { ...tea, commonPrices: [1, 0] }, 'commonPrices[1]'],
  // proves S1.6
  ['a price as text', { ...tea, commonPrices: ['1'] }, 'commonPrices[0]'],
  ['a price over ten million dollars', { ...tea, commonPrices: [10_000_000_000_001] }, 'commonPrices[0]'],
  ['eleven attributes', { ...tea, attributes: Array(11).fill({ name: 'a', value: 'b' }) }, 'attributes'],
  ['an attribute without a value', { ...tea, attributes: [{ name: 'a' }] }, 'attributes[0].value'],
  // proves S2.3
  ['an http image', { ...tea, imageUrl: 'http://images.example.com/a.png' }, 'imageUrl'],
  ['an image URL over 500 characters', { ...tea, imageUrl: `https://x.com/${'a'.repeat(500)}` }, 'imageUrl'],
  // proves W1.31
  ['a status', { ...tea, status: 'active' }, 'status'],
  // proves W1.31
  ['a merchantId', { ...tea, merchantId: 'mer_other' }, 'merchantId'],
];
for (const [rule, body, param] of rejected) {
  test(`${rule} is refused at ${param}`, async () => {
    const reply = await post('/product/create', body);
    const { error } = JSON.parse(reply.text);
    assert.deepEqual([reply.status, reply.code, error.param], [200, 400101, param]);
  });
}

test('an installation that hosts no images creates products without, and reports it', async () => {
  const reply = await post('/product/create', { ...tea, imageUrl: 'https://images.example.com/tea.png' });
  const { imageUrl, imageStatus, imageReason } = reply.data;
  assert.deepEqual(
    [reply.code, imageUrl, imageStatus, imageReason],
    [0, '', 'failed', 'this installation hosts no images'],
  );
});

test('101 ids are refused, and an empty list returns none', async () => {
  const [many, none] = await Promise.all([
    post('/product/list/by/ids', { productIds: Array(101).fill('prd_none') }),
    post('/product/list/by/ids', { productIds: [] }),
  ]);
  assert.deepEqual([many.code, none.data], [400101, []]);
});

// proves W1.33
test('archiving an archived product and unarchiving an active one succeed and raise no event', async () => {
  const { productId } = (await post('/product/create', tea)).data;
  for (const action of ['archive', 'archive', 'unarchive', 'unarchive'])
    assert.deepEqual((await post(`/product/${action}`, { productId })).data, { success: true });
  assert.deepEqual(
    (await world.eventsOf(productId)).map(({ type }) => type),
    ['product.created', 'product.archived', 'product.unarchived'],
  );
});

test('actions on an unknown product are 100301', async () => {
  for (const action of ['archive', 'unarchive']) {
    assert.equal((await post(`/product/${action}`, { productId: 'prd_none' })).code, 100301);
  }
});

// proves S4.3, W1.32
test('an update replaces every field and resets omitted ones; a read sent back is accepted', async () => {
  const full = { ...tea, description: 'Black', attributes: [{ name: 'size', value: 'L' }] };
  const { productId } = (await post('/product/create', full)).data;
  await post('/product/archive', { productId });
  assert.deepEqual((await post('/product/update', { productId, name: 'Cup', commonPrices: [2, 3] })).data, {
    success: true,
  });
  const [read] = (await post('/product/list/by/ids', { productIds: [productId] })).data;
  assert.deepEqual(read, {
    productId,
    name: 'Cup',
    description: '',
    imageUrl: '',
    imageStatus: 'none',
    imageReason: '',
    status: 'archived',
    commonPrices: [2, 3],
    attributes: [],
    createAt: '2030-01-01 00:00:00',
    // Two changes at the time of creation: each takes a later second.
    updateAt: '2030-01-01 00:00:02',
  });
  assert.equal((await post('/product/update', read)).code, 0);
  assert.equal((await post('/product/update', { ...read, colour: 'red' })).code, 400101);
  assert.equal((await post('/product/update', { ...read, productId: 'prd_none' })).code, 100301);
});

test('an update that names when the product was read changes no product that changed since', async () => {
  const { productId, updateAt } = (await post('/product/create', tea)).data;
  const updateAs = (name: string, ifUpdateAt: string) =>
    post('/product/update', { ...tea, productId, name, ifUpdateAt });
  assert.equal((await updateAs('First', updateAt)).code, 0);
  assert.equal((await updateAs('Second', updateAt)).code, 100307);
  const [read] = (await post('/product/list/by/ids', { productIds: [productId] })).data;
  assert.equal(read.name, 'First');
  assert.equal((await updateAs('Second', read.updateAt)).code, 0);
});
