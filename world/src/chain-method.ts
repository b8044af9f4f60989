import type { Mining } from './anvil-process.ts';

/** How the keeper of a chain handles a method. */
export type MethodKind = 'read' | 'command' | 'mine' | 'clock' | 'mining-mode' | 'irreproducible' | 'refused';

const WRITING_ETH = new Set(['eth_sendRawTransaction', 'eth_sendTransaction', 'eth_sendUnsignedTransaction']);
/** These wait inside the node for a block, which the keeper cannot mine while it waits for them. */
const REFUSED = new Set([
  'eth_sendRawTransactionSync',
  'eth_sendTransactionSync',
  'evm_mine_detailed',
  'anvil_mine_detailed',
]);
const READING_PREFIX = /^(?:net|web3|debug|trace|txpool|ots|erigon|rpc)_/;
const CHEAT_PREFIX = /^(?:anvil|hardhat|evm|tenderly)_/;
const READING_CHEATS = new Set([
  'nodeInfo',
  'metadata',
  'dumpState',
  'getAutomine',
  'getIntervalMining',
  'getBlobByHash',
  'getBlobsByTransactionHash',
  'getBlobsByBlockId',
  'getGenesisTime',
  'setLoggingEnabled',
]);
const CLOCK = new Set([
  'increaseTime',
  'setTime',
  'setNextBlockTimestamp',
  'setBlockTimestampInterval',
  'removeBlockTimestampInterval',
]);
const MINING_MODE = new Set(['setAutomine', 'setIntervalMining']);
/** A replay from an earlier state would not repeat these exactly, so a state dump follows at once. */
const IRREPRODUCIBLE = new Set(['reorg', 'rollback', 'revert', 'loadState', 'reset', 'setChainId']);

/** Settings that last until a node ends and that no state dump holds. */
const LASTING = new Set([
  'impersonateAccount',
  'stopImpersonatingAccount',
  'autoImpersonateAccount',
  'setMinGasPrice',
]);

/** Whether a command's effect outlives blocks and is missing from a state dump. */
export const isLasting = (method: string): boolean => LASTING.has(method.replace(CHEAT_PREFIX, ''));

/** Classifies a JSON-RPC method. Unknown ones count as commands, which is safe. */
export const classifyMethod = (method: string): MethodKind => {
  if (REFUSED.has(method)) return 'refused';
  if (method.startsWith('eth_')) return WRITING_ETH.has(method) ? 'command' : 'read';
  if (READING_PREFIX.test(method)) return 'read';
  if (!CHEAT_PREFIX.test(method)) return 'command';
  const name = method.replace(CHEAT_PREFIX, '');
  if (READING_CHEATS.has(name)) return 'read';
  if (name === 'mine') return 'mine';
  if (CLOCK.has(name)) return 'clock';
  if (MINING_MODE.has(name)) return 'mining-mode';
  return IRREPRODUCIBLE.has(name) ? 'irreproducible' : 'command';
};

/** A count or time of a JSON-RPC parameter: a number, or decimal or hexadecimal text. */
export const readNumber = (value: unknown): number | undefined => {
  if (value === undefined || value === null) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
};

/** The parameters of `evm_mine` or `anvil_mine`: number of blocks, time of the first, seconds between them. */
export const readMineRequest = (
  method: string,
  [first, second]: readonly unknown[],
): { count: number; at: number | undefined; step: number | undefined } => {
  if (!method.startsWith('evm_')) {
    return { count: readNumber(first) ?? 1, at: undefined, step: readNumber(second) };
  }
  if (typeof first !== 'object' || first === null)
    return { count: 1, at: readNumber(first), step: undefined };
  const { timestamp, blocks } = first as { timestamp?: unknown; blocks?: unknown };
  return { count: readNumber(blocks) ?? 1, at: readNumber(timestamp), step: undefined };
};

/** The mining mode that `setAutomine` or `setIntervalMining` sets, named without their prefix. */
export const readMiningMode = (name: string, value: unknown): Mining => {
  if (name === 'setAutomine') return value === true ? 'automatic' : 'manual';
  const seconds = readNumber(value);
  if (seconds === undefined) throw new TypeError('A number of seconds is required.');
  return seconds === 0 ? 'manual' : { seconds };
};
