/** The package's only entry: it exports everything that other packages may use. */

export type { Clock, Log } from './context.ts';
export {
  type BlockHeader,
  call,
  calls,
  checkTransactionReceipt,
  getBalance,
  getBlock,
  getCode,
  getGasPrice,
  getTransactionCount,
  getTransactionReceipt,
  headerIn,
  type LogContent,
  parseFeeHistory,
  parseHeader,
  parseLogs,
  parseTransactionReceipt,
  type RpcLog,
  revertDataOf,
  type TransactionReceipt,
  toQuantity,
} from './nodes/actions.ts';
export { getReceiptsOfBlocks } from './nodes/block-receipts.ts';
export { type BloomBits, bloomBitsOf, bloomOf, isSubset, mayContain, unionOf } from './nodes/bloom.ts';
export { readContract } from './nodes/contract-read.ts';
export { headerHashOf } from './nodes/header-hash.ts';
export { type HttpRpc, type NodeExchange, type NodeFinding, openHttpRpc, rpcOver } from './nodes/http-rpc.ts';
export { newHeads } from './nodes/new-heads.ts';
export { parseData, parseHash, parseQuantity, parseRecord } from './nodes/parse.ts';
export { countProviders } from './nodes/provider.ts';
export { isBorReceipt, receiptsRootOf } from './nodes/receipts-root.ts';
export { encodeRlp, integerBytes, type RlpItem } from './nodes/rlp.ts';
export {
  boundTo,
  type NodeAnswer,
  pollNodes,
  type Rpc,
  RpcAnswerInvalid,
  type RpcCall,
  RpcError,
  type RpcOutcome,
  RpcUnavailable,
  resultOf,
  wordsIn,
} from './nodes/rpc.ts';
export type { NodeConnection } from './nodes/transport.ts';
export { askTwoNodes, askTwoNodesBatch } from './nodes/witness.ts';
export { evmLocks } from './sender/advisory-lock.ts';
export {
  defaultSenderSettings,
  type SenderContext,
  type SenderOptions,
} from './sender/context.ts';
export { countForeignTransactions } from './sender/foreign-use.ts';
export { readGasBalance } from './sender/gas-balance.ts';
export { createSender, type Sender } from './sender/sender.ts';
export { newLoopState, senderRound } from './sender/sender-loop.ts';
export { type SentTrigger, sentMoves } from './sender/sent.machine.ts';
export {
  GasLimitExceeded,
  type OutcomeHandler,
  type PurposeRules,
  type RevertedPlan,
  type SendCall,
  type SendPlan,
  type SendRequest,
  type SentOutcome,
} from './sender/sent.ts';
export { revertOutcomes } from './sender/store.ts';
export { type WalletSigner, walletOf } from './sender/wallet.ts';
export { eachWithEvents, fetchBlocks, fetchHeaders } from './watcher/block-source.ts';
export type { FinalityRule, FollowedChain } from './watcher/chain.ts';
export {
  appendBlocks,
  beginChain,
  finalize,
  haltChain,
  removeHead,
  storedBlock,
} from './watcher/chain-move.ts';
export type { MoveContext, Watcher } from './watcher/context.ts';
export {
  backfillChain,
  type ChainCursor,
  eventsOfTransaction,
  findCursor,
  lockChain,
  resumeChain,
} from './watcher/cursor.ts';
export {
  type Block,
  type BlockHandler,
  type FollowedEvent,
  inOrder,
  type LogSource,
} from './watcher/event.ts';
export { unprovenPart } from './watcher/proof-check.ts';
export { addMissing, rewind } from './watcher/recovery.ts';
export { freshState } from './watcher/state.ts';
export { runWatcher, watchRound } from './watcher/watcher.ts';
