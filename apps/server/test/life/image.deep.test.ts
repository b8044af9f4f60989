import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Branding } from '@florin/protocol/branding.ts';
import type { Product } from '@florin/protocol/product.ts';
import sharp from 'sharp';
import { searchSnapshots } from '#sessions/session-search.ts';
import { startService } from '../../src/service/service.ts';
import { type ImageSource, startImageSource } from '../harness/image-source.ts';
import { sampleImage } from '../harness/sample-image.ts';
import { Life } from './life.ts';

let life: Life;
let source: ImageSource;
let folder: string;
before(async () => {
  source = await startImageSource();
  folder = await mkdtemp(join(tmpdir(), 'florin-images-'));
  const images = {
    store: { kind: 'folder', folder },
    allowLoopback: true,
    certificateAuthority: source.ca,
  } as const;
  life = await Life.start((options) => startService({ ...options, images }));
  source.serve('/tea.jpg', await sampleImage('jpeg', 2000, 1000));
  source.serve('/cup.png', await sampleImage('png', 300, 300));
});
after(async () => {
  await life.close();
  await source.close();
  await rm(folder, { recursive: true, force: true });
});

const tea = { name: 'Tea', commonPrices: [1_000_000] };

async function product(productId: string): Promise<Product> {
  const [found] = await life.post<Product[]>('/product/list/by/ids', { productIds: [productId] });
  assert.ok(found !== undefined);
  return found;
}

interface LinkView {
  readonly versionCode: string;
  readonly lineItems: { readonly items: readonly { readonly productData: { readonly imageUrl: string } }[] };
}

async function linkOf(productId: string): Promise<string> {
  const link = await life.post<{ linkId: string }>('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Tea shop',
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 1_000_000 }],
  });
  return link.linkId;
}

// proves S2.4, S4.4
test('a product’s image is shown wherever the product is, and changes the version of its links', async () => {
  const imageUrl = `${source.origin}/tea.jpg`;
  const created = await life.post<Product>('/product/create', { ...tea, imageUrl });
  const { productId } = created;
  const name = /\/images\/([0-9A-Za-z]{22})-1280\.webp$/.exec(created.imageUrl)?.[1];
  assert.ok(name !== undefined);
  assert.deepEqual(
    [created.imageUrl, created.imageStatus, created.imageReason],
    [`${life.options.origin}/images/${name}-1280.webp`, 'hosted', ''],
  );

  const served = await fetch(created.imageUrl);
  const { format, width, height } = await sharp(await served.arrayBuffer()).metadata();
  assert.deepEqual([format, width, height], ['webp', 1280, 640]);
  assert.deepEqual(
    [
      'content-type',
      'cache-control',
      'content-security-policy',
      'cross-origin-resource-policy',
      'x-content-type-options',
    ].map((header) => served.headers.get(header)),
    [
      'image/webp',
      'public, max-age=31536000, immutable',
      "default-src 'none'; sandbox",
      'cross-origin',
      'nosniff',
    ],
  );

  const linkId = await linkOf(productId);
  const before = await life.get<LinkView>(`/payment/link/${linkId}`);
  assert.equal(before.lineItems.items[0]?.productData.imageUrl, created.imageUrl);
  const agentView = await fetch(`${life.options.origin}/aipay/api/v1/payment/link/${linkId}`);
  assert.ok((await agentView.text()).includes(created.imageUrl));
  const page = await fetch(`${life.options.origin}/link/${linkId}`);
  assert.match(await page.text(), new RegExp(`<img src="${life.options.origin}/images/${name}-96\\.webp"`));
  assert.match(page.headers.get('content-security-policy') ?? '', /img-src 'self'/);

  const session = await life.post<{ lineItems: LinkView['lineItems'] }>('/session/checkout/create', {
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    lineItems: [{ itemType: 'product', productId, quantity: 1 }],
  });
  assert.equal(session.lineItems.items[0]?.productData.imageUrl, created.imageUrl);
  const search = { merchantId: life.merchantId, after: 0n, limit: 10 };
  const found = await searchSnapshots(life.database.db, { ...search, text: `/images/${name}-` });
  assert.deepEqual([found.isFound, typeof found.last], [true, 'bigint']);
  const last = found.last ?? 0n;
  assert.deepEqual(await searchSnapshots(life.database.db, { ...search, text: '/images/other-' }), {
    isFound: false,
    last,
  });
  assert.deepEqual(await searchSnapshots(life.database.db, { ...search, text: name, after: last }), {
    isFound: false,
    last: undefined,
  });

  await life.post('/product/update', { productId, ...tea, imageUrl: `${source.origin}/cup.png` });
  const replaced = await product(productId);
  assert.notEqual(replaced.imageUrl, created.imageUrl);
  const moved = await life.get<LinkView>(`/payment/link/${linkId}`);
  assert.notEqual(moved.versionCode, before.versionCode);
  assert.equal(moved.lineItems.items[0]?.productData.imageUrl, replaced.imageUrl);
  // Old pages and snapshots still show the old image.
  assert.equal((await fetch(created.imageUrl)).status, 200);
});

