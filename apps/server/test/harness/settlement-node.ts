import { type Rpc, type RpcCall, RpcError, type RpcOutcome, resultOf } from '@florin/evm';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { concat, getAbiItem, toFunctionSelector, toHex } from 'viem';

/** A call at a block's tag, or at the block of a hash. */
export interface ContractCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly at: unknown;
}

const balanceSelector = toFunctionSelector('balanceOf(address)');
const availableSelector = toFunctionSelector('available(address)');
const pausedSelector = toFunctionSelector('paused()');
const paidOutSelector = toFunctionSelector('isPaidOut(bytes32)');
const statusSelector = toFunctionSelector(getAbiItem({ abi: paymentGatewayAbi, name: 'orderStatus' }));

/** What the nodes of every chain answer. They accept every transaction. */
export class SettlementNode {
  /** The amount that the vaults report as available. */
  available = 10n ** 30n;
  perOrderCap = 10n ** 30n;
  hourlyCap = 10n ** 30n;
  dailyCap = 10n ** 30n;
  /** The balance of the vaults, regardless of their caps. */
  held = 10n ** 30n;
  /** What the gateways say of every order. */
  orderStatus = 2;
  /** The vaults that say of every order that they have paid it. */
  readonly paidBy = new Set<Hex>();
  /** What further nodes, each of another provider, answer to calls. Undefined: an error of the node. */
  otherNodes: readonly ((call: ContractCall) => Hex | undefined)[] = [];
  /** Contracts whose reads fail. */
  readonly refusing = new Set<Hex>();
  /** Tokens whose issuer has paused them. */
  readonly pausedTokens = new Set<Hex>();
  /** Wei per gas. */
  baseFee = 1n;
  /** The gas of a call; undefined: it would revert. */
  gasOf: (data: Hex) => bigint | undefined = () => 200_000n;

  node(): Rpc {
    const answer = ({ method, params }: RpcCall): RpcOutcome => {
      if (method === 'eth_estimateGas') return this.#estimate(params[0] as { data: Hex });
      if (method === 'eth_feeHistory')
        return { result: { baseFeePerGas: ['0x1', toHex(this.baseFee)], reward: [['0x1']] } };
      if (method === 'eth_getTransactionCount') return { result: '0x0' };
      if (method === 'eth_sendRawTransaction') return { result: `0x${'0'.repeat(64)}` };
      if (method === 'eth_call') return this.#read(params[0] as { to: Hex; data: Hex });
      throw new Error(`the node was asked for ${method}`);
    };
    const nodes = this.otherNodes.map((read) => ({ params }: RpcCall): RpcOutcome => {
      const [{ to, data }, at] = params as [{ to: Hex; data: Hex }, unknown];
      const result = read({ to, data, at });
      return result === undefined ? { error: new RpcError(-32000, 'missing trie node') } : { result };
    });
    return {
      request: async (method, params) => resultOf(answer({ method, params })),
      batch: async (calls) => calls.map(answer),
      askEach: async (calls) =>
        [answer, ...nodes].map((ask, index) => ({ node: String(index), outcomes: calls.map(ask) })),
    };
  }

  #read({ to, data }: { to: Hex; data: Hex }): RpcOutcome {
    if (this.refusing.has(to)) return { error: new RpcError(3, 'execution reverted', '0x') };
    const word = (value: bigint | number | boolean) => ({ result: toHex(value, { size: 32 }) });
    if (data.startsWith(pausedSelector)) return word(this.pausedTokens.has(to));
    if (data.startsWith(paidOutSelector)) return word(this.paidBy.has(to));
    if (data.startsWith(statusSelector)) return word(this.orderStatus);
    if (data.startsWith(availableSelector)) return word(this.available);
    if (data.startsWith(balanceSelector)) return word(this.held);
    const caps = [this.perOrderCap, this.hourlyCap, this.dailyCap];
    return { result: concat(caps.map((cap) => toHex(cap, { size: 32 }))) };
  }

  #estimate({ data }: { data: Hex }): RpcOutcome {
    const gas = this.gasOf(data);
    if (gas !== undefined) return { result: toHex(gas) };
    return { error: new RpcError(3, 'execution reverted', '0x') };
  }
}
