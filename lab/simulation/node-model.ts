import {
  bloomOf,
  type NodeConnection,
  type RpcCall,
  RpcError,
  type RpcOutcome,
  RpcUnavailable,
} from '@florin/evm';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex, Order } from '@florin/protocol/order.ts';
import {
  type Abi,
  decodeFunctionData,
  encodeErrorResult,
  encodeFunctionResult,
  getAbiItem,
  keccak256,
  parseTransaction,
  toFunctionSelector,
  zeroAddress,
} from 'viem';
import { blockAt, type ChainModel } from './chain-model.ts';
import { unlimited } from './configuration.ts';
import { execute } from './contract-model.ts';
import { balanceOf } from './contract-state.ts';
import type { Faults } from './faults.ts';
import { logAnswers, quantity, receiptAnswer } from './header-model.ts';
import type { ModelBlock, ModelTransaction } from './model-block.ts';
import { modelOrderId, statusOf } from './order-book-model.ts';
import type { ModelProcess } from './process-model.ts';
import { relayerWallet, senderOf } from './signing-model.ts';
import { payoutLimitsOf } from './vault-model.ts';

/** One node of a chain with its own view: some blocks behind, or stopped, perhaps on a branch that lost. */
export class NodeModel {
  readonly chain: ChainModel;
  readonly name: string;
  /** Blocks behind the head while the node follows. */
  lag = 0;
  /** The maximum lag. Each exchange draws a lag up to it. */
  maxLag = 0;
  #stuck: { readonly head: ModelBlock; readonly finalized: ModelBlock; readonly untilMs: number } | undefined;
  #wrongUntilMs = 0;
  readonly #faults: Faults;

  constructor(chain: ChainModel, name: string, faults: Faults) {
    this.chain = chain;
    this.name = name;
    this.#faults = faults;
  }

