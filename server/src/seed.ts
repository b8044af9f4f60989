import type { LinkCreateBody } from '@florin/protocol/link.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { createProduct } from '#catalog/product.ts';
import type { Chains } from '#chains/chain.ts';
import type { Database, Transaction } from '#db/database.ts';
import { createLink, type LinkDeps } from '#links/link.ts';
import { createAccount } from '#merchants/account.ts';
import { createApiKey } from '#merchants/api-key.ts';
import { createMerchant } from '#merchants/merchant.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import { type FeeRates, quoteOf, routesTo } from '#sessions/quote.ts';

export interface SeedDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: Chains;
  readonly fees: FeeRates;
  /** Public origin without a slash at the end. */
  readonly origin: string;
}

/** What the demo merchant is made of. The keys are shown here and never again. */
export interface Demo {
  readonly merchantId: string;
  /** Holds every permission. */
  readonly secretKey: string;
  /** Has the preset read_only. */
  readonly restrictedKey: string;
  readonly accountId: string;
  readonly productId: string;
  readonly linkIds: { readonly fixed: string; readonly custom: string; readonly crossChain: string };
}

/** Micro-USD: 2.50 dollars. */
const espressoPrice = 2_500_000;

/**
 * Makes the demo merchant of a local world in one transaction: an account that takes every configured token, a product,
 * a fixed and a custom link settling in `ethereum::usdc`, and a fixed one settling in `base::usdc`.
 */
export function seedDemo(deps: SeedDeps, request: { collectionAddress: Hex }): Promise<Demo> {
  return deps.db.transaction(async (transaction) => {
    const { merchantId } = await createMerchant(transaction, deps, { merchantName: 'Florin Coffee' });
    const secret = await createApiKey(transaction, deps, { merchantId, kind: 'secret' });
    const restricted = await createApiKey(transaction, deps, {
      merchantId,
      kind: 'restricted',
      preset: 'read_only',
    });
    const { accountId } = await createAccount(transaction, deps, {
      merchantId,
      accountName: 'Coffee till',
      accountAddress: request.collectionAddress,
      settlementCurrencies: deps.chains.tokens.map((token) => token.tokenId),
    });
    const { productId } = await createProduct(transaction, deps, { merchantId, body: espresso });
    const linkIds = await seedLinks(transaction, deps, { merchantId, accountId, productId });
    return {
      merchantId,
      secretKey: secret.key,
      restrictedKey: restricted.key,
      accountId,
      productId,
      linkIds,
    };
  });
}

const espresso = {
  name: 'Espresso',
  description: 'A double shot, pulled short.',
  commonPrices: [espressoPrice],
  attributes: [
    { name: 'Size', value: '60 ml' },
    { name: 'Roast', value: 'Medium' },
  ],
};

async function seedLinks(
  transaction: Transaction,
  deps: SeedDeps,
  ids: { merchantId: string; accountId: string; productId: string },
): Promise<Demo['linkIds']> {
  const { merchantId, accountId, productId } = ids;
  const linkDeps: LinkDeps = {
    clock: deps.clock,
    random: deps.random,
    chains: deps.chains,
    origin: deps.origin,
    isPayable: ({ settlementToken, paymentValue, feeModel }) =>
      routesTo(deps.chains, deps.fees, settlementToken).some(
        (route) => quoteOf(route, { paymentValue, feeModel }) !== undefined,
      ),
  };
  const create = async (body: Omit<LinkCreateBody, 'accountId' | 'feeModel'>) => {
    const created = await createLink(transaction, linkDeps, {
      merchantId,
      body: { accountId, feeModel: 1, customSuccessText: 'Thank you! Your coffee is on its way.', ...body },
    });
    return created.linkId;
  };
  const lineItems: LinkCreateBody['lineItems'] = [
    { itemType: 'product', productId, quantity: 1, unitPrice: espressoPrice },
  ];
  return {
    fixed: await create({
      linkType: 'fixed',
      linkName: 'Espresso',
      settlementToken: 'ethereum::usdc',
      lineItems,
    }),
    custom: await create({
      linkType: 'custom',
      linkName: 'Tip jar',
      settlementToken: 'ethereum::usdc',
      lineItems: [{ itemType: 'user_priced', quantity: 1 }],
    }),
    crossChain: await create({
      linkType: 'fixed',
      linkName: 'Espresso, settled on Base',
      settlementToken: 'base::usdc',
      lineItems,
    }),
  };
}
