import { countProviders, openHttpRpc } from '@florin/evm';
import { type SigningKey, signerOf } from '@florin/signing';
import type { Chain, Chains } from '#chains/chain.ts';
import type { ChainVerification, UnverifiedReason } from '#chains/verification.ts';
import { ConfigError } from '#config/setting.ts';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { findChainProblems, type ServiceWallets, singleProviderProblem } from './check.ts';

/** Between two checks of a chain that is not verified. */
const intervalMs = 2_000;
/** How long one request to a chain may take. */
const timeLimitMs = 5_000;

export interface ChainCheckOptions {
  readonly chains: Chains;
  readonly orderKey: SigningKey;
  readonly settlerKey: SigningKey;
  readonly otherSettlerKeys?: readonly SigningKey[];
  /** Play money only: one node of each chain is enough. */
  readonly isLocal?: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** A chain that is not verified yet. */
interface Pending {
  readonly chain: Chain;
  reason: UnverifiedReason;
  /** The sentence that the log has last. */
  problem: string;
}

/**
 * Compares the configuration with the chains: chain ids, contracts, tokens, the roles of the service's keys. Throws a
 * ConfigError with the first difference, so that the service never sells through a wrong contract or token. A chain that
 * does not answer stays unavailable until `run` has compared it. A difference that `run` finds keeps it unavailable.
 */
export async function verifyChains(options: ChainCheckOptions): Promise<ChainVerification> {
  const { chains } = options;
  for (const chain of chains.all) {
    const problem = options.isLocal === true ? undefined : singleProviderProblem(chain, chains);
    if (problem !== undefined) throw new ConfigError(problem);
  }
  const wallets = walletsOf(options);
  const pending = new Map(
    chains.all.map((chain): [number, Pending] => [
      chain.chainId,
      { chain, reason: 'unreachable', problem: '' },
    ]),
  );
  const checkPending = (signal?: AbortSignal) =>
    Promise.all(
      [...pending].map(async ([chainId, each]) => {
        if (await isVerified(each, wallets, options, signal)) pending.delete(chainId);
      }),
    );
  await checkPending();
  const wrong = [...pending.values()].find(({ reason }) => reason === 'misconfigured');
  if (wrong !== undefined) throw new ConfigError(wrong.problem);
  return {
    problemOf: (chainId) => pending.get(chainId)?.reason,
    async run(signal) {
      while (pending.size > 0 && !signal.aborted) {
        await options.clock.sleep(intervalMs, signal);
        if (!signal.aborted) await checkPending(signal);
      }
    },
  };
}

function walletsOf({ orderKey, settlerKey, otherSettlerKeys = [] }: ChainCheckOptions): ServiceWallets {
  return {
    orderSigner: signerOf(orderKey).address,
    settler: signerOf(settlerKey).address,
    otherSettlers: otherSettlerKeys.map((key) => signerOf(key).address),
  };
}

/** Compares one chain once. Logs a problem that differs from the last one. */
async function isVerified(
  pending: Pending,
  wallets: ServiceWallets,
  { clock, log }: ChainCheckOptions,
  signal?: AbortSignal,
): Promise<boolean> {
  const { chain } = pending;
  const { chainId, rpcUrls: urls } = chain;
  const fields = { chain: chain.name };
  // New for each check: a node that answered wrongly before would get no requests for some time.
  const rpc = openHttpRpc({ chainId, urls, clock, log, timeLimitMs });
  const stop = () => void rpc.close();
  signal?.addEventListener('abort', stop);
  try {
    const [problem] = await findChainProblems(rpc, chain, wallets);
    if (problem !== undefined) throw new ConfigError(problem);
    if (countProviders(urls) === 1) log.warn('start.single_provider', fields);
    if (pending.problem !== '') log.warn('start.chain_verified', fields);
    return true;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    pending.reason = error instanceof ConfigError ? 'misconfigured' : 'unreachable';
    if (problem !== pending.problem && signal?.aborted !== true)
      log.error(`start.chain_${pending.reason}`, error, fields);
    pending.problem = problem;
    return false;
  } finally {
    signal?.removeEventListener('abort', stop);
    await rpc.close();
  }
}