  /** Stops the node, or lets it follow again when its time is up. */
  updateFaults(nowMs: number): void {
    const { random } = this.#faults;
    if (this.#stuck !== undefined && nowMs >= this.#stuck.untilMs) this.#stuck = undefined;
    if (this.#stuck !== undefined) return;
    if (this.#faults.occurs('nodeStuck')) {
      const untilMs = nowMs + random.between(4_000, 30_000);
      this.#stuck = { head: this.#head(), finalized: this.#finalized(), untilMs };
    }
    if (this.#faults.occurs('rpcWrongChain')) this.#wrongUntilMs = nowMs + random.between(1_000, 20_000);
  }

  /** Called at the start of an exchange. */
  drawLag(): void {
    if (this.maxLag > 0) this.lag = this.#faults.random.between(0, this.maxLag);
  }

  /** Makes the node healthy for good. */
  endFaults(): void {
    this.maxLag = 0;
    this.#stuck = undefined;
    this.#wrongUntilMs = 0;
    this.lag = 0;
  }

  answer(call: RpcCall, nowMs: number): RpcOutcome {
    try {
      return { result: this.#result(call, nowMs) };
    } catch (error) {
      if (error instanceof RpcError) return { error };
      throw error;
    }
  }

  #head(): ModelBlock {
    if (this.#stuck !== undefined) return this.#stuck.head;
    const { head } = this.chain;
    return blockAt(head, Math.max(0, head.number - this.lag)) ?? head;
  }

  #finalized(): ModelBlock {
    const { finalized } = this.#stuck ?? this.chain;
    const own = blockAt(this.#head(), Math.min(finalized.number, this.#head().number));
    return own ?? finalized;
  }

  #result({ method, params }: RpcCall, nowMs: number): unknown {
    const { chain } = this.chain;
    switch (method) {
      case 'eth_chainId':
        return quantity(nowMs < this.#wrongUntilMs ? 999_999 : chain.chainId);
      case 'eth_getBlockByNumber':
        return this.#blockAnswer(params[0]);
      case 'eth_getLogs':
        return this.#logs(params[0]);
      case 'eth_getBlockReceipts': {
        const block = this.#blockByHash(params[0]);
        return block === undefined ? null : this.#receipts(block);
      }
      case 'eth_getTransactionReceipt':
        return this.#receipt(params[0]);
      case 'eth_getTransactionCount':
        return this.#transactionCount(params[0], params[1]);
      case 'eth_feeHistory':
        return { baseFeePerGas: [quantity(this.#head().baseFee)], reward: [['0x3b9aca00']] };
      case 'eth_estimateGas':
        return this.#estimate(params[0]);
      case 'eth_getBalance':
        return quantity(this.#gasOf(String(params[0])));
      case 'eth_call':
        return this.#call(params[0], params[1]);
      case 'eth_sendRawTransaction':
        return this.#send(params[0]);
      default:
        throw new RpcError(-32601, `the method ${method} does not exist`);
    }
  }

  /** For some blocks, the wallet that sends payments for payers has no gas. */
  #gasOf(address: string): bigint {
    const isRelayer = address.toLowerCase() === relayerWallet.address.toLowerCase();
    return isRelayer && this.#head().number % 32 < 8 ? 0n : unlimited;
  }

  #blockByTag(tag: unknown): ModelBlock | undefined {
    if (tag === 'latest') return this.#head();
    if (tag === 'finalized' || tag === 'safe') {
      const block = this.#finalized();
      if (!this.#faults.occurs('rpcFinalizedBack')) return block;
      return blockAt(block, Math.max(0, block.number - this.#faults.random.between(1, 3)));
    }
    return blockAt(this.#head(), Number(tag));
  }

  #blockAnswer(tag: unknown): unknown {
    const block = this.#blockByTag(tag);
    if (block === undefined) return null;
    const transactions = block.transactions.map(({ transaction }) => transaction.hash);
    return { ...block.header, hash: block.hash, transactions };
  }

  /** Finds a block by its hash on this node's branch. */
  #blockByHash(hash: unknown): ModelBlock | undefined {
    const block = this.chain.byHash.get(String(hash) as Hex);
    return block !== undefined && blockAt(this.#head(), block.number) === block ? block : undefined;
  }

  #logs(filter: unknown): unknown {
    const { blockHash, fromBlock, toBlock, address, topics } = filter as LogFilter;
    const blocks =
      fromBlock === undefined
        ? [this.#blockByHash(blockHash)]
        : this.#blockRange(Number(fromBlock), Number(toBlock));
    // Like go-ethereum for years (issues 24078 and 27353): a block that the node lacks has no logs.
    const logs = blocks.flatMap((block) =>
      block === undefined ? [] : block.transactions.flatMap((mined) => logAnswers(block, mined)),
    );
    return this.#withFaults(logs.filter((log) => matchesFilter(log, address, topics)));
  }

  #blockRange(from: number, to: number): ModelBlock[] {
    const blocks: ModelBlock[] = [];
    const head = this.#head();
    for (let number = from; number <= Math.min(to, head.number); number += 1) {
      const block = blockAt(head, number);
      if (block !== undefined) blocks.push(block);
    }
    return blocks;
  }

  #withFaults(logs: readonly Log[]): readonly Log[] {
    const { random } = this.#faults;
    if (this.#faults.occurs('rpcPartialLogs')) return random.chance(0.5) ? [] : logs.slice(0, -1);
    if (!this.#faults.occurs('rpcLyingLogs')) return logs;
    const [first] = logs;
    if (first === undefined) return logs;
    return random.pick([
      [...logs, first],
      logs.toReversed().concat(logs.length === 1 ? logs : []),
      logs.map((log) => ({ ...log, blockHash: this.chain.finalized.hash })),
      logs.map((log) => ({ ...log, removed: true })),
    ]);
  }

  #receipts(block: ModelBlock): unknown {
    const receipts = block.transactions.map((mined, index) => receiptAnswer(block, mined, index));
    const { random } = this.#faults;
    if (this.#faults.occurs('rpcPartialLogs')) {
      const partial = random.pick([
        [],
        receipts.slice(0, -1),
        receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.slice(0, -1) })),
      ]);
      return this.#isHiddenAgain(block, partial) ? receipts : partial;
    }
    if (!this.#faults.occurs('rpcLyingLogs')) return receipts;
    return random.pick([
      [...receipts, ...receipts],
      receipts.map((receipt) => ({ ...receipt, blockHash: this.chain.finalized.hash })),
      receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.toReversed() })),
      receipts.map((receipt) => ({ ...receipt, logs: [...receipt.logs, ...receipt.logs] })),
    ]);
  }

  /**
   * Whether logs of this block were already left out once in a way that no bloom shows. Without proofs and with a
   * quorum of one node, the service finds such a log only when it reads the block again (decision 78).
   */
  #isHiddenAgain(block: ModelBlock, partial: readonly Receipt[]): boolean {
    const places = partial.flatMap(({ logs }) => logs);
    const count = block.transactions.reduce((sum, { logs }) => sum + logs.length, 0);
    const isNoticed = [{ logs: places, logsBloom: block.bloom }, ...partial].some(
      ({ logs, logsBloom }) => bloomOf(logs.flatMap((log) => [log.address, ...log.topics])) !== logsBloom,
    );
    if (places.length === count || isNoticed) return false;
    if (this.chain.blocksWithHiddenLogs.has(block.hash)) return true;
    this.chain.blocksWithHiddenLogs.add(block.hash);
    return false;
  }

  #receipt(hash: unknown): unknown {
    for (let block: ModelBlock | undefined = this.#head(); block !== undefined; block = block.parent) {
      const index = block.transactions.findIndex(({ transaction }) => transaction.hash === hash);
      const mined = block.transactions[index];
      if (mined !== undefined) return receiptAnswer(block, mined, index);
    }
    return null;
  }

  #transactionCount(address: unknown, tag: unknown): Hex {
    if (tag === 'pending') return quantity(this.chain.pendingNonce(String(address) as Hex));
    const block = this.#blockByTag(tag);
    if (block === undefined) throw new RpcError(-32000, 'header not found');
    return quantity(this.chain.nextNonce(String(address) as Hex, block));
  }

