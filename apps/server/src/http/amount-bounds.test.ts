import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { boundsText, languages } from '@florin/checkout';
import type { LinkView, SupportedPaymentToken } from '@florin/protocol/agent-view.ts';
import type { Capabilities } from '@florin/protocol/capability.ts';
import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import { formatUsd, microUsd, parseUsd, unitsPerMicroUsd } from '@florin/protocol/money.ts';
import type { FastifyInstance } from 'fastify';
import type { Chains } from '#chains/chain.ts';
import { creationBody, newPayer, preparationBody, present, viewOf } from '../../test/harness/agent-payer.ts';
import { everyDoor } from '../../test/harness/every-door.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';

/** The cap of each vault for one order: its routes accept no more. */
const vaultCap = 100_300_000_000n;

let world: MerchantWorld;
let server: FastifyInstance;
let key: string;
let accountId: string;

before(async () => {
  world = await MerchantWorld.open();
  const condition = { status: 'available', reason: '', secondsToFinal: 1 } as const;
  const conditions = { version: () => 1, of: () => condition, payoutCap: () => microUsd(vaultCap) };
  const chains: Chains = { ...world.deps.chains, conditions };
  server = await everyDoor(world, chains);
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId, ['ethereum::usdc', 'ethereum::usdt', 'base::usdc']);
});
after(async () => {
  await server.close();
  await world.close();
});

const feeModels = [1, 2] as const;
const settlementTokens = ['ethereum::usdc', 'base::usdc'];

async function ask(url: string, body?: object, headers: Record<string, string> = {}) {
  const reply = await server.inject({
    method: body === undefined ? 'GET' : 'POST',
    url,
    headers,
    ...(body === undefined ? {} : { payload: body }),
  });
  const text = reply.body;
  return { httpStatus: reply.statusCode, text, body: text.startsWith('{') ? JSON.parse(text) : {} };
}

const agent = {
  get: (path: string) => ask(`/aipay/api/v1${path}`),
  post: (path: string, body: object) => ask(`/aipay/api/v1${path}`, body),
};

/** Sends with the merchant's key. */
const asMerchant = (path: string, body: object) =>
  ask(`/payment/v1${path}`, body, { authorization: `Bearer ${key}` });

async function addCustomLink(settlementToken: string, feeModel: 1 | 2) {
  const body = {
    linkType: 'custom',
    linkName: 'Donations',
    accountId,
    settlementToken,
    feeModel,
    lineItems: [{ itemType: 'user_priced' }],
  };
  return (await asMerchant('/payment/link/create', body)).body.data as {
    linkId: string;
    versionCode: string;
  };
}

interface Shown {
  readonly minAmountInUSD?: string | undefined;
  readonly maxAmountInUSD?: string | undefined;
}

/** Of the hosted page, which has them in Micro-USD. */
const boundsOn = ({ least, most }: Pick<CheckoutOption, 'least' | 'most'>): Shown => {
  const [minAmountInUSD, maxAmountInUSD] = [least, most].map((bound) =>
    formatUsd(microUsd(BigInt(present(bound)))),
  );
  return { minAmountInUSD, maxAmountInUSD };
};

/** The lowest and highest price over several options of the hosted page. */
function widestOn(options: readonly CheckoutOption[]) {
  const inOrder = (bounds: readonly (string | undefined)[]) =>
    bounds.map((bound) => BigInt(present(bound))).sort((a, b) => Number(a - b));
  const least = inOrder(options.map((option) => option.least))[0] ?? 0n;
  const most = inOrder(options.map((option) => option.most)).at(-1) ?? 0n;
  return { least: least.toString(), most: most.toString() };
}

const boundsIn = (shown: Shown) => [
  present(parseUsd(present(shown.minAmountInUSD))),
  present(parseUsd(present(shown.maxAmountInUSD))),
];

/** The amounts at and just outside both bounds, each with its expected code. */
function edgesOf(shown: Shown): { readonly amount: bigint; readonly code: number }[] {
  const [least = 0n, most = 0n] = boundsIn(shown);
  return [
    { amount: least - 1n, code: 100209 },
    { amount: least, code: 0 },
    { amount: most, code: 0 },
    { amount: most + 1n, code: 100209 },
  ];
}

function assertWidest(shown: Shown, each: readonly Shown[]): void {
  const all = each.map(boundsIn);
  const leasts = all.map(([least = 0n]) => least).sort((a, b) => Number(a - b));
  const mosts = all.map(([, most = 0n]) => most).sort((a, b) => Number(b - a));
  assert.deepEqual(boundsIn(shown), [leasts[0], mosts[0]]);
}

async function linkViewOf(linkId: string): Promise<LinkView> {
  return viewOf<LinkView>(await agent.get(`/payment/link/${linkId}`));
}

const inToken = ({ decimals }: Pick<SupportedPaymentToken, 'decimals'>, total: bigint) =>
  (total * unitsPerMicroUsd(decimals)).toString();

