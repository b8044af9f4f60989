import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { type Answer, openTestApi, type TestApi } from './api.fixture.ts';

const account = { accountId: 'acc_1', settlementCurrencies: ['base::usdc'] };
const product = { productId: 'prd_1', name: 'Tea', status: 'active', commonPrices: [3_000_000] };

const answer: Answer = ({ path }) => {
  if (path.endsWith('/account/list')) return [account];
  if (path.endsWith('/product/list/by/ids')) return [product];
  return { linkId: 'lnk_1', linkUrl: 'https://pay.example.com/link/lnk_1', success: true };
};

/** The last body that a command line sends, and its Idempotency-Key. */
async function sentBy(api: TestApi, args: readonly string[], stdin = ''): Promise<unknown> {
  const environment = { XDG_CONFIG_HOME: api.folder, FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_test' };
  const streams = { input: Readable.from([stdin]), output: new PassThrough() };
  const { exitCode, stderr } = await api.run(args, { environment, streams });
  assert.equal(exitCode, 0, stderr);
  return api.seen.at(-1)?.body;
}

test('flags become the members of a body: dollars are Micro-USD, and the only account is found', async () => {
  await using api = await openTestApi(answer);
  const products = ['--product', 'prd_1', '--product', 'prd_2=4.50*2'];
  const back = ['--success-url', 'https://shop.example/thanks', '--cancel-url', 'https://shop.example/cart'];
  const link = ['links', 'create', '--name', 'Breakfast', '--token', 'base::usdc', ...products, ...back];
  assert.deepEqual(await sentBy(api, [...link, '--fee', 'payer', '--active-until', '2030-01-31T00:00:00Z']), {
    linkType: 'fixed',
    linkName: 'Breakfast',
    settlementToken: 'base::usdc',
    accountId: 'acc_1',
    lineItems: [
      { itemType: 'product', productId: 'prd_1', quantity: 1, unitPrice: 3_000_000 },
      { itemType: 'product', productId: 'prd_2', quantity: 2, unitPrice: 4_500_000 },
    ],
    feeModel: 2,
    successUrl: 'https://shop.example/thanks',
    cancelUrl: 'https://shop.example/cart',
    activeUntil: 1_896_048_000,
  });
  const search = ['--metadata', 'order=A-1=2', '--min', '0.000001', '--text', 'flat white', '--limit', '5'];
  const found = await openTestApi(() => ({ sessions: [], hasMore: false, nextCursor: '' }));
  await using _ = found;
  assert.deepEqual(await sentBy(found, ['sessions', 'search', ...search]), {
    metadata: { order: 'A-1=2' },
    amountFrom: 1,
    text: 'flat white',
    size: 5,
  });
});

test('a product that is not there is the error of the API, as a session is', async () => {
  await using api = await openTestApi(() => []);
  const environment = {
    XDG_CONFIG_HOME: api.folder,
    FLORIN_URL: `${api.url}/payment/v1`,
    FLORIN_KEY: 'sk_live_a',
  };
  const { exitCode, stdout } = await api.run(['products', 'retrieve', 'prd_nope', '--json'], { environment });
  assert.deepEqual(
    [exitCode, JSON.parse(stdout).error],
    [
      1,
      {
        ...{ slug: 'product_not_found', message: 'Product not found: prd_nope (100301)', code: 100_301 },
        ...{ param: '', retryable: false, remedy: 'Check the ids.', requestId: '' },
        docUrl: `${api.url}/docs/errors/100301`,
      },
    ],
  );
});

test('the key of a webhook is shown on request alone', async () => {
  const webhook = {
    webhookId: 'wkid_1',
    webhookName: 'Shop',
    ...{ subscribedEvents: ['*'], webhookUrl: '', status: 'active' },
    key: `whsec_${'a'.repeat(40)}tail`,
  };
  const page = { webhooks: [webhook], hasMore: false, nextCursor: '' };
  await using api = await openTestApi(({ path }) => (path.includes('/list') ? page : webhook));
  const environment = { FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_test' };
  const shownBy = async (...line: readonly string[]) =>
    JSON.parse((await api.run(['webhooks', ...line, '--json'], { environment })).stdout);
  const masked = { ...webhook, key: 'whsec_****tail' };
  assert.deepEqual(await shownBy('retrieve', 'wkid_1'), masked);
  assert.deepEqual(await shownBy('update', 'wkid_1', '--events', 'session.paid'), masked);
  assert.deepEqual(await shownBy('list'), [masked]);
  assert.deepEqual(await shownBy('retrieve', 'wkid_1', '--show-key'), webhook);
  assert.deepEqual(
    await shownBy('create', '--name', 'Shop', '--to', 'https://shop.example', '--events', '*'),
    webhook,
  );
});

test('a refund without an amount asks at a terminal, and a script gets what the help says', async () => {
  await using api = await openTestApi(() => ({ refundId: 'rfd_1', amount: 1_000_000, status: 'pending' }));
  const environment = { FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_test' };
  const refund = async (answer: string, isTTY: boolean, ...more: readonly string[]) => {
    const streams = { input: Object.assign(Readable.from([answer]), { isTTY }), output: new PassThrough() };
    api.told.length = api.seen.length = 0;
    const line = ['refunds', 'create', '--session', 'sess_1', ...more];
    const { exitCode, stderr } = await api.run(line, { environment, streams });
    return [exitCode, stderr, api.told, api.seen.length];
  };
  const question = 'Without --amount all that is left of sess_1 goes back. Do that? [y/N]';
  const refusal = 'nothing was refunded: give --amount, or answer y\n';
  assert.deepEqual(await refund('n\n', true), [1, refusal, [question], 0]);
  assert.deepEqual(await refund('', true), [1, refusal, [question], 0]);
  assert.deepEqual(await refund('y\n', true), [0, '', [question], 1]);
  assert.deepEqual(await refund('', true, '--yes'), [0, '', [], 1]);
  assert.deepEqual(await refund('', true, '--amount', '1'), [0, '', [], 1]);
  assert.deepEqual(await refund('', false), [0, '', [], 1]);
});

test('--body has what has no flag, from the line, a file or standard input, and flags win', async () => {
  await using api = await openTestApi(answer);
  const file = join(api.folder, 'product.json');
  const body = { name: 'Tea', commonPrices: [1], description: 'green' };
  writeFileSync(file, JSON.stringify(body));
  const args = ['products', 'create', '--name', 'Cup', '--idempotency-key', 'once', '--body'];
  for (const source of [JSON.stringify(body), `@${file}`, '-'])
    assert.deepEqual(await sentBy(api, [...args, source], JSON.stringify(body)), { ...body, name: 'Cup' });
  assert.equal(api.seen.at(-1)?.idempotencyKey, 'once');
  const missing = await api.run([...args, '@none.json'], {
    environment: { FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_test' },
  });
  assert.match(missing.stderr, /^--body @none\.json cannot be read: ENOENT/);
});

test('an update sends what its flags name and keeps the rest; without any it is refused', async () => {
  const updateAt = '2026-01-02 03:04:05';
  await using api = await openTestApi(({ path }) =>
    path.endsWith('/by/ids') ? [{ ...product, description: 'Green', updateAt }] : { success: true },
  );
  const environment = { XDG_CONFIG_HOME: api.folder, FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_test' };
  const update = (...args: readonly string[]) =>
    api.run(['products', 'update', 'prd_1', ...args], { environment });
  const { stdout } = await update('--price', '4.80', '--body', '{"name":"Mint"}');
  assert.match(stdout, /^productId +prd_1$/m);
  const sent = { ...product, description: 'Green', name: 'Mint', commonPrices: [4_800_000] };
  assert.deepEqual(api.seen[1]?.body, { ...sent, updateAt, ifUpdateAt: updateAt });
  const none = await update();
  assert.deepEqual([none.exitCode, none.stderr.startsWith('name what to change')], [2, true]);
});

test('open prints addresses, and starts a browser for web pages alone', async () => {
  const launched: string[] = [];
  let linkUrl = 'https://pay.example.com/link/lnk_1';
  await using api = await openTestApi(() => ({ linkId: 'lnk_1', linkUrl }));
  const environment = { FLORIN_URL: `${api.url}/payment/v1`, FLORIN_KEY: 'sk_live_test' };
  const open = (...args: readonly string[]) =>
    api.run(['open', ...args], { environment, launch: (url) => launched.push(url) });
  assert.equal((await open()).stdout, `${api.url}/dashboard\n`);
  assert.equal((await open('docs')).stdout, `${api.url}/docs\n`);
  assert.equal((await open('lnk_1', '--browser')).stdout, `${linkUrl}\n`);
  assert.deepEqual(launched, [linkUrl]);
  linkUrl = 'file:///etc/passwd';
  assert.equal((await open('lnk_1', '--browser')).exitCode, 2);
  assert.match((await open('acc_1')).stderr, /^there is no page of acc_1: /);
  assert.equal(launched.length, 1);
});
