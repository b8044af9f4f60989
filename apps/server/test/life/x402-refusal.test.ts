import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { X402Payment, X402Requirements, X402Settlement } from '@florin/protocol/x402.ts';
import fc from 'fast-check';
import { parseSignature } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { defaultWaitingLimits } from '#x402/waiting.ts';
import { startService } from '../../src/service/service.ts';
import { isDeepRun } from '../harness/deep-only.ts';
import { Life } from './life.ts';
import { checkout } from './story-fixture.ts';
import { decoded, encoded, fundedAccount, offerAt, signedPayment } from './x402-client.ts';

const countRows = statement({
  name: 'forged_rows',
  columns: {
    sessions: 'int8',
    orders: 'int8',
    submissions: 'int8',
    payments: 'int8',
    sent: 'int8',
    events: 'int8',
  },
  text: `select (select count(*) from sessions) as sessions, (select count(*) from orders) as orders,
     (select count(*) from submissions) as submissions, (select count(*) from x402_payments) as payments,
     (select count(*) from sent_transactions) as sent, (select count(*) from events) as events`,
});

const price = 2_000_000n;
const maxOpenSessions = 3;
let life: Life;
let linkIds: string[];
/** Fresh unpaid offers, and valid payments for them. */
let unpaid: { path: string; payment: X402Payment }[];
/** Accepted payments of payers other than the forger. */
let taken: { path: string; payment: X402Payment }[];
let victim: PrivateKeyAccount;
let stranger: PrivateKeyAccount;

before(async () => {
  // Requests wait for blocks without a practical limit, so that no clock decides their answers.
  const waitMs = { x402WaitMs: 600_000 };
  life = await Life.start((options) => {
    const { gasless } = options;
    return startService({
      ...options,
      maxOpenSessions,
      ...(gasless === undefined ? {} : { gasless: { ...gasless, ...waitMs } }),
    });
  });
  life.mine();
  linkIds = [await addLink(), await addLink()];
  victim = await fundedAccount(life, 10n * price);
  stranger = await fundedAccount(life, 0n);
  const paths = async () => [`/link/${linkIds[0]}`, await sessionPath(victim)];
  unpaid = await signedFor(await paths());
  taken = await signedFor(await paths());
  for (const { path, payment } of taken) {
    const { status, receipt } = await send(path, payment);
    assert.deepEqual([status, receipt?.success, receipt?.payer], [200, true, victim.address]);
  }
  for (const { path, payment } of taken) {
    const { body } = await send(path, payment);
    await life.sessionIn(body.data?.sessionId ?? '', 'completed');
  }
});
after(() => life.close());

async function addLink(): Promise<string> {
  const product = { name: 'An answer', commonPrices: [Number(price)] };
  const { productId } = await life.post<{ productId: string }>('/product/create', product);
  const item = { itemType: 'product', productId, quantity: 1, unitPrice: Number(price) };
  const terms = { accountId: life.accountId, settlementToken: 'ethereum::usdc', feeModel: 1 };
  const link = { linkType: 'fixed', linkName: 'Answers', lineItems: [item], ...terms };
  return (await life.post<{ linkId: string }>('/payment/link/create', link)).linkId;
}

async function sessionPath(payer: PrivateKeyAccount): Promise<string> {
  return `/session/${await checkout(life, Number(price))}?payer=${payer.address}`;
}

const urlOf = (path: string) => `${life.options.origin}/aipay/x402${path}`;

function signedFor(paths: readonly string[]) {
  return Promise.all(
    paths.map(async (path) => ({ path, payment: await signedPayment(victim, await offerAt(urlOf(path))) })),
  );
}

interface Answer {
  readonly status: number;
  /** Undefined when the answer is not a receipt, neither of a success nor of a pending payment. */
  readonly receipt: X402Settlement | undefined;
  readonly retryAfter: string | null;
  readonly body: { readonly code?: number; readonly error?: unknown; readonly data?: { sessionId?: string } };
}

async function send(path: string, payment: unknown): Promise<Answer> {
  const response = await fetch(urlOf(path), { headers: { 'payment-signature': encoded(payment) } });
  const receipt = response.headers.get('payment-response');
  return {
    status: response.status,
    receipt: receipt === null ? undefined : decoded<X402Settlement>(receipt),
    retryAfter: response.headers.get('retry-after'),
    body: (await response.json()) as Answer['body'],
  };
}

/** Sends payments that the service must refuse: none gets a receipt, and none leaves a row. */
async function assertRefused(
  forgeries: readonly (readonly [name: string, path: string, payment: unknown])[],
) {
  const { db } = life.database;
  const [rows] = await db.query(countRows);
  for (const [name, path, payment] of forgeries) {
    const { status, receipt, body } = await send(path, payment);
    assert.equal(receipt, undefined, name);
    assert.ok([400, 402, 409, 410].includes(status), `${name}: ${status} ${JSON.stringify(body)}`);
  }
  assert.deepEqual(await db.query(countRows), [rows]);
}

