import type { HttpRpc, Rpc } from '@florin/evm';
import { RpcUnavailable } from '@florin/evm';

/** Why a chain is not verified: none of its nodes answers, or it differs from the configuration. */
export type UnverifiedReason = 'unreachable' | 'misconfigured';

/**
 * Which chains this process has compared with its configuration since it started. Until then it reads, signs and offers
 * nothing there.
 */
export interface ChainVerification {
  /** Undefined once the chain is verified, which is never taken back. */
  problemOf(chainId: number): UnverifiedReason | undefined;
  /** Checks the other chains until all are verified, or the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** For tests and benchmarks, whose chains are made from the same configuration. */
export const allVerified: ChainVerification = { problemOf: () => undefined, run: async () => {} };

/** The same nodes, which count as unavailable until their chain is verified. Only `inspect` tells of them before. */
export function verifiedRpc(rpc: HttpRpc, chainId: number, { problemOf }: ChainVerification): HttpRpc {
  const verified = (): Rpc & Pick<HttpRpc, 'askEach'> => {
    const problem = problemOf(chainId);
    if (problem !== undefined) throw new RpcUnavailable(`chain ${chainId} is not verified: ${problem}`);
    return rpc;
  };
  return {
    ...rpc,
    request: async (...given) => verified().request(...given),
    batch: async (...given) => verified().batch(...given),
    askEach: async (...given) => verified().askEach(...given),
  };
}
