import type { Hex } from 'viem';
import { parseTransactionReceipt, type TransactionReceipt } from '../src/nodes/actions.ts';
import { bloomOf } from '../src/nodes/bloom.ts';
import { headerHashOf } from '../src/nodes/header-hash.ts';
import { receiptsRootOf } from '../src/nodes/receipts-root.ts';
import type { Lie } from './lying-rpc.ts';

interface RawLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly logIndex: string;
  readonly transactionHash: Hex;
}

interface RawReceipt {
  readonly logs: readonly RawLog[];
  readonly logsBloom: Hex;
  readonly transactionHash: Hex;
  readonly status: string;
  readonly type: string;
}

type RawBlock = Readonly<Record<string, unknown>> & { readonly transactions: readonly Hex[] };

const emptyBloom: Hex = `0x${'00'.repeat(256)}`;
const forgedOrder: Hex = `0x${'f0'.repeat(32)}`;

function withLogs(receipt: RawReceipt, logs: readonly RawLog[]): RawReceipt {
  const values = logs.flatMap((log) => [log.address, ...log.topics]);
  return { ...receipt, logs, logsBloom: bloomOf(values) };
}

function changeFirst<T>(items: readonly T[], change: (item: T) => T): T[] {
  return items.map((item, index) => (index === 0 ? change(item) : item));
}

function changeLog(change: (log: RawLog) => RawLog) {
  return (receipts: readonly RawReceipt[]) =>
    changeFirst(receipts, (receipt) => withLogs(receipt, changeFirst(receipt.logs, change)));
}

/** Adds a forged payment to the first receipt and its bloom filter. */
function forgePayment(receipts: readonly RawReceipt[]): RawReceipt[] {
  return changeFirst(receipts, (receipt) =>
    withLogs(
      receipt,
      receipt.logs.flatMap((log) => [
        log,
        { ...log, topics: [log.topics[0] ?? '0x', forgedOrder, ...log.topics.slice(2)], logIndex: '0x1' },
      ]),
    ),
  );
}

function swap<T>([first, second, ...rest]: readonly T[]): T[] {
  return [second, first, ...rest].filter((item) => item !== undefined);
}

/** Lies about the receipts of a block with one log of ours in each of two transactions. */
const receiptLies: Readonly<Record<string, (receipts: readonly RawReceipt[]) => unknown>> = {
  'no receipts': () => [],
  'no such block': () => null,
  'one receipt left out': (receipts) => receipts.slice(1),
  'a log left out': (receipts) => changeFirst(receipts, (receipt) => withLogs(receipt, [])),
  'all logs left out': (receipts) => receipts.map((receipt) => withLogs(receipt, [])),
  'a forged payment': forgePayment,
  'a payment told twice': (receipts) =>
    changeFirst(receipts, (receipt) => withLogs(receipt, [...receipt.logs, ...receipt.logs])),
  'another amount': changeLog((log) => ({
    ...log,
    data: `${log.data.slice(0, -1)}${log.data.endsWith('7') ? '8' : '7'}` as Hex,
  })),
  'another order': changeLog((log) => ({
    ...log,
    topics: [log.topics[0] ?? '0x', forgedOrder, ...log.topics.slice(2)],
  })),
  'another contract': changeLog((log) => ({ ...log, address: `0x${'99'.repeat(20)}` })),
  'one topic less': changeLog((log) => ({ ...log, topics: log.topics.slice(0, -1) })),
  'receipts in another order': swap,
  'hashes of transactions exchanged': (receipts) => {
    const hashes = swap(receipts.map((receipt) => receipt.transactionHash));
    return receipts.map((receipt, index) => {
      const transactionHash = hashes[index] ?? '0x';
      return {
        ...receipt,
        transactionHash,
        logs: receipt.logs.map((log) => ({ ...log, transactionHash })),
      };
    });
  },
  'places of logs exchanged': (receipts) =>
    receipts.map((receipt, index) => ({
      ...receipt,
      logs: receipt.logs.map((log) => ({ ...log, logIndex: index === 0 ? '0x1' : '0x0' })),
    })),
  'a failed transaction': (receipts) => changeFirst(receipts, (receipt) => ({ ...receipt, status: '0x0' })),
  'another type': (receipts) => changeFirst(receipts, (receipt) => ({ ...receipt, type: '0x7e' })),
  'a bloom that hides': (receipts) =>
    changeFirst(receipts, (receipt): RawReceipt => ({ ...receipt, logsBloom: emptyBloom })),
  'logs that are no list': (receipts) => receipts.map((receipt) => ({ ...receipt, logs: {} })),
  'a text for an answer': () => 'ok',
};

