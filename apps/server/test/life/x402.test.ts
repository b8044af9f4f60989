import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import type { X402Payment, X402Receipt, X402Required, X402Settlement } from '@florin/protocol/x402.ts';
import { wrapAxiosWithPaymentFromConfig } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import axios from 'axios';
import { parseSignature } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { deepOnly } from '../harness/deep-only.ts';
import { Life } from './life.ts';
import { checkout } from './story-fixture.ts';
import { decoded, encoded, fundedAccount, offerAt, signedPayment } from './x402-client.ts';

let life: Life;
let linkId: string;
before(async () => {
  life = await Life.start();
  life.mine();
  const product = await life.post<{ productId: string }>('/product/create', {
    name: 'An answer',
    commonPrices: [2_000_000],
  });
  const link = await life.post<{ linkId: string }>('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Answers',
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId: product.productId, quantity: 1, unitPrice: 2_000_000 }],
  });
  linkId = link.linkId;
});
after(() => life.close());

/** A stock client with tokens on ethereum and no native coin for gas. */
async function client(amount: bigint) {
  const account = privateKeyToAccount(generatePrivateKey());
  const token = life.ethereum.token('usdc');
  await life.ethereum.mint(token, account.address, amount);
  const balance = () => life.ethereum.balanceOf(token, account.address);
  const config = {
    schemes: [{ network: 'eip155:31337', client: new ExactEvmScheme(account) }] as const,
    // The client's token list does not include a local chain's token.
    spendControls: { allowedAssets: true as const, maxAmountPerPayment: false as const },
  };
  return { account, balance, config };
}

const resource = (path: string) => `${life.options.origin}/aipay/x402${path}`;

// proves W8.3
test('a stock x402 fetch client pays a link and gets a receipt, and repeating its request pays nothing', async () => {
  const { account, balance, config } = await client(5_000_000n);
  const headers: string[] = [];
  const recording: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    const header = request.headers.get('payment-signature');
    if (header !== null) headers.push(header);
    return fetch(request);
  };
  const pay = wrapFetchWithPaymentFromConfig(recording, { ...config, schemes: [...config.schemes] });
  const response = await pay(resource(`/link/${linkId}`));
  assert.equal(response.status, 200, await response.clone().text());
  const { data } = (await response.json()) as { data: X402Receipt };
  const settlement = decoded<X402Settlement>(response.headers.get('payment-response'));
  assert.deepEqual(settlement, {
    success: true,
    transaction: data.txHash,
    network: 'eip155:31337',
    payer: account.address,
  });
  const done = await life.sessionIn(data.sessionId, 'completed');
  assert.deepEqual(
    [done.session.payer, done.session.amount, done.session.initiateTx],
    [account.address, 2_000_000, data.txHash],
  );
  const [header = ''] = headers;
  const repeats = await Promise.all(
    Array.from({ length: 5 }, () =>
      fetch(resource(`/link/${linkId}`), { headers: { 'payment-signature': header } }),
    ),
  );
  for (const repeat of repeats) {
    assert.equal(repeat.status, 200);
    assert.deepEqual(decoded(repeat.headers.get('payment-response')), settlement);
  }
  assert.equal(await balance(), 3_000_000n);
});

// proves W8.3
test('a stock x402 axios client pays a session and names its refund address', deepOnly, async () => {
  const { account, balance, config } = await client(4_000_000n);
  const sessionId = await checkout(life, 3_000_000);
  const pay = wrapAxiosWithPaymentFromConfig(axios.create(), { schemes: [...config.schemes] });
  const response = await pay.get(resource(`/session/${sessionId}?payer=${account.address}`));
  assert.equal(response.status, 200);
  const done = await life.sessionIn(sessionId, 'completed');
  assert.equal(done.session.payer, account.address);
  assert.equal(await balance(), 1_000_000n);
});

