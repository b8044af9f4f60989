import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fixtureChains } from '../../../test/harness/agent-fixture.ts';
import { openLinkShop } from '../../../test/harness/link-shop.ts';

const { world, merchantId, accountId, post, get, addProduct, linkBody } = await openLinkShop();
after(() => world.close());

// proves S2.12, S2.14, S4.10, S4.14
test('a fixed link is created active, nested as documented, and read back in detail', async () => {
  const productId = await addProduct();
  const created = await post('/payment/link/create', {
    ...linkBody(productId),
    payerEmailRequired: 1,
    successUrl: 'https://shop.example.com/thanks?s={SESSION_ID}',
    customSuccessText: 'Thanks',
    customDisabledText: 'Closed',
  });
  const { linkId, versionCode, lineItems } = created.data;
  const [item] = lineItems.items;
  const productData = {
    productName: 'Tea',
    productDescription: 'Black',
    imageUrl: '',
    attributes: [],
  };
  const expectedItem = {
    lineItemId: item.lineItemId,
    itemType: 'product',
    productId,
    quantity: 2,
    unitPrice: 1_500_000,
    productData,
  };
  const fields = {
    linkId,
    linkType: 'fixed',
    linkName: 'Shop',
    accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    amount: 3_000_000,
    payerEmailRequired: 1,
    successUrl: 'https://shop.example.com/thanks?s={SESSION_ID}',
    customSuccessText: 'Thanks',
    customDisabledText: 'Closed',
    linkUrl: `https://pay.example.com/link/${linkId}`,
    status: 'active',
    versionCode,
    createAt: '2030-01-01 00:00:00',
    updateAt: '2030-01-01 00:00:00',
  };
  assert.deepEqual(created.data, {
    ...fields,
    lineItems: { items: [expectedItem], lineItems: { items: [expectedItem] }, amount: 3_000_000 },
  });
  assert.match(linkId, /^lnk_[0-9A-Za-z]{22}$/);
  assert.match(versionCode, /^ver_[0-9A-Za-z]{22}$/);
  assert.match(item.lineItemId, /^li_[0-9A-Za-z]{22}$/);
  const token = fixtureChains.token('ethereum::usdc');
  const account = (await get(`/account/detail/${accountId}`)).data;
  const detail = await get(`/payment/link/${linkId}`);
  assert.deepEqual(detail.data, {
    ...fields,
    lineItems: { items: [{ ...expectedItem, productData: { ...productData, status: 'active' } }] },
    accountName: account.accountName,
    accountAddress: account.accountAddress,
    settlementTokenInfo: {
      tokenId: 'ethereum::usdc',
      contractAddress: token?.address,
      name: 'USDC',
      symbol: 'USDC',
      decimals: 6,
      chainId: '31337',
    },
  });
});

// proves S4.10
test('a custom link without a product shows its name', async () => {
  const created = await post('/payment/link/create', {
    ...linkBody(''),
    linkType: 'custom',
    linkName: 'Donate',
    lineItems: [{ itemType: 'user_priced' }],
  });
  const { lineItems, amount } = created.data;
  assert.deepEqual([amount, lineItems.items.length], [0, 1]);
  assert.deepEqual(lineItems.items[0].productData.productName, 'Donate');
});

const rejected: [string, (productId: string) => object, number][] = [
  // proves S4.12
  ['an unknown account', () => ({ accountId: 'acc_none' }), 100401],
  // proves S4.12
  ['a token that the account does not take', () => ({ settlementToken: 'ethereum::usdt' }), 100404],
  ['a token that is not configured', () => ({ settlementToken: 'ethereum::dai' }), 400201],
  ['a chain that is not configured', () => ({ settlementToken: 'solana::usdc' }), 400202],
  [
    'an unknown product',
    () => ({ lineItems: [{ itemType: 'product', productId: 'prd_none', unitPrice: 1 }] }),
    100301,
  ],
  [
    'one unknown product of several',
    (productId) => ({
      lineItems: [productId, 'prd_none'].map((id) => ({ itemType: 'product', productId: id, unitPrice: 5 })),
    }),
    100302,
  ],
  [
    'a price that leaves nothing after the fee',
    (productId) => ({ lineItems: [{ itemType: 'product', productId, unitPrice: 1 }] }),
    100209,
  ],
  [
    'a total over ten million dollars',
    (productId) => ({
      lineItems: [{ itemType: 'product', productId, quantity: 2, unitPrice: 10_000_000_000_000 }],
    }),
    100209,
  ],
  // proves S2.8
  ['a custom link with a product item', () => ({ linkType: 'custom' }), 100105],
  [
    'a product item of price 0',
    (productId) => ({ lineItems: [{ itemType: 'product', productId, unitPrice: 0 }] }),
    400101,
  ],
  // proves S4.11
  ['fee model 3', () => ({ feeModel: 3 }), 400101],
  // proves W2.3
  ['an http success URL', () => ({ successUrl: 'http://shop.example.com' }), 400101],
  // proves W1.31
  ['a field of the reply', () => ({ amount: 5 }), 400101],
];
for (const [rule, change, code] of rejected) {
  test(`${rule} is refused with ${code}, and nothing is written`, async () => {
    const productId = await addProduct();
    const before = (await get('/payment/link/list/1/1')).data.total;
    const reply = await post('/payment/link/create', linkBody(productId, change(productId)));
    assert.deepEqual([reply.status, reply.code, reply.data], [200, code, null]);
    assert.equal((await get('/payment/link/list/1/1')).data.total, before);
  });
}

