/** The package's one entry: everything that others may use is exported here. */

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
export type { NodeConnection } from './transport.ts';
export { askWitnesses, askWitnessesTogether } from './witness.ts';
