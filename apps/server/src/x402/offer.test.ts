import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RpcUnavailable } from '@florin/evm';
import { amountsOf, amountsOfTotal } from '@florin/protocol/fee.ts';
import { microUsd } from '@florin/protocol/money.ts';
import { shopReturnOf } from '@florin/protocol/shop-return.ts';
import type { X402Requirements } from '@florin/protocol/x402.ts';
import { secp256k1 } from '@florin/signing';
import fc from 'fast-check';
import { getAddress } from 'viem';
import { cryptographyOf } from '#authorizations/cryptography.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { orderSignerOf } from '#orders/order-signer.ts';
import { systemRandom } from '#outside/random.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import type { X402Context } from './context.ts';
import {
  draftOffer,
  type OfferTerms,
  offeredSessionId,
  openOffer,
  type Resource,
  requirementsFor,
  sealOffer,
} from './offer.ts';

const deps = { offerKey: new Uint8Array(32).fill(1) };
const terms: OfferTerms = {
  seed: 'ab'.repeat(32),
  issuedAt: 1_800_000_000,
  version: 'ver_1',
  refundAddress: `0x${'aA'.repeat(20)}`,
};
const shown = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '2000000',
  asset: `0x${'bB'.repeat(20)}`,
  payTo: `0x${'cC'.repeat(20)}`,
  maxTimeoutSeconds: 300,
} as const;
const offered = (
  changed: Partial<X402Requirements> = {},
  offer = sealOffer(deps, shown, terms),
): X402Requirements => ({ ...shown, extra: { name: 'USD Coin', version: '2', offer }, ...changed });

test('an offer states its terms, regardless of how its addresses are written', () => {
  assert.deepEqual(openOffer(deps, offered()), terms);
  const lower = { asset: shown.asset.toLowerCase(), payTo: shown.payTo.toLowerCase() };
  assert.deepEqual(openOffer(deps, offered(lower)), terms);
});

const [body = '', mac = ''] = offered().extra.offer.split('.');
const others: readonly (readonly [name: string, offer: X402Requirements])[] = [
  ['another network', offered({ network: 'eip155:1' })],
  // proves W8.15
  ['another amount', offered({ amount: '2000001' })],
  ['another token', offered({ asset: shown.payTo })],
  ['another address', offered({ payTo: shown.asset })],
  ['another seed', offered({}, `${bodyWith({ seed: 'cd'.repeat(32) })}.${mac}`)],
  ['another time', offered({}, `${bodyWith({ issuedAt: 1_900_000_000 })}.${mac}`)],
  ['another version', offered({}, `${bodyWith({ version: 'ver_2' })}.${mac}`)],
  ['another refund address', offered({}, `${bodyWith({ refundAddress: shown.payTo })}.${mac}`)],
  // proves W8.15
  ['no MAC', offered({}, body)],
  ['an empty MAC', offered({}, `${body}.`)],
  ['a cut MAC', offered({}, `${body}.${mac.slice(0, -4)}`)],
  ['a longer MAC', offered({}, `${body}.${mac}AAAA`)],
  ['nothing', offered({}, '')],
  ['the MAC of another key', offered({}, sealOffer({ offerKey: new Uint8Array(32) }, shown, terms))],
];

function bodyWith(changed: Partial<OfferTerms>): string {
  const { seed, issuedAt, version, refundAddress } = { ...terms, ...changed };
  return Buffer.from(JSON.stringify([seed, issuedAt, version, refundAddress])).toString('base64url');
}

for (const [name, offer] of others)
  test(`with ${name} an offer is not ours`, () => assert.equal(openOffer(deps, offer), undefined));

const unused = () => assert.fail('an offer needs neither a database nor a chain');
const context: X402Context = {
  clock: { now: () => new Date(0), monotonicMs: () => 0, sleep: async () => {} },
  ...{ random: systemRandom, origin: 'https://pay.example.com', serviceDomain: 'pay.example.com' },
  ...{ chains: fixtureChains, rates: { sameToken: 2_000, sameChain: 3_000, crossChain: 6_000 } },
  ...{
    signer: orderSignerOf(`0x${'0f'.repeat(32)}`),
    reclaimAfterSeconds: 86_400,
    maxOpenSessions: undefined,
  },
  cryptography: cryptographyOf(secp256k1),
  payerChain: { codeAt: unused, callAt: unused },
  sender: { plan: unused, record: unused, broadcast: unused },
  gasless: {
    signingOf: async ({ chainId, address }) => ({
      permits: new Set(['eip3009']),
      domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: address },
    }),
    minAmount: microUsd(0n),
    budgets: {
      ...{ perPayer: 0, perLink: 0, perNetwork: 0 },
      smartAccounts: { perPayment: 0, failuresPerMerchant: 0 },
    },
  },
  db: { query: unused, transaction: unused, inScope: unused, close: unused } as unknown as X402Context['db'],
  ...{ rpcOf: unused, offerKey: deps.offerKey, readPayment: unused, waitMs: 0 },
};

