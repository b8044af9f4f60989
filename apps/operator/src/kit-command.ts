import { readFileSync } from 'node:fs';
import {
  CommandError,
  type CommandResult,
  mandatory,
  type Options,
  optional,
  table,
  UsageError,
} from '@florin/cli';
import {
  chainTime,
  checkReceipt,
  describeVerdict,
  encodeReclaim,
  encodeSettle,
  findDeposits,
  findPayments,
  openPlace,
  type Payment,
  type Place,
  parseDepositOrder,
  parsePublished,
  parseReceipt,
  type Receipt,
  reclaimProblem,
  type Search,
  settleProblem,
  type Verdict,
  verifyReceipt,
  ZERO_ADDRESS,
} from '@florin/kit';
import type { Hex } from '@florin/protocol/order.ts';
import { createWalletClient, custom } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { openRequest, rpcOption } from './chain-target.ts';
import type { Commands } from './command.ts';
import { addressOption } from './evm-option.ts';
import { readKeyFile } from './secret-file.ts';

/** The most orders in one settlement: 500 of them cost less than a quarter of a block. */
const maxOrdersPerCall = 100;
const nodeOption = mandatory('--rpc <url>', 'a node of the chain');
const gatewayOption = mandatory('--gateway <address>', 'the gateway of the installation');
const fromBlockOption = optional('--from-block <number>', 'the block to search from (default: 0)');
const placeOptions = [nodeOption, gatewayOption, fromBlockOption];
const merchantPartyOptions = [
  optional('--channel <id>', 'the channel of the orders; or --recipient'),
  optional('--recipient <address>', 'the address that the orders settle to; or --channel'),
];
const partyOptions = [
  optional('--payer <address>', 'who paid; or --channel, or --recipient'),
  ...merchantPartyOptions,
];
const orderOption = optional('--order <id>', 'only this order (default: all that are found)');
const keyFileOption = optional(
  '--key-file <file>',
  'holds the private key that sends (default: show the transactions)',
);

/** The transactions to send, and the skipped payments with their reasons. */
interface Plan {
  readonly transactions: readonly { readonly to: Hex; readonly data: Hex; readonly does: string }[];
  readonly skipped: readonly { readonly orderId: Hex; readonly why: string }[];
}

const onChain = '--rpc https://node.example.com --gateway 0x…';