test('a plain transfer to the address of a session’s offer pays once a payment is presented for it by a stranger', async () => {
  const sessionId = await checkout(life, 3_000_000);
  const token = life.ethereum.token('usdc');
  const payer = (await fundedAccount(life, 0n)).address;
  const url = resource(`/session/${sessionId}?payer=${payer}`);
  const offer = await offerAt(url);
  await life.ethereum.mint(token, offer.payTo as Hex, BigInt(offer.amount));
  const stranger = await fundedAccount(life, 0n);
  const headers = { 'payment-signature': encoded(await signedPayment(stranger, offer)) };
  assert.equal((await fetch(url, { headers })).status, 409);
  const done = await life.sessionIn(sessionId, 'completed');
  assert.deepEqual([done.session.payer, done.session.amount], [payer, 3_000_000]);
});

// proves W8.3
test('an offer writes no row, and each offer has its own address', async () => {
  const before = await life.get<{ total: number }>('/session/list/all/1/1');
  const offers: X402Required[] = [];
  for (let count = 0; count < 3; count += 1) {
    const response = await fetch(resource(`/link/${linkId}`));
    assert.equal(response.status, 402);
    offers.push(decoded<X402Required>(response.headers.get('payment-required')));
  }
  const after = await life.get<{ total: number }>('/session/list/all/1/1');
  assert.equal(after.total, before.total);
  const addresses = offers.flatMap(({ accepts }) => accepts.map(({ payTo }) => payTo));
  assert.equal(new Set(addresses).size, addresses.length);
  assert.deepEqual(
    offers[0]?.accepts.map(({ network, asset, amount }) => [network, asset, amount]),
    [
      ['eip155:31337', life.ethereum.token('usdc').address, '2000000'],
      ['eip155:31338', life.base.token('usdc').address, '2000000'],
    ],
  );
});

async function addLink(body: object): Promise<string> {
  const terms = { accountId: life.accountId, settlementToken: 'ethereum::usdc', feeModel: 2 };
  const link = await life.post<{ linkId: string }>('/payment/link/create', {
    linkName: 'Tips',
    ...terms,
    ...body,
  });
  return link.linkId;
}

test(
  'a stock x402 client pays a custom link with its own amount, exactly with the fee',
  deepOnly,
  async () => {
    const tips = await addLink({ linkType: 'custom', lineItems: [{ itemType: 'user_priced', quantity: 1 }] });
    const { account, balance, config } = await client(5_000_000n);
    const pay = wrapFetchWithPaymentFromConfig(fetch, { ...config, schemes: [...config.schemes] });
    const response = await pay(resource(`/link/${tips}?amountInUSD=1.5&payer=${account.address}`));
    assert.equal(response.status, 200, await response.clone().text());
    const { data } = (await response.json()) as { data: X402Receipt };
    const done = await life.sessionIn(data.sessionId, 'completed');
    assert.deepEqual(
      [done.session.payer, done.transaction?.totalValue, done.transaction?.feeValue, done.session.amount],
      [account.address, 1_500_000, 2_995, 1_497_005],
    );
    assert.equal(await balance(), 3_500_000n);
  },
);

test(
  'a request that x402 cannot express is refused with a code that says what to do instead',
  deepOnly,
  async () => {
    const user = { linkType: 'custom', lineItems: [{ itemType: 'user_priced', quantity: 1 }] };
    const [tips, asking] = [await addLink(user), await addLink({ ...user, payerEmailRequired: 1 })];
    const answers = await Promise.all(
      [
        `/link/${tips}`,
        `/link/${tips}?amountInUSD=1,5`,
        `/link/${tips}?amountInUSD=0`,
        `/link/${tips}?amountInUSD=9999999999`,
        `/link/${linkId}?amountInUSD=1`,
        `/link/${asking}?amountInUSD=1`,
      ].map(async (path) => {
        const response = await fetch(resource(path));
        const body = (await response.json()) as { code: number; error: { param: string } };
        return [response.status, body.code, body.error.param];
      }),
    );
    const amount = (code: number) => [400, code, 'amountInUSD'];
    assert.deepEqual(answers, [...[400101, 400101, 400101, 100209, 400101].map(amount), [400, 100610, '']]);
  },
);