// proves W6.34
test('an update with the answer of a read keeps the image and the version, without a request to the source', async () => {
  const imageUrl = `${source.origin}/cup.png`;
  const { productId } = await life.post<Product>('/product/create', { ...tea, imageUrl });
  const linkId = await linkOf(productId);
  const before = await life.get<LinkView>(`/payment/link/${linkId}`);
  const asked = source.asked.length;
  const read = await product(productId);
  await life.post('/product/update', read);
  assert.deepEqual({ ...(await product(productId)), updateAt: '' }, { ...read, updateAt: '' });
  assert.equal((await life.get<LinkView>(`/payment/link/${linkId}`)).versionCode, before.versionCode);
  assert.equal(source.asked.length, asked);
  await life.post('/product/update', { productId, ...tea });
  const { imageUrl: none, imageStatus } = await product(productId);
  assert.deepEqual([none, imageStatus], ['', 'none']);
});

// proves S7.8
test('a source that fails leaves a product without an image, and the answer says why', async () => {
  const gone = `${source.origin}/gone.png`;
  const created = await life.post<Product>('/product/create', { ...tea, imageUrl: gone });
  assert.deepEqual(
    [created.imageUrl, created.imageStatus, created.imageReason],
    ['', 'pending', 'answered 404'],
  );
  const { productId } = await life.post<Product>('/product/create', {
    ...tea,
    imageUrl: `${source.origin}/cup.png`,
  });
  await life.post('/product/update', { productId, ...tea, imageUrl: 'https://10.0.0.1/cup.png' });
  const { imageUrl, imageStatus, imageReason } = await product(productId);
  assert.deepEqual([imageUrl, imageStatus, imageReason], ['', 'failed', 'address not allowed']);
});

test('repeated requests with one idempotency key download once and create one product', async () => {
  const key = randomUUID();
  const path = `/once-${key}.png`;
  const bytes = await sampleImage('png', 50, 50);
  source.serve(path, (response) => response.end(bytes));
  const create = async (body: object) => {
    const response = await fetch(`${life.options.origin}/payment/v1/product/create`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${life.secretKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ ...tea, ...body }),
    });
    return { replayed: response.headers.get('idempotent-replayed'), text: await response.text() };
  };
  const imageUrl = source.origin + path;
  const first = await create({ imageUrl });
  const second = await create({ imageUrl });
  assert.deepEqual([first.replayed, second], [null, { replayed: 'true', text: first.text }]);
  assert.deepEqual(
    source.asked.filter((asked) => asked === path),
    [path],
  );
  const other = await create({ imageUrl: `${imageUrl}?other` });
  assert.equal(JSON.parse(other.text).code, 400_401);
});

test('concurrent requests with one key create one product', async () => {
  const key = randomUUID();
  const path = `/race-${key}.png`;
  const bytes = await sampleImage('png', 50, 50);
  const waiting: (() => void)[] = [];
  source.serve(path, (response) => {
    waiting.push(() => response.end(bytes));
    // Both have searched for an earlier answer, and found none.
    if (waiting.length === 2) for (const answer of waiting) answer();
  });
  const create = async () => {
    const response = await fetch(`${life.options.origin}/payment/v1/product/create`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${life.secretKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ ...tea, imageUrl: source.origin + path }),
    });
    return (await response.json()) as { code: number; data: Product | null };
  };
  const answers = await Promise.all([create(), create()]);
  const made = answers.flatMap((answer) => answer.data?.productId ?? []);
  assert.equal(new Set(made).size, 1);
  for (const { code } of answers) assert.ok(code === 0 || code === 400_402, String(code));
});