for (const feeModel of feeModels) {
  for (const settlementToken of settlementTokens) {
    test(`AI protocol, ${settlementToken}, fee model ${feeModel}: each token of a custom link accepts exactly the totals that the view shows`, async () => {
      const { linkId } = await addCustomLink(settlementToken, feeModel);
      const { pricingModel, supportedPaymentTokens } = (await linkViewOf(linkId)).aiView;
      assert.equal(supportedPaymentTokens.length, 3);
      assertWidest(pricingModel, supportedPaymentTokens);
      for (const token of supportedPaymentTokens) {
        for (const { amount, code } of edgesOf(token)) {
          const payer = newPayer();
          const changes = {
            paymentChainId: token.chainId,
            paymentToken: token.tokenAddress,
            amount: inToken(token, amount),
          };
          const body = await creationBody(agent, payer, linkId, changes);
          const created = await agent.post('/payment/session/create', body);
          assert.equal(created.body.code, code, `${token.symbol} on ${token.chainName}: ${amount}`);
          if (code !== 0) continue;
          const { aiView } = created.body.data;
          const preparation = await preparationBody(payer, aiView.preparePaymentRequirement);
          assert.equal((await agent.post('/payment/prepare', preparation)).body.code, 0);
        }
      }
    });

    test(`hosted page, ${settlementToken}, fee model ${feeModel}: each token accepts exactly the prices that the page shows`, async () => {
      const { linkId, versionCode: linkVersion } = await addCustomLink(settlementToken, feeModel);
      const { text } = await ask(`/link/${linkId}`);
      const data = JSON.parse(present(/id="data">([^<]*)</.exec(text)?.[1]));
      const options: CheckoutOption[] = data.options;
      assert.equal(options.length, 3);
      const widest = widestOn(options);
      const [widestLeast = 0n, widestMost = 0n] = boundsIn(boundsOn(widest));
      // For readers without scripts; others see the range of the token that they chose.
      assert.ok(
        text.includes(
          `<p class="soft small">${boundsText({ locale: 'en', texts: languages[0].texts }, widest)}</p>`,
        ),
      );
      const begin = (amount: bigint) =>
        ask('/checkout/api/session', { linkId, linkVersion, amount: amount.toString() });
      for (const { amount, code } of edgesOf(boundsOn(widest))) {
        // Zero is not an amount, neither by script nor by form.
        if (amount > 0n) assert.equal((await begin(amount)).body.code, code, String(amount));
        const form = await server.inject({
          method: 'POST',
          url: `/link/${linkId}`,
          headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
          payload: new URLSearchParams({ linkVersion, amount: formatUsd(microUsd(amount)) }).toString(),
        });
        assert.equal(form.statusCode, code === 0 ? 303 : 200, `the form with ${amount}`);
      }
      for (const option of options) {
        for (const { amount, code } of edgesOf(boundsOn(option))) {
          if (amount < widestLeast || amount > widestMost) continue;
          const begun = (await begin(amount)).body.data;
          const offered = begun.options.map(({ tokenId }: CheckoutOption) => tokenId);
          assert.equal(offered.includes(option.tokenId), code === 0, `${option.tokenId}: ${amount}`);
          const payment = { tokenId: option.tokenId, payer: newPayer().address, payerEmail: '' };
          const prepared = await ask('/checkout/api/prepare', {
            ...payment,
            sessionId: begun.state.sessionId,
          });
          assert.equal(prepared.body.code, code, `${option.tokenId}: ${amount}`);
        }
      }
    });

    test(`x402, ${settlementToken}, fee model ${feeModel}: a token is offered exactly for the totals that the link’s view shows`, async () => {
      const { linkId } = await addCustomLink(settlementToken, feeModel);
      const { pricingModel, supportedPaymentTokens } = (await linkViewOf(linkId)).aiView;
      const assetsFor = async (amount: bigint): Promise<string[]> => {
        const reply = await ask(`/aipay/x402/link/${linkId}?amountInUSD=${formatUsd(microUsd(amount))}`);
        return (reply.body.accepts ?? []).map(
          ({ network, asset }: { network: string; asset: string }) => `${network} ${asset}`,
        );
      };
      for (const token of supportedPaymentTokens) {
        for (const { amount, code } of edgesOf(token)) {
          const assets = await assetsFor(amount);
          const isOffered = assets.includes(`eip155:${token.chainId} ${token.tokenAddress}`);
          assert.equal(isOffered, code === 0, `${token.symbol} on ${token.chainName}: ${amount}`);
        }
      }
      for (const { amount, code } of edgesOf(pricingModel)) {
        if (code === 0 || amount === 0n) continue;
        const reply = await ask(`/aipay/x402/link/${linkId}?amountInUSD=${formatUsd(microUsd(amount))}`);
        assert.equal(reply.body.code, 100209, String(amount));
      }
    });
  }
}

test('checkout sessions accept exactly the prices that the capabilities show with fee model 1, in each token', async () => {
  const { paymentCapabilities } = (await ask('/payment/v1/capabilities/all')).body.data as Capabilities;
  for (const [settlementToken, routes] of Object.entries(paymentCapabilities)) {
    assert.equal(routes.length, 3);
    for (const { tokenId, minPaymentValue, maxPaymentValue } of routes) {
      const shown = {
        minAmountInUSD: formatUsd(microUsd(minPaymentValue)),
        maxAmountInUSD: formatUsd(microUsd(maxPaymentValue)),
      };
      for (const { amount, code } of edgesOf(shown)) {
        const productData = { productName: 'Tea' };
        const item = { itemType: 'one_time', quantity: 1, unitPrice: Number(amount), productData };
        const body = { accountId, settlementToken, feeModel: 1, lineItems: [item] };
        const created = (await asMerchant('/session/checkout/create', body)).body;
        // Another token may accept more. Above the most of all tokens, the unit price is refused.
        if (created.code !== 0) {
          assert.ok(code !== 0 && [100209, 400101].includes(created.code), `${tokenId}: ${amount}`);
          continue;
        }
        const payment = { tokenId, payer: newPayer().address, payerEmail: '' };
        const { sessionId } = created.data;
        const prepared = await ask('/checkout/api/prepare', { ...payment, sessionId });
        assert.equal(prepared.body.code, code, `${tokenId} to ${settlementToken}: ${amount}`);
      }
    }
  }
});