// proves S2.11, S4.15
test('lists are newest first, without productData, with page numbers as strings', async () => {
  const owner = await world.addMerchant();
  const ownKey = await world.addKey(owner);
  const own = { accountId: await world.addAccount(owner) };
  const send = (path: string, body: unknown) => world.send('POST', path, { key: ownKey, body });
  const product = await send('/product/create', { name: 'Tea', commonPrices: [5] });
  const ids: string[] = [];
  for (const linkName of ['a', 'b', 'c']) {
    const body = linkBody(product.data.productId, { ...own, linkName });
    ids.unshift((await send('/payment/link/create', body)).data.linkId);
  }
  const [first, second] = await Promise.all([
    world.send('GET', '/payment/link/list/1/2', { key: ownKey }),
    world.send('GET', '/payment/link/list/2/2', { key: ownKey }),
  ]);
  const { links, ...page } = first.data;
  assert.deepEqual(page, { total: 3, page: '1', size: '2', hasMore: true, nextCursor: ids[1] });
  assert.deepEqual(
    [...links, ...second.data.links].map(({ linkId }: { linkId: string }) => linkId),
    ids,
  );
  assert.equal(second.data.hasMore, false);
  assert.equal('productData' in links[0].lineItems.items[0], false);
});

test("another merchant's link is not found", async () => {
  const productId = await addProduct();
  const { linkId } = (await post('/payment/link/create', linkBody(productId))).data;
  const foreignKey = await world.addKey(await world.addMerchant());
  const reads = await world.send('GET', `/payment/link/${linkId}`, { key: foreignKey });
  const disables = await world.send('POST', '/payment/link/disable', { key: foreignKey, body: { linkId } });
  assert.deepEqual([reads.code, disables.code], [100101, 100101]);
});

// proves S3.7, W1.33
test('repeated disabling and enabling succeeds and emits nothing', async () => {
  const productId = await addProduct();
  const { linkId } = (await post('/payment/link/create', linkBody(productId))).data;
  for (const path of ['disable', 'disable', 'enable', 'enable']) {
    assert.deepEqual((await post(`/payment/link/${path}`, { linkId })).data, { success: true });
  }
  const events = await world.eventsOf(linkId);
  assert.deepEqual(
    events.map(({ type, sequence }) => [type, sequence]),
    [
      ['payment.link.created', 1],
      ['payment.link.disabled', 2],
      ['payment.link.enabled', 3],
    ],
  );
  assert.deepEqual(events[2]?.data, { link: (await get(`/payment/link/${linkId}`)).data });
});

