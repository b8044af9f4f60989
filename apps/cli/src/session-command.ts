import type { CheckoutSessionRequest, SessionFilter, SessionSearchRequest, SessionView } from '@florin/sdk';
import {
  bodyOf,
  bodyOption,
  callOptionsOf,
  idempotencyOption,
  optionalAmount,
  optionalTime,
  pairOf,
} from './body.ts';
import { type Options, optional, repeatable } from './command.ts';
import { UsageError } from './command-error.ts';
import { givenItemOf, productOption } from './line-item.ts';
import { feeModelOf } from './link-command.ts';
import { dollars } from './output.ts';
import {
  apiCommand,
  type Columns,
  changeCommand,
  listCommand,
  type MerchantCommands,
  retrieveCommand,
  shown,
} from './resource.ts';

const statuses = [
  ...(['initialized', 'paid', 'settling', 'completed'] as const),
  ...(['settlement_pending', 'expired', 'cancelled'] as const),
];
const statusOption = optional('--status <status>', 'only these').choices(statuses);
const metadataOption = repeatable('--metadata <name=value>', 'such as order=A-1042');

const columns: Columns<SessionView> = {
  SESSION: ({ session }) => session.sessionId,
  'CREATED (UTC)': ({ session }) => session.createAt,
  STATUS: ({ session }) => session.status,
  AMOUNT: ({ session }) => dollars(session.amount),
  TOKEN: ({ session }) => session.paidToken || session.settlementToken,
  METADATA: ({ session }) => JSON.stringify(session.metadata),
};

/** `florin sessions …` */
export const sessionCommands: MerchantCommands = {
  'sessions list': listCommand<SessionView>({
    does: 'lists sessions, newest first',
    examples: ['sessions list', 'sessions list --status paid --limit 100 --json'],
    options: [statusOption],
    columns,
    list: (florin, options, _outside, size) =>
      florin.sessions.list({ status: options.choice('status', statuses), size } satisfies SessionFilter),
  }),
  'sessions search': listCommand<SessionView>({
    does: 'finds sessions that meet every condition, newest first',
    examples: [
      'sessions search --metadata order=A-1042',
      "sessions search --text 'flat white' --min 4 --status paid",
    ],
    options: [
      optional('--text <words>', 'words of its ids, products and metadata'),
      statusOption,
      metadataOption,
      optional('--payer <address>', 'the wallet that paid'),
      optional('--tx <hash>', 'a transaction of the payment or of the settlement'),
      optional('--min <dollars>', 'this amount or more'),
      optional('--max <dollars>', 'this amount or less'),
      optional('--created-from <time>', 'created then or later'),
      optional('--created-to <time>', 'created then or before'),
      bodyOption,
    ],
    columns,
    list: async (florin, options, outside, size) =>
      florin.sessions.search(await bodyOf<SessionSearchRequest>(options, outside, searchOf(options, size))),
  }),
  'sessions retrieve': retrieveCommand('a session', 'sessions retrieve sess_…', async (florin, id) => {
    const { session, ...others } = await florin.sessions.retrieve(id);
    return { ...session, ...others };
  }),
  'sessions create': apiCommand({
    does: 'creates a session and prints the page on which it is paid',
    examples: [
      "sessions create --token base::usdc --item 'Flat white=4.50' --metadata order=A-1042",
      "sessions create --token base::usdc --item 'Tea=3*2' --product prd_… --success-url https://shop.example.com/thanks",
    ],
    options: [
      optional('--token <id>', 'the token that is settled, such as base::usdc'),
      repeatable(
        '--item <name=price>',
        "something without a product: 'Flat white=4.50', or 'Tea=3*2' for two",
      ),
      productOption,
      optional(
        '--account <id>',
        'the account that is settled to (default: the only one that takes the token)',
      ),
      metadataOption,
      optional('--fee <payer>', 'who pays the fee (default: merchant)').choices(['merchant', 'payer']),
      optional('--success-url <url>', 'where the payer is sent afterwards'),
      optional('--cancel-url <url>', 'where a payer goes who does not pay'),
      optional('--expires <time>', 'until when it can be paid, such as 2030-01-31T00:00:00Z'),
      bodyOption,
      idempotencyOption,
    ],
    async run(florin, options, outside) {
      const body = await bodyOf<Partial<CheckoutSessionRequest>>(options, outside, {
        settlementToken: options.optional('token'),
        lineItems: itemsOf(options),
        accountId: options.optional('account'),
        metadata: metadataOf(options),
        feeModel: feeModelOf(options.optional('fee')),
        successUrl: options.optional('success-url'),
        cancelUrl: options.optional('cancel-url'),
        expirationTime: optionalTime(options, 'expires'),
      });
      const { settlementToken, lineItems } = body;
      if (settlementToken === undefined) throw new UsageError('--token is missing, such as base::usdc');
      if (lineItems === undefined) throw new UsageError('--item or --product is missing');
      const whole = { ...body, settlementToken, lineItems };
      return shown(await florin.checkout.sessions.create(whole, callOptionsOf(options)));
    },
  }),
  'sessions cancel': changeCommand({
    does: 'cancels a session that no payer has signed for',
    noun: 'a session',
    example: 'sessions cancel sess_…',
    did: 'cancelled',
    change: (florin, id) => florin.checkout.sessions.cancel(id),
  }),
};

function searchOf(options: Options, size: number) {
  return {
    text: options.optional('text'),
    status: options.choice('status', statuses),
    metadata: metadataOf(options),
    payer: options.optional('payer'),
    txHash: options.optional('tx'),
    amountFrom: optionalAmount(options, 'min'),
    amountTo: optionalAmount(options, 'max'),
    createdFrom: optionalTime(options, 'created-from'),
    createdTo: optionalTime(options, 'created-to'),
    size,
  };
}

function metadataOf(options: Options): Record<string, string> | undefined {
  const given = options.all('metadata');
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map((each) => pairOf('metadata', each, 'a name and a value, such as order=A-1042')),
  );
}

function itemsOf(options: Options): CheckoutSessionRequest['lineItems'] | undefined {
  const items = [
    ...options.all('item').map((each) => {
      const { what: name, price, quantity } = givenItemOf('item', each);
      if (price === undefined)
        throw new UsageError(`--item is ${each}: give a name and a price, such as Tea=4.50`);
      return {
        itemType: 'one_time',
        quantity,
        unitPrice: price,
        productData: { productName: name },
      } as const;
    }),
    ...options.all('product').map((each) => {
      const { what: productId, price, quantity } = givenItemOf('product', each);
      return { itemType: 'product', productId, quantity, unitPrice: price } as const;
    }),
  ];
  return items.length === 0 ? undefined : items;
}