  #estimate(request: unknown): Hex {
    const { from, to, data } = request as { from: Hex; to: Hex; data: Hex };
    const head = this.#head();
    const result = execute(this.chain.context(head.timeSeconds), head.state, { from, to, data });
    if ('reverted' in result) throw new RpcError(3, 'execution reverted', this.#revertData(result.reverted));
    return quantity(200_000);
  }

  /** Encodes the gateway's errors. The errors of tokens and other contracts carry no data here. */
  #revertData(name: string): Hex {
    const error = paymentGatewayAbi.find((item) => item.type === 'error' && item.name === name);
    if (error === undefined) return '0x';
    const args = name === 'TransferFailed' ? this.chain.chain.tokens.map(({ address }) => address) : [];
    return encodeErrorResult({ abi: [error] as Abi, errorName: name, args });
  }

  #call(request: unknown, tag: unknown): Hex {
    const { from, to, data } = request as { from?: Hex; to: Hex; data: Hex };
    const block = isByHash(tag) ? this.#blockByHash(tag.blockHash) : this.#blockByTag(tag);
    if (block === undefined) throw new RpcError(-32000, 'header not found');
    if (data.startsWith(transferSelector)) {
      const call = { from: from ?? zeroAddress, to, data };
      const result = execute(this.chain.context(block.timeSeconds), block.state, call);
      if ('reverted' in result) throw new RpcError(3, 'execution reverted', '0x');
      return `0x${'1'.padStart(64, '0')}`;
    }
    const account: Hex = `0x${data.slice(-40)}`;
    const amount = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
    if (data.startsWith(balanceSelector)) return amount(balanceOf(block.state, account, to));
    if (data.startsWith(feesSelector))
      return amount(block.state.accruedFees.get(account.toLowerCase()) ?? 0n);
    const { vault } = this.chain.chain;
    if (data.startsWith(availableSelector))
      return amount(payoutLimitsOf(block.state, { vault, token: account }, block.timeSeconds).available);
    if (data.startsWith(statusSelector)) return amount(BigInt(this.#statusOf(block, data)));
    if (!data.startsWith(capsSelector)) throw new RpcError(3, 'execution reverted', '0x');
    const caps = block.state.caps.get(account.toLowerCase()) ?? { perOrder: 0n, hourly: 0n, daily: 0n };
    return encodeFunctionResult({ abi: payoutVaultAbi, functionName: 'capsOf', result: caps });
  }

  #statusOf({ state }: ModelBlock, data: Hex): number {
    const { args } = decodeFunctionData({ abi: paymentGatewayAbi, data });
    const order = args?.[0] as Order;
    return statusOf(state, order, modelOrderId(this.chain.chain.chainId, this.chain.chain.gateway, order));
  }

  #send(raw: unknown): Hex {
    const transaction = readTransaction(String(raw) as Hex);
    const { hash } = transaction;
    if (this.#faults.occurs('rpcDropped')) return hash;
    const refusal = this.chain.submit(transaction);
    if (refusal !== undefined) throw new RpcError(-32000, refusal);
    return hash;
  }
}

