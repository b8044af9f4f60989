import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainLook } from '@florin/protocol/brand-look.ts';
import type { Products } from './florin.ts';
import { type Answer, failure, openTestService, success } from './service.fixture.ts';

const updateAt = '2026-01-02 03:04:05';
const branding = { color: '#0b6b4d', embedOrigins: ['https://shop.example'], legalName: 'Tea', updateAt };
const webhook = { webhookId: 'wkid_1', webhookName: 'Shop', webhookDescription: 'Tea', updateAt };
const product = { productId: 'prd_1', name: 'Tea', commonPrices: [1], imageStatus: 'hosted', updateAt };

/** Reads answer this; changes are taken. */
const keeps = (thing: object): Answer => {
  const read = success('productId' in thing ? [thing] : thing);
  return (response, request) =>
    (request.path.endsWith('/update') ? success({ success: true }) : read)(response, request);
};

test('an update keeps what it leaves out, resets what is null, and answers the result', async () => {
  await using service = await openTestService(
    keeps(branding),
    keeps(branding),
    keeps(branding),
    keeps(webhook),
  );
  const changes = { color: '#000000', legalName: null, font: undefined };
  assert.deepEqual(await service.florin.branding.update(changes), branding);
  assert.deepEqual(await service.florin.webhooks.update('wkid_1', { webhookDescription: null }), webhook);
  const { webhookDescription: _, ...kept } = webhook;
  assert.deepEqual(
    service.seen.map(({ path, body }) => [path.slice('/payment/v1'.length), body]),
    [
      ['/branding/detail', undefined],
      // The API keeps what is left out of a branding.
      ['/branding/update', { ...branding, color: '#000000', legalName: '', ifUpdateAt: updateAt }],
      ['/branding/detail', undefined],
      ['/webhook/detail/wkid_1', undefined],
      ['/webhook/update', { ...kept, ifUpdateAt: updateAt }],
      ['/webhook/detail/wkid_1', undefined],
    ],
  );
});

test('null gives every member of a branding the look of pages before the first update', async () => {
  const plain = { ...plainLook, logoUrl: '', darkLogoUrl: '', iconUrl: '', embedOrigins: [] };
  await using service = await openTestService(keeps({ ...plain, ...branding }));
  await service.florin.branding.update(Object.fromEntries(Object.keys(plain).map((name) => [name, null])));
  assert.deepEqual(service.seen[1]?.body, { ...plain, updateAt, ifUpdateAt: updateAt });
});

test('an update reads again when another change came between, but not past a read of the caller', async () => {
  const changed = failure(200, 100307, 'product_changed');
  const read = success([product]);
  await using service = await openTestService(read, changed, read, success({ success: true }), read);
  const { products } = service.florin;
  assert.deepEqual(await products.update('prd_1', { name: 'Mint' }), product);
  assert.equal(service.seen.length, 5);
  await using other = await openTestService(read, changed);
  const condition = { name: 'Mint', ifUpdateAt: '2026-01-01 00:00:00' };
  await assert.rejects(other.florin.products.update('prd_1', condition), { slug: 'product_changed' });
  assert.equal(other.seen.length, 2);
  assert.deepEqual(other.seen[1]?.body, { ...product, ...condition });
});

test('an update that others overtake waits by chance before each of twelve tries, then gives up', async () => {
  const tries = Array.from({ length: 11 }, () => [
    success([product]),
    failure(200, 100307, 'product_changed'),
  ]);
  await using service = await openTestService(...tries.flat(), keeps(product));
  const { products } = service.florin;
  assert.deepEqual(await products.update('prd_1', { name: 'Mint' }), product);
  assert.equal(service.seen.length, 25);
  // Chance is a half here.
  assert.deepEqual(service.waits, [50, 100, 200, 400, ...Array(7).fill(800)]);
  await using other = await openTestService((response, request) =>
    tries[0]?.[request.path.endsWith('/update') ? 1 : 0]?.(response, request),
  );
  await assert.rejects(other.florin.products.update('prd_1', { name: 'Mint' }), { slug: 'product_changed' });
  assert.equal(other.seen.length, 24);
});

test('null as ifUpdateAt is no condition of the caller, and the SDK’s own stays', async () => {
  await using service = await openTestService(keeps(product));
  await service.florin.products.update('prd_1', { name: 'Mint', ifUpdateAt: null });
  assert.deepEqual(service.seen[1]?.body, { ...product, name: 'Mint', ifUpdateAt: updateAt });
});

test('an id or changes that are missing are refused by their own names, and nothing is sent', async () => {
  await using service = await openTestService(keeps(product));
  const { branding, products } = service.florin;
  const nothing = Object([])[0];
  const slug = 'argument_invalid';
  for (const id of ['', nothing, Object({ productId: 'prd_1' })]) {
    await assert.rejects(products.update(id, { name: 'Mint' }), { slug, param: 'productId' });
    await assert.rejects(products.retrieve(id), { slug, param: 'productId' });
  }
  // The id among the changes.
  await assert.rejects(products.update(Object({ productId: 'prd_1', name: 'Mint' }), nothing), {
    slug,
    param: 'changes',
  });
  await assert.rejects(branding.update(nothing), { slug, param: 'changes' });
  assert.deepEqual(service.seen, []);
});

test('an update of a product whose image is still awaited needs the image', async () => {
  await using service = await openTestService(keeps({ ...product, imageUrl: '', imageStatus: 'pending' }));
  const { products } = service.florin;
  await assert.rejects(products.update('prd_1', { name: 'Mint' }), {
    slug: 'argument_invalid',
    param: 'imageUrl',
  });
  assert.equal(service.seen.length, 1);
  await products.update('prd_1', { name: 'Mint', imageUrl: null });
});

test('an update takes no key, no id and nothing that the service would ignore', async () => {
  await using service = await openTestService(keeps(product));
  const update: Products['update'] = service.florin.products.update;
  // @ts-expect-error the key would name another request at each try
  await assert.rejects(update('prd_1', {}, { idempotencyKey: 'A-1' }), { param: 'idempotencyKey' });
  // @ts-expect-error the id is an argument
  await update('prd_1', { productId: 'prd_2' });
  assert.deepEqual(service.seen.at(-2)?.body, { ...product, ifUpdateAt: updateAt });
  // @ts-expect-error archive() does it
  await update('prd_1', { status: 'archived' });
  // @ts-expect-error a product has a name
  await update('prd_1', { name: null });
});

test('null for a name that a thing cannot have is left to the service to refuse, and a link may lack what it can have', async () => {
  const link = { linkId: 'lnk_1', linkName: 'Tea', updateAt };
  await using service = await openTestService(keeps(product), keeps(product), keeps(product), keeps(link));
  await service.florin.products.update('prd_1', Object({ descripton: null }));
  assert.deepEqual(service.seen.at(-2)?.body, { ...product, descripton: null, ifUpdateAt: updateAt });
  await service.florin.links.update('lnk_1', { maxPayments: null, activeUntil: null });
  assert.deepEqual(service.seen.at(-2)?.body, { ...link, ifUpdateAt: updateAt });
});

test('a product is read by its id, and one that is not there is the error of the service', async () => {
  await using service = await openTestService(success([product]), success([]));
  assert.deepEqual(await service.florin.products.retrieve('prd_1'), product);
  assert.deepEqual(service.seen[0]?.body, { productIds: ['prd_1'] });
  await assert.rejects(service.florin.products.retrieve('prd_2'), {
    slug: 'product_not_found',
    code: 100301,
    docUrl: `${service.baseUrl}/docs/errors/100301`,
  });
});