// proves W8.3
test('an unknown outcome is answered as pending with its hash, and a repeat gets the outcome', async () => {
  const { balance, config } = await client(2_000_000n);
  let header = '';
  const recording: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    header = request.headers.get('payment-signature') ?? header;
    return fetch(request);
  };
  const pay = wrapFetchWithPaymentFromConfig(recording, { ...config, schemes: [...config.schemes] });
  await life.pauseMining();
  const response = await pay(resource(`/link/${linkId}`));
  assert.equal(response.status, 202);
  const pending = decoded<X402Settlement>(response.headers.get('payment-response'));
  assert.deepEqual([pending.success, pending.errorReason], [false, 'settlement_pending']);
  assert.match(pending.transaction, /^0x[0-9a-f]{64}$/);
  life.mine();
  const again = await fetch(resource(`/link/${linkId}`), { headers: { 'payment-signature': header } });
  assert.equal(again.status, 200);
  assert.equal(await balance(), 0n);
});

// proves W8.3
test('a sent payment is answered even if its link has changed, and no further payment is requested', async () => {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'A page',
    commonPrices: [1_000_000],
  });
  const priced = (unitPrice: number) => ({
    linkType: 'fixed',
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice }],
  });
  const pages = await addLink(priced(1_000_000));
  const { balance, config } = await client(2_000_000n);
  let header = '';
  const recording: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    header = request.headers.get('payment-signature') ?? header;
    return fetch(request);
  };
  const pay = wrapFetchWithPaymentFromConfig(recording, { ...config, schemes: [...config.schemes] });
  const response = await pay(resource(`/link/${pages}`));
  assert.equal(response.status, 200, await response.clone().text());
  const settlement = decoded<X402Settlement>(response.headers.get('payment-response'));
  const repeat = async () => {
    const again = await fetch(resource(`/link/${pages}`), { headers: { 'payment-signature': header } });
    return [again.status, decoded<X402Settlement>(again.headers.get('payment-response') ?? 'bnVsbA==')];
  };
  const { accountId } = life;
  const terms = { linkName: 'Pages', accountId, settlementToken: 'ethereum::usdc', feeModel: 2 };
  await life.post('/payment/link/update', { linkId: pages, ...terms, ...priced(3_000_000) });
  assert.deepEqual(await repeat(), [200, settlement]);
  await life.post('/payment/link/disable', { linkId: pages });
  assert.deepEqual(await repeat(), [200, settlement]);
  const closed = await fetch(resource(`/link/${pages}`));
  assert.deepEqual([closed.status, ((await closed.json()) as { code: number }).code], [410, 100103]);
  assert.equal(await balance(), 998_000n);
});

test(
  'a payment that a third party sent to its address is answered even if its link has changed',
  deepOnly,
  async () => {
    const priced = (amount: number) => ({
      ...{
        linkType: 'fixed',
        linkName: 'Pages',
        accountId: life.accountId,
        settlementToken: 'ethereum::usdc',
      },
      ...{ feeModel: 1, lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: amount }] },
    });
    const product = { name: 'A page', commonPrices: [1_000_000] };
    const { productId } = await life.post<{ productId: string }>('/product/create', product);
    const pages = await addLink(priced(1_000_000));
    const { account, balance, config } = await client(2_000_000n);
    let header = '';
    const overtaken: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      header = request.headers.get('payment-signature') ?? '';
      if (header === '') return fetch(request);
      const { authorization, signature } = decoded<X402Payment>(header).payload;
      const { to, value, validAfter, validBefore, nonce } = authorization;
      const { r, s, v } = parseSignature(signature as Hex);
      const terms = [account.address, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce];
      const token = life.ethereum.token('usdc').address;
      await life.ethereum.call(token, 'LocalUsdc', 'transferWithAuthorization', [...terms, v, r, s]);
      return fetch(request);
    };
    const pay = wrapFetchWithPaymentFromConfig(overtaken, { ...config, schemes: [...config.schemes] });
    const { data } = (await (await pay(resource(`/link/${pages}`))).json()) as { data: X402Receipt };
    const { session } = await life.sessionIn(data.sessionId, 'completed');
    await life.post('/payment/link/update', { linkId: pages, ...priced(3_000_000) });
    const again = await fetch(resource(`/link/${pages}`), { headers: { 'payment-signature': header } });
    assert.equal(again.status, 200);
    const { success, transaction } = decoded<X402Settlement>(again.headers.get('payment-response'));
    assert.deepEqual([success, transaction], [true, session.initiateTx]);
    assert.ok((await balance()) < 2_000_000n);
  },
);