const link: StoredLink = {
  ...{ linkId: 'lnk_1', merchantId: 'mer_1', linkType: 'fixed', linkName: 'Tea', feeModel: 1 },
  account: {
    ...{ accountId: 'acc_1', accountName: 'Main', accountAddress: `0x${'c3'.repeat(20)}` },
    ...{ version: 'acv_1', status: 'normal' },
  },
  ...{ settlementToken: 'ethereum::usdc', amount: microUsd(0n), payerEmailRequired: false, successUrl: '' },
  ...shopReturnOf({}),
  ...{ customSuccessText: '', customDisabledText: '', status: 'active', versionCode: 'ver_1', items: [] },
  paymentCount: 0n,
  ...{ createdAt: new Date(0), updatedAt: new Date(0) },
};

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
const anyTerms: fc.Arbitrary<OfferTerms> = fc.record(
  {
    seed: bytes(32).map((seed) => Buffer.from(seed).toString('hex')),
    issuedAt: fc.integer({ min: 1, max: 4_000_000_000 }),
    version: fc.constantFrom('ver_1', 'ver_2'),
    refundAddress: bytes(19).map((address) => getAddress(`0x11${Buffer.from(address).toString('hex')}`)),
  },
  { noNullPrototype: true },
);
const anyPrice = fc.bigInt({ min: 1_000_000n, max: 10n ** 12n }).map(microUsd);
const anyFeeModel = fc.constantFrom(1 as const, 2 as const);

function tokenOf({ network, asset }: X402Requirements) {
  const token = fixtureChains.tokenAt(Number(network.slice('eip155:'.length)), asset);
  assert.ok(token !== undefined);
  return token;
}

const feePpmOf = (tokenId: string) =>
  ({ 'ethereum::usdc': 2_000, 'ethereum::usdt': 3_000, 'base::usdc': 6_000 })[tokenId] ??
  assert.fail(tokenId);

/** Units of a token that are worth so much Micro-USD. */
const unitsOf = (value: bigint, { decimals }: { decimals: number }) => value * 10n ** BigInt(decimals - 6);

test('a client’s choice of any offer leads back to the same terms, address, amount and session', async () => {
  await fc.assert(
    fc.asyncProperty(anyTerms, anyPrice, anyFeeModel, async (terms, amount, feeModel) => {
      const resource = { kind: 'link', link: { ...link, amount, feeModel } } as const;
      const offers = await requirementsFor(context, resource, terms);
      assert.deepEqual(
        offers.map((each) => tokenOf(each).tokenId),
        ['ethereum::usdc', 'ethereum::usdt', 'base::usdc'],
      );
      assert.equal(new Set(offers.map(({ payTo }) => payTo)).size, 3);
      for (const chosen of offers) {
        const opened = openOffer(context, chosen);
        assert.deepEqual(opened, terms);
        const token = tokenOf(chosen);
        const drafted = await draftOffer(context, resource, opened, token);
        const { totalValue } = amountsOf(amount, feePpmOf(token.tokenId), feeModel);
        assert.deepEqual(
          [drafted.payTo, drafted.order.order.total, drafted.session.sessionId, drafted.order.order.payer],
          [chosen.payTo, BigInt(chosen.amount), offeredSessionId(context, link, terms), terms.refundAddress],
        );
        assert.equal(drafted.order.order.total, unitsOf(totalValue, token));
        assert.deepEqual(drafted.session.createdAt, new Date(terms.issuedAt * 1_000));
        assert.equal(drafted.order.order.payBy, BigInt(terms.issuedAt + 1_800));
      }
    }),
    { numRuns: 30 },
  );
});

test('two offers never share an address or a session, and an offer of a session has no session of its own', async () => {
  const resource = { kind: 'link', link: { ...link, amount: microUsd(10_000_000n) } } as const;
  const token = tokenOf((await requirementsFor(context, resource, terms))[0] ?? assert.fail());
  await fc.assert(
    fc.asyncProperty(anyTerms, anyTerms, async (one, other) => {
      fc.pre(one.seed !== other.seed);
      const drafted = await Promise.all(
        [one, other].map((each) => draftOffer(context, resource, each, token)),
      );
      const [first, second] = drafted;
      assert.notEqual(first?.payTo, second?.payTo);
      assert.notEqual(first?.session.sessionId, second?.session.sessionId);
      assert.notEqual(first?.session.clientCode, second?.session.clientCode);
      const session = first?.session ?? assert.fail();
      const again = await draftOffer(context, { kind: 'session', session }, { ...one, seed: '' }, token);
      assert.deepEqual([again.session, again.payTo], [session, first?.payTo]);
    }),
    { numRuns: 30 },
  );
});

