import type { Florin, Links, PaymentLink, PaymentLinkCreateRequest } from '@florin/sdk';
import { onlyAccountFor } from './account-command.ts';
import { bodyOf, bodyOption, callOptionsOf, countOf, idempotencyOption, optionalTime } from './body.ts';
import { optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { givenItemOf, productOption } from './line-item.ts';
import { dollars } from './output.ts';
import {
  apiCommand,
  changeCommand,
  listCommand,
  type MerchantCommands,
  retrieveCommand,
  shown,
  updateCommand,
} from './resource.ts';

type Items = PaymentLinkCreateRequest['lineItems'];

const maxPayments = 100_000_000;

/** `florin links …` */
export const linkCommands: MerchantCommands = {
  'links list': listCommand<PaymentLink>({
    does: 'lists payment links, newest first',
    examples: ['links list'],
    columns: {
      LINK: ({ linkId }) => linkId,
      STATUS: ({ status, disabledReason }) => [status, disabledReason ?? ''].join(' ').trim(),
      AMOUNT: ({ linkType, amount }) => (linkType === 'custom' ? 'any' : dollars(amount)),
      TOKEN: ({ settlementToken }) => settlementToken,
      NAME: ({ linkName }) => linkName,
    },
    list: (florin, _options, _outside, size) => florin.links.list({ size }),
  }),
  'links retrieve': retrieveCommand('a link', 'links retrieve lnk_…', (florin, id) =>
    florin.links.retrieve(id),
  ),
  'links create': apiCommand({
    does: 'creates a payment link: for products at their prices, or for any amount without --product',
    examples: [
      "links create --name 'Breakfast' --token base::usdc --product prd_… --product prd_…=3.20*2",
      "links create --name 'Tip' --token base::usdc",
    ],
    options: [
      optional('--name <name>', 'what payers read'),
      optional('--token <id>', 'the token that is settled, such as base::usdc'),
      optional(
        '--account <id>',
        'the account that is settled to (default: the only one that takes the token)',
      ),
      productOption,
      optional('--fee <payer>', 'who pays the fee (default: merchant)').choices(['merchant', 'payer']),
      optional('--success-url <url>', 'where the payer is sent afterwards'),
      optional('--cancel-url <url>', 'where a payer goes who does not pay'),
      optional('--max-payments <count>', 'disables the link after so many payments'),
      optional('--active-until <time>', 'disables the link then, such as 2030-01-31T00:00:00Z'),
      bodyOption,
      idempotencyOption,
    ],
    async run(florin, options, outside) {
      const payments = options.optional('max-payments');
      const products = options.all('product');
      const body = await bodyOf<Partial<PaymentLinkCreateRequest>>(options, outside, {
        linkName: options.optional('name'),
        settlementToken: options.optional('token'),
        accountId: options.optional('account'),
        lineItems: products.length === 0 ? undefined : await productItems(florin, products),
        feeModel: feeModelOf(options.optional('fee')),
        successUrl: options.optional('success-url'),
        cancelUrl: options.optional('cancel-url'),
        maxPayments: payments === undefined ? undefined : countOf('max-payments', payments, maxPayments),
        activeUntil: optionalTime(options, 'active-until'),
      });
      const whole = await withDefaults(florin, body);
      return shown(await florin.links.create(whole, callOptionsOf(options)));
    },
  }),
  'links update': updateCommand<Parameters<Links['update']>[1]>({
    noun: 'a link',
    example: `links update lnk_… --body '{"linkName":"Breakfast","maxPayments":null}'`,
    options: [bodyOption],
    flags: () => ({}),
    update: (florin, id, changes) => florin.links.update(id, changes),
  }),
  'links disable': changeCommand({
    does: 'disables a payment link: open sessions stay payable',
    noun: 'a link',
    example: 'links disable lnk_…',
    did: 'disabled',
    change: (florin, id) => florin.links.disable(id),
  }),
  'links enable': changeCommand({
    does: 'enables a payment link',
    noun: 'a link',
    example: 'links enable lnk_…',
    did: 'active',
    change: (florin, id) => florin.links.enable(id),
  }),
};

/** 1: the merchant pays the fee; 2: the payer does. */
export function feeModelOf(payer: string | undefined): 1 | 2 | undefined {
  if (payer === undefined) return undefined;
  return payer === 'payer' ? 2 : 1;
}

/** What the API wants of each link, and what most links have alike. */
async function withDefaults(
  florin: Florin,
  body: Partial<PaymentLinkCreateRequest>,
): Promise<PaymentLinkCreateRequest> {
  const { linkName, settlementToken, feeModel = 1, lineItems = [{ itemType: 'user_priced' }] } = body;
  if (linkName === undefined) throw new UsageError('--name is missing');
  if (settlementToken === undefined) throw new UsageError('--token is missing, such as base::usdc');
  const linkType = lineItems.some(({ itemType }) => itemType === 'user_priced') ? 'custom' : 'fixed';
  const accountId = body.accountId ?? (await onlyAccountFor(florin, settlementToken));
  return { linkType, ...body, linkName, settlementToken, feeModel, lineItems, accountId };
}

/** Items of products: each at the given price, or else at the first of its usual ones. */
async function productItems(florin: Florin, given: readonly string[]): Promise<Items> {
  const items = given.map((each) => givenItemOf('product', each));
  const unpriced = items.flatMap(({ what, price }) => (price === undefined ? [what] : []));
  const products = unpriced.length === 0 ? [] : await florin.products.listByIds([...new Set(unpriced)]);
  return items.map(({ what: productId, price, quantity }) => {
    const unitPrice = price ?? products.find((each) => each.productId === productId)?.commonPrices[0];
    if (unitPrice === undefined) throw new CommandError(`there is no product ${productId} with a price`);
    return { itemType: 'product', productId, quantity, unitPrice };
  });
}