// proves S4.13
test('an update replaces every field, resets omitted ones, and increases the version', async () => {
  const productId = await addProduct();
  const other = await addProduct('Cup');
  const full = {
    payerEmailRequired: 1,
    successUrl: 'https://shop.example.com/thanks',
    customSuccessText: 'Thanks',
    customDisabledText: 'Closed',
  };
  const { linkId, versionCode } = (await post('/payment/link/create', linkBody(productId, full))).data;
  const before = (await get(`/payment/link/${linkId}`)).data;
  const ownAccount = await world.addAccount(merchantId, ['base::usdc']);
  const { accountAddress } = (await get(`/account/detail/${ownAccount}`)).data;
  const terms = {
    linkType: 'custom',
    linkName: 'Other',
    accountId: ownAccount,
    settlementToken: 'base::usdc',
    feeModel: 2,
  };
  const item = { itemType: 'user_priced', productId: other };
  const body = { linkId, ...terms, lineItems: [item] };
  assert.deepEqual((await post('/payment/link/update', body)).data, { success: true });
  const { data } = await get(`/payment/link/${linkId}`);
  const [shown] = before.lineItems.items;
  const { lineItemId } = data.lineItems.items[0];
  const productData = { ...shown.productData, productName: 'Cup' };
  assert.deepEqual(data, {
    ...before,
    ...terms,
    amount: 0,
    payerEmailRequired: 0,
    successUrl: '',
    customSuccessText: '',
    customDisabledText: '',
    lineItems: { items: [{ lineItemId, ...item, quantity: 1, unitPrice: 0, productData }] },
    accountAddress,
    settlementTokenInfo: data.settlementTokenInfo,
    versionCode: data.versionCode,
    updateAt: '2030-01-01 00:00:01',
  });
  assert.equal(data.settlementTokenInfo.tokenId, 'base::usdc');
  assert.notEqual(data.versionCode, versionCode);
  assert.deepEqual((await world.eventsOf(linkId)).at(-1), {
    ...(await world.eventsOf(linkId)).at(-1),
    type: 'payment.link.updated',
    data: { link: data },
  });
});

// proves W1.32, W4.4
test('a read sent back as an update is accepted, and keeps version and status', async () => {
  const productId = await addProduct();
  const { linkId } = (await post('/payment/link/create', linkBody(productId))).data;
  await post('/payment/link/disable', { linkId });
  const before = (await get(`/payment/link/${linkId}`)).data;
  assert.equal((await post('/payment/link/update', before)).code, 0);
  const { data } = await get(`/payment/link/${linkId}`);
  assert.deepEqual([data.versionCode, data.status], [before.versionCode, 'disabled']);
  const mistaken = { ...before, lineItems: { items: [{ ...before.lineItems.items[0], unitPrice: 'x' }] } };
  const refusal = await post('/payment/link/update', mistaken);
  assert.equal(refusal.message, 'Invalid field: lineItems.items[0].unitPrice must be an integer');
});

test('an update refuses a link that changed since it was read', async () => {
  const { linkId } = (await post('/payment/link/create', linkBody(await addProduct()))).data;
  const read = (await get(`/payment/link/${linkId}`)).data;
  const updateAs = (linkName: string, ifUpdateAt: string) =>
    post('/payment/link/update', { ...read, linkName, ifUpdateAt });
  assert.equal((await updateAs('First', read.updateAt)).code, 0);
  assert.equal((await updateAs('Second', read.updateAt)).code, 100104);
  const { linkName, updateAt } = (await get(`/payment/link/${linkId}`)).data;
  assert.equal(linkName, 'First');
  assert.equal((await updateAs('Second', updateAt)).code, 0);
});

test('a link’s policy for short and late deposits is returned unchanged, and reset by an update without it', async () => {
  const exceptionPolicy = {
    underpaidPpm: 2_000,
    underpaidAmount: 500_000,
    latePayment: 'ask',
    lateHours: 48,
  };
  const body = linkBody(await addProduct(), { exceptionPolicy });
  const created = (await post('/payment/link/create', body)).data;
  assert.deepEqual(created.exceptionPolicy, exceptionPolicy);
  const { linkId } = created;
  const read = (await get(`/payment/link/${linkId}`)).data;
  assert.equal(JSON.stringify(read.exceptionPolicy), JSON.stringify(exceptionPolicy));
  assert.equal((await post('/payment/link/update', read)).code, 0);
  assert.equal((await get(`/payment/link/${linkId}`)).data.versionCode, created.versionCode);
  const plain = linkBody(await addProduct());
  assert.equal((await post('/payment/link/update', { linkId, ...plain, exceptionPolicy: {} })).code, 0);
  const reset = (await get(`/payment/link/${linkId}`)).data;
  assert.equal('exceptionPolicy' in reset, false);
  const mistakes = [
    [{ underpaid: 1 }, 'Invalid field: exceptionPolicy.underpaid is not a known field'],
    [{ lateHours: 169 }, 'Invalid field: exceptionPolicy.lateHours must be at most 168'],
  ] as const;
  for (const [policy, message] of mistakes)
    assert.equal(
      (await post('/payment/link/create', { ...plain, exceptionPolicy: policy })).message,
      message,
    );
});