type Change = (payment: X402Payment) => unknown;
const withAuthorization =
  (changed: Partial<X402Payment['payload']['authorization']>): Change =>
  ({ payload, ...payment }) => ({
    ...payment,
    payload: { ...payload, authorization: { ...payload.authorization, ...changed } },
  });
const withOffer =
  (change: (accepted: X402Requirements) => Partial<X402Requirements>): Change =>
  ({ accepted, ...payment }) => ({ ...payment, accepted: { ...accepted, ...change(accepted) } });
const withSignature =
  (change: (signature: string) => string): Change =>
  ({ payload, ...payment }) => ({
    ...payment,
    payload: { ...payload, signature: change(payload.signature) },
  });

const foreign = `0x${'99'.repeat(20)}`;
/** Each field of a payment, changed without a new signature. */
const changes: readonly (readonly [name: string, change: Change])[] = [
  ['another payer', withAuthorization({ from: foreign })],
  ['no payer', withAuthorization({ from: `0x${'00'.repeat(20)}` })],
  ['another recipient', withAuthorization({ to: foreign })],
  ['a smaller value', withAuthorization({ value: '1' })],
  ['a value beyond uint256', withAuthorization({ value: '9'.repeat(78) })],
  ['a later beginning', withAuthorization({ validAfter: '4000000000' })],
  ['a beginning beyond uint256', withAuthorization({ validAfter: '9'.repeat(78) })],
  ['an end in the past', withAuthorization({ validBefore: '1' })],
  ['another end', withAuthorization({ validBefore: '4000000000' })],
  ['an end beyond uint256', withAuthorization({ validBefore: '9'.repeat(78) })],
  ['another nonce', withAuthorization({ nonce: `0x${'00'.repeat(32)}` })],
  ['no signature', withSignature(() => '0x')],
  ['an empty signature', withSignature(() => `0x${'00'.repeat(65)}`)],
  ['a cut signature', withSignature((signature) => signature.slice(0, -2))],
  ['a longer signature', withSignature((signature) => `${signature}00`)],
  ['a wrapped signature', withSignature((signature) => `${signature}${'6492'.repeat(16)}`)],
  ['another amount', withOffer(() => ({ amount: '1' }))],
  ['another address', withOffer(() => ({ payTo: foreign }))],
  ['another token', withOffer(() => ({ asset: foreign }))],
  ['the token of another chain', withOffer(() => ({ network: 'eip155:31338' }))],
  ['an unknown chain', withOffer(() => ({ network: 'eip155:999999999999999' }))],
  ['no offer', withOffer(({ extra }) => ({ extra: { ...extra, offer: '' } }))],
  ['an offer without its MAC', withOffer(({ extra }) => ({ extra: { ...extra, offer: bodyOf(extra) } }))],
];

const bodyOf = ({ offer }: X402Requirements['extra']) => offer.split('.')[0] ?? '';

// proves W8.15
test('a payment with a changed field is refused, and leaves no row', async () => {
  await assertRefused(
    [...unpaid, ...taken].flatMap(({ path, payment }) =>
      changes.map(([name, change]) => [`${path}: ${name}`, path, change(payment)] as const),
    ),
  );
});

/** A text with another character of the same alphabet at one place. */
function replaced(text: string, place: number, by: number): string {
  const at = 2 + (place % (text.length - 2));
  const digits = '0123456789abcdef';
  const now = digits.indexOf(text.charAt(at).toLowerCase());
  const digit = digits.charAt((now + 1 + (by % 15)) % 16);
  return `${text.slice(0, at)}${digit}${text.slice(at + 1)}`;
}

/** Random changes of one character in the fields that identify a payment. */
const randomChanges = fc.tuple(
  fc.constantFrom('signature', 'nonce', 'from', 'to', 'payTo', 'asset', 'offer'),
  fc.nat({ max: 1_000 }),
  fc.nat({ max: 14 }),
  fc.nat({ max: 3 }),
);

test('a payment with a changed character is refused, and leaves no row', async () => {
  const forgeries = fc
    .sample(randomChanges, { numRuns: isDeepRun ? 80 : 16, seed: 402 })
    .map(([field, place, by, which]) => {
      const { path, payment } = [...unpaid, ...taken][which] ?? { path: '', payment: undefined };
      const forged = structuredClone(payment);
      if (forged === undefined) throw new Error('there are four payments');
      const { accepted, payload } = forged;
      if (field === 'signature') payload.signature = replaced(payload.signature, place, by);
      else if (field === 'offer') accepted.extra.offer = replaced(accepted.extra.offer, place, by);
      else if (field === 'payTo' || field === 'asset') accepted[field] = replaced(accepted[field], place, by);
      else {
        const key = field as 'nonce' | 'from' | 'to';
        payload.authorization[key] = replaced(payload.authorization[key], place, by);
      }
      return [`${path} ${field} ${place} ${by}`, path, forged] as const;
    });
  await assertRefused(forgeries);
});

