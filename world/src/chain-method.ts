/** How the keeper of a chain treats a method. */
export type MethodKind = 'read' | 'command' | 'mine' | 'clock' | 'mining-mode' | 'irreproducible' | 'refused';

const WRITING_ETH = new Set(['eth_sendRawTransaction', 'eth_sendTransaction', 'eth_sendUnsignedTransaction']);
/** They wait inside the node for a block that the keeper, busy with them, would not mine. */
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
/** What a replay from an earlier state would not repeat exactly; a state dump follows at once. */
const IRREPRODUCIBLE = new Set(['reorg', 'rollback', 'revert', 'loadState', 'reset', 'setChainId']);

/** Sorts a JSON-RPC method; unknown ones count as commands, which is the safe side. */
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

/** A count or time of a JSON-RPC parameter: a number, decimal or hexadecimal text. */
export const readNumber = (value: unknown): number | undefined => {
  if (value === undefined || value === null) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
};
