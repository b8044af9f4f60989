import { Refusal } from '@florin/protocol/error.ts';
import { parseData } from '#chains/rpc/parse.ts';
import { type Rpc, RpcUnavailable, resultOf } from '#chains/rpc/rpc.ts';
import { askWitnesses } from '#chains/rpc/witness.ts';
import type { PayerChain } from './signature.ts';

/**
 * Reads payers' chains through the nodes of the configuration; two of them must say the same where there are two. A call that a node answers with an error is a call
 * that reverted, ran out of gas or trapped: nothing that such an account says counts.
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
  return {
    codeAt: (chainId, address) =>
      ask(chainId, async (rpc) => {
        const outcome = await askWitnesses(rpc, { method: 'eth_getCode', params: [address, 'latest'] });
        return parseData('code', resultOf(outcome));
      }),
    callAt: (chainId, { to, data, gas }) =>
      ask(chainId, async (rpc) => {
        const request = { to, data, gas: `0x${gas.toString(16)}` };
        const outcome = await askWitnesses(rpc, { method: 'eth_call', params: [request, 'latest'] });
        return 'error' in outcome ? undefined : parseData('call result', outcome.result);
      }),
  };
}