/** Selectors of `available(address)`, `capsOf(address)` and `balanceOf(address)`. */
const availableSelector = '0x10098ad5';
const capsSelector = toFunctionSelector('capsOf(address)');
const balanceSelector = '0x70a08231';
const statusSelector = toFunctionSelector(getAbiItem({ abi: paymentGatewayAbi, name: 'orderStatus' }));
const feesSelector = toFunctionSelector('accruedFees(address)');
const transferSelector = toFunctionSelector('transfer(address,uint256)');

/** A block that is named as EIP-1898 does. */
function isByHash(tag: unknown): tag is { readonly blockHash: Hex } {
  return typeof tag === 'object' && tag !== null && 'blockHash' in tag;
}

interface LogFilter {
  readonly blockHash?: Hex;
  readonly fromBlock?: Hex;
  readonly toBlock?: Hex;
  readonly address?: readonly string[];
  readonly topics?: readonly (null | readonly string[] | string)[];
}

type Log = ReturnType<typeof logAnswers>[number];
type Receipt = ReturnType<typeof receiptAnswer>;

function matchesFilter(log: Log, addresses: LogFilter['address'], topics: LogFilter['topics'] = []): boolean {
  if (addresses?.some((address) => address.toLowerCase() === log.address) === false) return false;
  return topics.every((expected, index) => {
    const topic = log.topics[index] ?? '';
    return (
      expected === null || (typeof expected === 'string' ? expected === topic : expected.includes(topic))
    );
  });
}

/** Reads a transaction of one of the service's wallets. Only they send through nodes. */
export function readTransaction(raw: Hex): ModelTransaction {
  const { nonce = 0, to, data = '0x', maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(raw);
  if (to == null) throw new RpcError(-32000, 'a contract creation');
  const hash = keccak256(raw);
  return {
    hash,
    from: senderOf(raw),
    nonce,
    to,
    data,
    maxFee: maxFeePerGas ?? 0n,
    tip: maxPriorityFeePerGas ?? 0n,
  };
}

/** The connection of one process to a node. An exchange is two events, effect and answer, and either may be lost. */
export function connectionTo(node: NodeModel, process: ModelProcess, faults: Faults): NodeConnection {
  const { random } = faults;
  return {
    name: node.name,
    exchange: (calls, { timeLimitMs }) =>
      new Promise((resolve, reject) => {
        const label = `${node.name} ${calls.map(({ method }) => method.slice(4)).join(',')}`;
        process.io(random.between(5, 120), `rpc ${label}`, () => {
          const { nowMs } = process.scheduler;
          const isLost = faults.occurs('rpcTimeout');
          if (isLost && random.chance(0.5)) {
            process.io(timeLimitMs, `rpc ${label} timed out`, () => reject(new RpcUnavailable('timed out')));
            return;
          }
          node.drawLag();
          const isFailing = !isLost && faults.occurs('rpcError');
          const outcomes =
            isFailing && random.chance(0.5) ? [] : calls.map((call) => node.answer(call, nowMs));
          const wait = isLost ? timeLimitMs : random.between(5, 120);
          process.io(wait, `rpc ${label} answered`, () => {
            if (isLost) reject(new RpcUnavailable('timed out'));
            else if (isFailing) reject(new RpcUnavailable('HTTP status 502'));
            else resolve(outcomes);
          });
        });
      }),
    close: async () => {},
  };
}