export const kitCommands: Commands = {
  'kit find': {
    does: 'finds the payments of a payer or a merchant on the chain; needs no service, database or configuration',
    examples: [`kit find ${onChain} --payer 0x…`],
    options: [...placeOptions, ...partyOptions],
    async run(options) {
      const place = await placeOf(options);
      const payments = await findPayments(place, searchOf(options));
      const rows = payments.map((payment) => [
        ...[payment.orderId, payment.status, String(payment.total), payment.token],
        ...[payment.payer, payment.to, payment.way, payment.order === undefined ? 'no' : 'yes'],
      ]);
      const headings = ['order', 'status', 'total', 'token', 'payer', 'recipient', 'paid by', 'whole order'];
      return { text: table(headings, rows), json: payments };
    },
  },
  'kit reclaim': {
    does: "returns a payer's unsettled payments to the payer; any key can pay for it; without one it shows the transactions",
    examples: [`kit reclaim ${onChain} --payer 0x… --key-file payer.key`],
    options: [...placeOptions, mandatory('--payer <address>', 'who paid'), orderOption, keyFileOption],
    async run(options) {
      const place = await placeOf(options);
      const payments = await chosen(place, options, { payer: addressOption(options, 'payer') });
      const now = await chainTime(place);
      const plan = planEach(payments, (payment) => reclaimProblem(payment, now));
      const transactions = plan.fit.map(({ orderId, order }) => ({
        ...{ to: place.gateway, data: encodeReclaim(order), does: `reclaims ${orderId}` },
      }));
      return carryOut(place, options, { transactions, skipped: plan.skipped });
    },
  },
  'kit settle': {
    does: "sends a merchant's unsettled payments to the merchant, a day after the payment; any key can pay for it",
    examples: [`kit settle ${onChain} --recipient 0x… --key-file any.key`],
    options: [...placeOptions, ...merchantPartyOptions, orderOption, keyFileOption],
    async run(options) {
      const place = await placeOf(options);
      const payments = await chosen(place, options, searchOf(options));
      const now = await chainTime(place);
      const plan = planEach(payments, (payment) => settleProblem(payment, now));
      // The gateway combines adjacent orders with the same token and recipient in one transfer.
      const sorted = plan.fit.toSorted((a, b) =>
        `${a.order.token}${a.order.to}` < `${b.order.token}${b.order.to}` ? -1 : 1,
      );
      const transactions = [];
      for (let at = 0; at < sorted.length; at += maxOrdersPerCall) {
        const orders = sorted.slice(at, at + maxOrdersPerCall).map(({ order }) => order);
        transactions.push({
          to: place.gateway,
          data: encodeSettle(orders),
          does: `settles ${orders.length} orders`,
        });
      }
      return carryOut(place, options, { transactions, skipped: plan.skipped });
    },
  },
  'kit rescue': {
    does: 'sends money that cannot pay its order from the deposit address to the refund address; any key can pay for it',
    examples: [`kit rescue ${onChain} --order order.json --token 0x… --key-file any.key`],
    options: [
      nodeOption,
      gatewayOption,
      mandatory('--order <file>', 'the whole order, as JSON'),
      optional('--token <address>', 'another token to send back'),
      keyFileOption,
    ],
    async run(options) {
      const order = readFile(options.required('order'), 'order', parseDepositOrder);
      const token = options.optional('token');
      const tokens = token === undefined ? [] : [addressOption(options, 'token')];
      const place = await placeOf(options);
      const deposits = await findDeposits(place, order, tokens, await chainTime(place));
      const transactions = [];
      const skipped = [];
      for (const deposit of deposits) {
        const { orderId, data, amount, refundAddress, problem } = deposit;
        const what = `${amount} of ${deposit.token === ZERO_ADDRESS ? "the chain's coin" : deposit.token}`;
        if (problem !== undefined) skipped.push({ orderId, why: `${what}: ${problem}` });
        else transactions.push({ to: place.gateway, data, does: `sends ${what} to ${refundAddress}` });
      }
      return carryOut(place, options, { transactions, skipped });
    },
  },
  'kit verify': {
    does: 'checks a receipt, by itself or also against the chain; exits with 1 if a field is wrong',
    examples: ['kit verify --receipt receipt.json', `kit verify --receipt receipt.json ${onChain}`],
    options: [
      mandatory('--receipt <file>', 'the receipt, as JSON'),
      optional('--rpc <url>', 'a node of the chain; needs --gateway'),
      optional('--gateway <address>', 'the gateway of the installation; needs --rpc'),
      optional('--via <addresses>', 'the published vault and route, which the order must leave through'),
      fromBlockOption,
    ],
    async run(options) {
      const receipt = readFile(options.required('receipt'), 'receipt', parseReceipt);
      const isOffline = ['rpc', 'gateway'].every((name) => options.optional(name) === undefined);
      const published = publishedOf(options);
      const verdict = isOffline
        ? await checkOffline(receipt, published)
        : await verifyOnChain(receipt, published, options);
      const lines = describeVerdict(verdict);
      const { isValid, status } = verdict;
      if (!isValid) lines.push('the receipt is not valid');
      else if (status !== undefined) lines.push(`the receipt is valid: ${status}`);
      else {
        const place = 'give --rpc and --gateway';
        lines.push(`the receipt is consistent; only its chain can show whether it was paid: ${place}`);
      }
      return { text: lines.join('\n'), json: verdict, isBad: !isValid };
    },
  },
};

async function checkOffline(receipt: Receipt, published: readonly string[]): Promise<Verdict> {
  const { order: _order, ...verdict } = await checkReceipt(receipt, published);
  return verdict;
}

async function verifyOnChain(
  receipt: Receipt,
  published: readonly string[],
  options: Options,
): Promise<Verdict> {
  const { request, gateway } = await placeOf(options);
  return verifyReceipt(receipt, { request, gateway, fromBlock: fromBlockOf(options), published });
}

