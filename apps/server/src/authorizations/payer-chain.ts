import {
  askTwoNodes,
  askTwoNodesBatch,
  parseData,
  type Rpc,
  RpcUnavailable,
  resultOf,
  toQuantity,
} from '@florin/evm';
import { batchedByKey } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';

/** What the service reads from a payer's chain. Both throw the refusal chain_unavailable when the chain cannot be asked. */
export interface PayerChain {
  /** The code at an address at the newest block; `0x` when there is none. */
  codeAt(chainId: number, address: Hex): Promise<Hex>;
  /**
   * The result of an eth_call at the newest block; undefined when the call reverts or runs out of gas. Without a
   * recipient, `data` is the code of a contract that exists for this call only. Without an offer, the call has no
   * sender and no gas price.
   */
  callAt(
    chainId: number,
    call: { to?: Hex; data: Hex; gas: bigint; offer?: CallOffer },
  ): Promise<Hex | undefined>;
}

/** The apparent sender of a call, and its fees in wei per gas. */
export interface CallOffer {
  readonly from: Hex;
  readonly maxFee: bigint;
  readonly priorityFee: bigint;
}

/**
 * Account reads that arrive while others are under way share the next exchange with the nodes (lab/bench/README.md).
 */
const groupLimits = { maxSize: 50, maxInFlight: 2, maxWaiting: 5_000 };

/**
 * Reads payers' chains through the configured nodes. Two nodes must agree where there are two. A call that a node
 * answers with an error reverted, ran out of gas or trapped: its result does not count.
 */
export function payerChainOf(rpcOf: (chainId: number) => Rpc | undefined): PayerChain {
  const ask = async <T>(chainId: number, read: (rpc: Rpc) => Promise<T>): Promise<T> => {
    const rpc = rpcOf(chainId);
    if (rpc === undefined) throw new Refusal('chain_unavailable', `chain ${chainId}`);
    try {
      return await read(rpc);
    } catch (error) {
      if (error instanceof RpcUnavailable) throw new Refusal('chain_unavailable', `chain ${chainId}`);
      throw error;
    }
  };
  const readCodes = batchedByKey(
    (chainId) => (addresses: readonly Hex[]) =>
      ask(Number(chainId), (rpc) =>
        askTwoNodesBatch(
          rpc,
          addresses.map((address) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
        ),
      ),
    groupLimits,
  );
  return {
    codeAt: (chainId, address) =>
      ask(chainId, async () => {
        const outcome = await readCodes(String(chainId), address);
        if (outcome instanceof RpcUnavailable) throw outcome;
        return parseData('code', resultOf(outcome));
      }),
    callAt: (chainId, { to, data, gas, offer }) =>
      ask(chainId, async (rpc) => {
        const fees = offer && encodeOffer(offer);
        const request = { ...(to && { to }), data, gas: toQuantity(gas), ...fees };
        const outcome = await askTwoNodes(rpc, { method: 'eth_call', params: [request, 'latest'] });
        return 'error' in outcome ? undefined : parseData('call result', outcome.result);
      }),
  };
}

function encodeOffer({ from, maxFee, priorityFee }: CallOffer): Readonly<Record<string, Hex>> {
  return { from, maxFeePerGas: toQuantity(maxFee), maxPriorityFeePerGas: toQuantity(priorityFee) };
}