// proves S2.10
test('the image of a one_time item is hosted, shown with its session and kept for it', async () => {
  const item = (path: string) => ({
    itemType: 'one_time',
    quantity: 1,
    unitPrice: 1_000_000,
    productData: { productName: 'Cup', imageUrl: source.origin + path },
  });
  const body = {
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    lineItems: [item('/cup.png'), item('/broken.png'), item('/cup.png')],
  };
  const created = await life.post<LinkView & { sessionId: string }>('/session/checkout/create', body);
  const shown = created.lineItems.items.map(({ productData }) => productData.imageUrl);
  const [hosted = ''] = shown;
  const name = /\/images\/([0-9A-Za-z]{22})-1280\.webp$/.exec(hosted)?.[1];
  assert.ok(name !== undefined);
  assert.deepEqual(shown, [hosted, '', hosted]);
  const response = await fetch(hosted);
  await response.arrayBuffer();
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'image/webp']);
  const { session } = await life.get<{ session: LinkView }>(`/session/${created.sessionId}`);
  assert.deepEqual(session.lineItems, created.lineItems);
  const search = { merchantId: life.merchantId, text: `/images/${name}-`, after: 0n, limit: 1_000 };
  assert.equal((await searchSnapshots(life.database.db, search)).isFound, true);
});

test('pages show the branding that was set through the API: logo, colour and the merchant’s name', async () => {
  const imageUrl = `${source.origin}/cup.png`;
  const { productId } = await life.post<Product>('/product/create', { ...tea, imageUrl });
  const linkId = await linkOf(productId);
  const before = await life.get<LinkView>(`/payment/link/${linkId}`);
  const logoUrl = `${source.origin}/tea.jpg`;
  assert.deepEqual(await life.post('/branding/update', { logoUrl, color: '#FFE600' }), { success: true });
  const branding = await life.get<Branding>('/branding/detail');
  assert.equal(branding.color, '#ffe600');
  const name = /\/images\/([0-9A-Za-z]{22})-1280\.webp$/.exec(branding.logoUrl)?.[1];
  assert.ok(name !== undefined);
  // Sending back the result of a read keeps the logo.
  await life.post('/branding/update', branding);
  assert.deepEqual(
    { ...(await life.get<Branding>('/branding/detail')), updateAt: '' },
    { ...branding, updateAt: '' },
  );

  const page = await fetch(`${life.options.origin}/link/${linkId}`);
  const text = await page.text();
  assert.ok(
    text.includes(`<img class="logo dark-plate" src="${life.options.origin}/images/${name}-320.webp"`),
  );
  assert.ok(text.includes('Story Shop</'));
  const styles = [...text.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style = '']) => style);
  const hashes = styles.map((style) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  const policy = page.headers.get('content-security-policy') ?? '';
  const allowed = /style-src ([^;]*);/.exec(policy)?.[1]?.split(' ') ?? [];
  assert.deepEqual(hashes.toSorted(), allowed.toSorted());
  assert.ok(styles.some((style) => /--accent: #ffe600; --on-accent: #000000/.test(style)));
  assert.equal((await life.get<LinkView>(`/payment/link/${linkId}`)).versionCode, before.versionCode);

  const gone = await life.call('POST', '/branding/update', { logoUrl: `${source.origin}/gone.png` });
  assert.deepEqual(
    [gone.code, gone.message],
    [400_101, 'Invalid field: logoUrl cannot be used: answered 404'],
  );
  const wrong = await life.call('POST', '/branding/update', { color: 'red;} body {display:none' });
  assert.equal(wrong.code, 400_101);
  await life.post('/branding/update', { logoUrl: '', color: '' });
  const empty = await life.get<Branding>('/branding/detail');
  assert.deepEqual([empty.logoUrl, empty.color], ['', '']);
});