function publishedOf(options: Options): readonly string[] {
  const given = options.optional('via');
  // As from a variable of a shell that is not set: nothing would be compared.
  if (given === '') throw new UsageError('--via: it is empty');
  try {
    return parsePublished(given ?? '');
  } catch (error) {
    throw new UsageError(`--via: ${(error as Error).message}`);
  }
}

async function placeOf(options: Options): Promise<Place> {
  const url = rpcOption(options.required('rpc'));
  try {
    return await openPlace(openRequest(url), addressOption(options, 'gateway'));
  } catch (error) {
    // viem's errors show the URL, which often holds an access key.
    if (error instanceof UsageError || !(error instanceof Error) || error.name !== 'Error') {
      throw error instanceof UsageError
        ? error
        : new CommandError(`the node at ${new URL(url).host} does not answer`);
    }
    throw new CommandError(error.message);
  }
}

function searchOf(options: Options): Search {
  const names = ['payer', 'channel', 'recipient'].filter((name) => options.optional(name) !== undefined);
  if (names.length !== 1) throw new UsageError('give exactly one of --payer, --channel and --recipient');
  const fromBlock = fromBlockOf(options);
  const channel = options.optional('channel');
  if (channel === undefined) {
    const [name = ''] = names;
    return { [name]: addressOption(options, name), fromBlock };
  }
  if (!/^0x[0-9a-fA-F]{64}$/.test(channel))
    throw new UsageError('--channel is a channelId: 32 bytes in hexadecimal');
  return { channelId: channel, fromBlock };
}

function fromBlockOf(options: Options): bigint {
  const text = options.optional('from-block') ?? '0';
  if (!/^(0|[1-9][0-9]*)$/.test(text)) throw new UsageError('--from-block is a block number');
  return BigInt(text);
}

/** The found payments, or the one that `--order` names. */
async function chosen(place: Place, options: Options, search: Search): Promise<Payment[]> {
  const payments = await findPayments(place, { ...search, fromBlock: fromBlockOf(options) });
  const wanted = options.optional('order')?.toLowerCase();
  if (wanted === undefined) return payments;
  const found = payments.filter(({ orderId }) => orderId === wanted);
  if (found.length === 0) throw new CommandError(`there is no payment of the order ${wanted}`);
  return found;
}

function planEach(payments: readonly Payment[], problemOf: (payment: Payment) => string | undefined) {
  const fit: (Payment & Required<Pick<Payment, 'order'>>)[] = [];
  const skipped: Plan['skipped'][number][] = [];
  for (const payment of payments) {
    const why = problemOf(payment);
    if (why !== undefined) skipped.push({ orderId: payment.orderId, why });
    else if (payment.order !== undefined) fit.push({ ...payment, order: payment.order });
  }
  return { fit, skipped };
}

/** Sends the transactions with the given key, or shows them. */
async function carryOut(
  place: Place,
  options: Options,
  { transactions, skipped }: Plan,
): Promise<CommandResult> {
  const keyFile = options.optional('key-file');
  const lines = skipped.map(({ orderId, why }) => `omitted ${orderId}: ${why}`);
  if (keyFile === undefined) {
    for (const { to, data, does } of transactions)
      lines.push(`to send, ${does}:`, `to    ${to}`, `data  ${data}`);
    if (transactions.length === 0) lines.push('there is nothing to send');
    return { text: lines.join('\n'), json: { transactions, skipped } };
  }
  const transport = custom({ request: ({ method, params }) => place.request(method, params ?? []) });
  const wallet = createWalletClient({ account: privateKeyToAccount(readKeyFile(keyFile)), transport });
  const sent: { transaction: Hex; does: string }[] = [];
  for (const { to, data, does } of transactions) {
    const transaction = await wallet.sendTransaction({ to, data, chain: null });
    sent.push({ transaction, does });
    lines.push(`sent ${transaction}, which ${does}`);
  }
  if (sent.length === 0) lines.push('there was nothing to send');
  return { text: lines.join('\n'), json: { sent, skipped } };
}

function readFile<T>(path: string, name: string, parse: (text: string) => T): T {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CommandError(`${path} is not a valid ${name}: ${(error as Error).message}`);
  }
}