test('a payment for terms that the service did not offer is refused, and nothing is sent', async () => {
  const { balance, config } = await client(9_000_000n);
  const changing: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    const header = request.headers.get('payment-signature');
    if (header === null) return fetch(request);
    const payment = decoded<{ accepted: { amount: string } }>(header);
    payment.accepted.amount = '1';
    request.headers.set('payment-signature', Buffer.from(JSON.stringify(payment)).toString('base64'));
    return fetch(request);
  };
  const pay = wrapFetchWithPaymentFromConfig(changing, { ...config, schemes: [...config.schemes] });
  const response = await pay(resource(`/link/${linkId}`));
  assert.equal(response.status, 402);
  const { error } = decoded<X402Required>(response.headers.get('payment-required'));
  assert.equal(error, 'invalid_payment_requirements');
  const poor = await client(1n);
  const refused = await wrapFetchWithPaymentFromConfig(fetch, {
    ...poor.config,
    schemes: [...poor.config.schemes],
  })(resource(`/link/${linkId}`));
  assert.equal(refused.status, 402);
  assert.equal(decoded<X402Required>(refused.headers.get('payment-required')).error, 'insufficient_funds');
  assert.equal(await balance(), 9_000_000n);
});

// proves W8.16
test('stock clients see by the status what cannot be paid, and pay nothing', deepOnly, async () => {
  const { account, balance, config } = await client(5_000_000n);
  const pay = wrapFetchWithPaymentFromConfig(fetch, { ...config, schemes: [...config.schemes] });
  const payByAxios = wrapAxiosWithPaymentFromConfig(axios.create({ validateStatus: () => true }), {
    schemes: [...config.schemes],
  });
  const [cancelled, paid, open] = await Promise.all([1, 2, 3].map(() => checkout(life, 1_000_000)));
  await life.post('/session/checkout/cancel', { sessionId: cancelled });
  const closed = await addLink({ linkType: 'custom', lineItems: [{ itemType: 'user_priced', quantity: 1 }] });
  await life.post('/payment/link/disable', { linkId: closed });
  const payer = `?payer=${account.address}`;
  assert.equal((await pay(resource(`/session/${paid}${payer}`))).status, 200);
  const wanted: readonly (readonly [path: string, status: number, code: number])[] = [
    ['/link/lnk_unknown', 404, 100101],
    [`/link/${'a'.repeat(300)}`, 404, 100101],
    ['/link/%00', 404, 100101],
    [`/session/sess_unknown${payer}`, 404, 100201],
    [`/link/${closed}?amountInUSD=1`, 410, 100103],
    [`/session/${cancelled}${payer}`, 410, 100205],
    [`/session/${paid}${payer}`, 409, 100204],
    [`/session/${open}`, 400, 400101],
    [`/session/${open}?payer=0x12`, 400, 400101],
    [`/session/${open}${payer}&payer=${account.address}`, 400, 400101],
  ];
  await life.sessionIn(paid ?? '', 'paid', 'settling', 'completed');
  for (const [path, status, code] of wanted) {
    const response = await pay(resource(path));
    const body = (await response.json()) as { code: number };
    const byAxios = await payByAxios.get<{ code: number }>(resource(path));
    assert.deepEqual([response.status, body.code], [status, code], path);
    assert.deepEqual([byAxios.status, byAxios.data.code], [status, code], path);
  }
  const malformed = await Promise.all(
    ['', 'no base64 of JSON', Buffer.from('{"x402Version":1}').toString('base64')].map((header) =>
      fetch(resource(`/link/${linkId}`), { headers: { 'payment-signature': header } }),
    ),
  );
  assert.deepEqual(
    malformed.map(({ status }) => status),
    [400, 400, 400],
  );
  assert.equal(await balance(), 4_000_000n);
});
