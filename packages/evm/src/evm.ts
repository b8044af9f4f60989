/** The package's only entry: it exports everything that other packages may use. */

export {
  type BlockHeader,
  call,
  calls,
  checkReceipt,
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
  parseReceipt,
  type Receipt,
  type RpcLog,
  revertDataOf,
  toQuantity,
} from './actions.ts';
export { evmLocks } from './advisory-lock.ts';
export { getReceiptsOfBlocks } from './block-receipts.ts';
export { type BloomBits, bloomBitsOf, bloomOf, isSubset, mayContain, unionOf } from './bloom.ts';
export type { Clock, Log } from './context.ts';
export { readContract } from './contract-read.ts';
export { headerHashOf } from './header-hash.ts';
export { type HttpRpc, openHttpRpc, rpcOver } from './http-rpc.ts';
export { newHeads } from './new-heads.ts';
export { parseData, parseHash, parseQuantity, parseRecord } from './parse.ts';
export { countProviders } from './provider.ts';
export { isBorReceipt, receiptsRootOf } from './receipts-root.ts';
export { encodeRlp, integerBytes, type RlpItem } from './rlp.ts';
export {
  boundTo,
  type NodeAnswer,
  type Rpc,
  RpcAnswerInvalid,
  type RpcCall,
  RpcError,
  type RpcOutcome,
  RpcUnavailable,
  resultOf,
  surveyOf,
} from './rpc.ts';
export {
  defaultSenderSettings,
  type SenderContext,
  type SenderOptions,
} from './sender/context.ts';
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
export { takeBackOutcomes } from './sender/store.ts';
export { type WalletSigner, walletOf } from './sender/wallet.ts';
export type { NodeConnection } from './transport.ts';
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
export { askWitnesses, askWitnessesTogether } from './witness.ts';