/** Lies about the block itself, which keeps its hash. */
const blockLies: Readonly<Record<string, (block: RawBlock) => unknown>> = {
  'a bloom without us': (block) => ({ ...block, logsBloom: emptyBloom }),
  'a bloom and a root without us': (block) => ({
    ...block,
    logsBloom: emptyBloom,
    receiptsRoot: receiptsRootOf([]),
  }),
  'another time': (block) => ({ ...block, timestamp: '0x1' }),
  'another number': (block) => ({ ...block, number: '0xffff' }),
  'a field left out': ({ stateRoot, ...block }) => block,
  'a later field left out': ({ requestsHash, ...block }) => block,
  'another hash': (block) => ({ ...block, hash: `0x${'77'.repeat(32)}` }),
  'another parent': (block) => ({ ...block, parentHash: `0x${'77'.repeat(32)}` }),
  'hashes of transactions in another order': (block) => ({
    ...block,
    transactions: swap(block.transactions),
  }),
  'no transactions': (block) => ({ ...block, transactions: [] }),
};

function isBlock(result: unknown): result is RawBlock {
  return typeof result === 'object' && result !== null && 'parentHash' in result;
}

/** Every lie by its name, told of the blocks from a height on. */
export function liesAbout(from: bigint): ReadonlyMap<string, Lie> {
  const lies = new Map<string, Lie>();
  for (const [name, tell] of Object.entries(receiptLies)) {
    lies.set(`receipts: ${name}`, (method, _params, result) =>
      method === 'eth_getBlockReceipts' && Array.isArray(result) && result.length > 0 ? tell(result) : result,
    );
  }
  for (const [name, tell] of Object.entries(blockLies)) {
    lies.set(`block: ${name}`, (method, _params, result) =>
      method.startsWith('eth_getBlockBy') && isBlock(result) && BigInt(String(result['number'])) >= from
        ? tell(result)
        : result,
    );
  }
  lies.set('root and receipts that agree in a forged payment', forgedTogether(from));
  return lies;
}

/** The block keeps its hash, and commits to receipts with a forged payment. */
function forgedTogether(from: bigint): Lie {
  let forged: RawReceipt[] = [];
  return (method, _params, result) => {
    if (method === 'eth_getBlockReceipts' && Array.isArray(result) && result.length > 0) {
      forged = forgePayment(result);
      return forged;
    }
    if (!isBlock(result) || BigInt(String(result['number'])) < from) return result;
    const receipts = forged
      .map(parseTransactionReceipt)
      .filter((receipt): receipt is TransactionReceipt => receipt !== undefined);
    return { ...result, receiptsRoot: receiptsRootOf(receipts) };
  };
}

/**
 * A node that makes up blocks of its own above a height: each hashes to its own hash and builds on the one before it, so
 * that nothing shows it to be no block of the chain. Only other nodes do.
 */
export function inventedFrom(from: bigint): Lie {
  const hashes = new Map<bigint, Hex>();
  return (method, _params, result) => {
    if (!method.startsWith('eth_getBlockBy') || !isBlock(result)) return result;
    const number = BigInt(String(result['number']));
    if (number < from) return result;
    const made = {
      ...result,
      extraData: '0x1badb002',
      parentHash: hashes.get(number - 1n) ?? result['parentHash'],
    };
    const hash = headerHashOf(made) ?? '0x';
    hashes.set(number, hash);
    return { ...made, hash };
  };
}