test('the payer of a custom link pays exactly the chosen total in every token', async () => {
  await fc.assert(
    fc.asyncProperty(anyTerms, anyPrice, anyFeeModel, async (terms, chosenTotal, feeModel) => {
      const custom = { ...link, linkType: 'custom', feeModel } as const;
      const offers = await requirementsFor(context, { kind: 'link', link: custom, chosenTotal }, terms);
      assert.equal(offers.length, 3);
      for (const chosen of offers) {
        const token = tokenOf(chosen);
        assert.equal(BigInt(chosen.amount), unitsOf(chosenTotal, token));
        const { session } = await draftOffer(
          context,
          { kind: 'link', link: custom, chosenTotal },
          terms,
          token,
        );
        const { paymentValue } = amountsOfTotal(chosenTotal, feePpmOf(token.tokenId), feeModel);
        assert.deepEqual([session.amount, session.chosenTotal], [paymentValue, chosenTotal]);
      }
    }),
    { numRuns: 30 },
  );
});

test('tokens without authorizations, amounts below the minimum and chains without gas have no offer', async () => {
  const amount = microUsd(10_000_000n);
  const resource = { kind: 'link', link: { ...link, amount, feeModel: 2 } } as const;
  const offersWith = async (changed: Partial<X402Context['gasless']>) => {
    const gasless = { ...context.gasless, ...changed };
    const offers = await requirementsFor({ ...context, gasless }, resource, terms);
    return offers.map((each) => tokenOf(each).tokenId);
  };
  const { signingOf } = context.gasless;
  assert.deepEqual(
    await offersWith({
      signingOf: async (token) => ({
        ...(await signingOf(token)),
        permits: new Set([token.chainId === 31338 ? 'permit2' : 'eip3009']),
      }),
    }),
    ['ethereum::usdc', 'ethereum::usdt'],
  );
  assert.deepEqual(
    await offersWith({ isOffered: (chainId, merchantId) => chainId === 31338 && merchantId === 'mer_1' }),
    ['base::usdc'],
  );
  assert.deepEqual(await offersWith({ minAmount: microUsd(amountsOf(amount, 3_000, 2).totalValue + 1n) }), [
    'base::usdc',
  ]);
});

test('a token whose chain does not answer is left out, and is refused only when no other token is left', async () => {
  const amount = microUsd(10_000_000n);
  const resource = { kind: 'link', link: { ...link, amount } } as const;
  const offersWithout = async (isSilent: (chainId: number) => boolean) => {
    const signingOf: typeof context.gasless.signingOf = (token) =>
      isSilent(token.chainId)
        ? Promise.reject(new RpcUnavailable('timeout'))
        : context.gasless.signingOf(token);
    const offers = await requirementsFor(
      { ...context, gasless: { ...context.gasless, signingOf } },
      resource,
      terms,
    );
    return offers.map((each) => tokenOf(each).tokenId);
  };
  assert.deepEqual(await offersWithout((chainId) => chainId === 31337), ['base::usdc']);
  await assert.rejects(
    offersWithout(() => true),
    { name: 'Refusal', slug: 'chain_unavailable' },
  );
});

test('an unavailable chain, an amount beyond the vault’s cap and a token that the session excludes have no offer', async () => {
  const resource = { kind: 'link', link: { ...link, amount: microUsd(10_000_000n) } } as const;
  const tokensOf = async (of: X402Context, sold: Resource = resource) =>
    (await requirementsFor(of, sold, terms)).map((each) => tokenOf(each).tokenId);
  const isDown = (chainId: number) => chainId === 31338;
  const inConditions = (cap: bigint): X402Context => ({
    ...context,
    chains: {
      ...fixtureChains,
      conditions: {
        version: () => 1,
        of: (chainId) => ({
          ...{ status: isDown(chainId) ? 'unavailable' : 'available', secondsToFinal: 1 },
          reason: isDown(chainId) ? 'chain_halted' : '',
        }),
        payoutCap: () => microUsd(cap),
      },
    },
  });
  assert.deepEqual(await tokensOf(inConditions(10_000_000n)), ['ethereum::usdc', 'ethereum::usdt']);
  assert.deepEqual(await tokensOf(inConditions(9_999_999n)), ['ethereum::usdc']);
  const token = fixtureChains.token('base::usdc') ?? assert.fail();
  const { session } = await draftOffer(context, resource, terms, token);
  const chosen = { ...session, intendedToken: token.tokenId };
  const paying = { kind: 'session', session: chosen } as const;
  assert.deepEqual(await tokensOf(context, paying), ['base::usdc']);
  await assert.rejects(tokensOf(inConditions(10_000_000n), paying), { slug: 'chain_unavailable' });
});