// proves W8.15
test('an offer of one link or session pays no other one', async () => {
  const all = [...unpaid, ...taken];
  const others = [`/link/${linkIds[1]}`, await sessionPath(victim), await sessionPath(stranger)];
  const paths = [...new Set([...all.map(({ path }) => path), ...others])];
  const forgeries = all.flatMap(({ path: own, payment }) =>
    paths
      // The payment's own resource is excluded: there it would be an allowed repeat.
      .filter((path) => path !== own)
      .map((path) => [`${own} at ${path}`, path, payment] as const),
  );
  await assertRefused(forgeries);
});

// proves W8.15
test('a used or cancelled nonce of an account without money pays nothing', async () => {
  const usdc = life.ethereum.token('usdc');
  const offer = await offerAt(urlOf(`/link/${linkIds[0]}`));
  const own = { ...offer, payTo: stranger.address, amount: '0' };
  const used = await signedPayment(stranger, own, { validBefore: '4000000000' });
  const { nonce, validBefore } = used.payload.authorization;
  const { r, s, v } = parseSignature(used.payload.signature as Hex);
  const terms = [stranger.address, stranger.address, 0n, 0n, BigInt(validBefore), nonce, Number(v), r, s];
  await life.ethereum.call(usdc.address, 'LocalUsdc', 'transferWithAuthorization', terms);
  const cancelled: Hex = `0x${'ca'.repeat(32)}`;
  const cancel = parseSignature(
    await stranger.signTypedData({
      domain: {
        ...{ name: offer.extra.name, version: offer.extra.version },
        ...{ chainId: usdc.chainId, verifyingContract: usdc.address },
      },
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: stranger.address, nonce: cancelled },
    }),
  );
  const asked = [stranger.address, cancelled, Number(cancel.v), cancel.r, cancel.s];
  await life.ethereum.call(usdc.address, 'LocalUsdc', 'cancelAuthorization', asked);
  const paths = [`/link/${linkIds[0]}`, await sessionPath(stranger), await sessionPath(victim)];
  const forgeries = [];
  for (const path of paths) {
    for (const each of [nonce, cancelled]) {
      const payment = await signedPayment(stranger, await offerAt(urlOf(path)), { nonce: each });
      forgeries.push([`${path} ${each}`, path, payment] as const);
    }
  }
  await assertRefused(forgeries);
});

test('another wallet that signs for the offer of a payer gets no receipt', async () => {
  const forgeries = await Promise.all(
    taken.map(async ({ path, payment }) => {
      const signed = await signedPayment(stranger, payment.accepted);
      return [path, path, signed] as const;
    }),
  );
  await assertRefused(forgeries);
});

// proves W8.15
test('money of one payer at the address of a session does not count as the payment of another', async () => {
  for (const isPaid of [false, true]) {
    const path = await sessionPath(victim);
    const offer = await offerAt(urlOf(path));
    if (isPaid) assert.equal((await send(path, await signedPayment(victim, offer))).status, 200);
    await life.ethereum.mint(life.ethereum.token('usdc'), offer.payTo as Hex, price);
    const { status, receipt } = await send(path, await signedPayment(stranger, offer));
    assert.deepEqual([status, receipt], [409, undefined], isPaid ? 'beside a payment' : 'alone');
  }
});

/** The first answers in order of arrival, while there are no blocks; the rest arrive once blocks resume. */
async function firstAnswers(asked: readonly Promise<Answer>[], count: number) {
  const first: Answer[] = [];
  await new Promise<void>((resolve, reject) => {
    for (const each of asked)
      each.then((answer) => {
        first.push(answer);
        if (first.length === count) resolve();
      }, reject);
  });
  return first;
}

test('a payer with the most open sessions gets no further one, and the answer says when to retry', async () => {
  const payer = await fundedAccount(life, 10n * price);
  const path = `/link/${linkIds[0]}`;
  const payments: X402Payment[] = [];
  for (let count = 0; count <= maxOpenSessions; count += 1)
    payments.push(await signedPayment(payer, await offerAt(urlOf(path))));
  await life.pauseMining();
  const asked = payments.map((payment) => send(path, payment));
  const [refused] = await firstAnswers(asked, 1);
  assert.deepEqual([refused?.status, refused?.body.code, refused?.retryAfter], [429, 900101, '60']);
  life.mine();
  const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array<number>(maxOpenSessions).fill(200), 429]);
});

// proves W8.16
test('one network address has a limited number of waiting payments, and the answer says when to retry', async () => {
  const payer = await fundedAccount(life, price);
  const path = `/link/${linkIds[0]}`;
  const payment = await signedPayment(payer, await offerAt(urlOf(path)));
  const { perNetwork } = defaultWaitingLimits;
  await life.pauseMining();
  const asked = Array.from({ length: perNetwork + 3 }, () => send(path, payment));
  for (const { status, retryAfter } of await firstAnswers(asked, 3))
    assert.deepEqual([status, retryAfter], [429, '5']);
  life.mine();
  const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array<number>(perNetwork).fill(200), 429, 429, 429]);
});

test('the payments that these tests forge are valid when unchanged', async () => {
  for (const { path, payment } of unpaid) assert.equal((await send(path, payment)).status, 200, path);
});
