import type { Chain, ChainConditions } from '#chains/chain.ts';
import type { Readiness } from '#http/health.ts';
import type { ServiceOptions } from './options.ts';
import type { Rooms } from './rooms.ts';

/** A chain that does not answer or differs is reported. The process stays ready: it serves the other chains. */
export async function readiness(
  { chains, verification }: ServiceOptions,
  rooms: Rooms,
  conditions: ChainConditions | undefined,
): Promise<Readiness> {
  const stateOf = ({ chainId }: Chain) =>
    verification.problemOf(chainId) ??
    (conditions?.of(chainId).reason === 'chain_unreachable' ? 'unreachable' : 'ok');
  const checks = Object.fromEntries(chains.all.map((chain) => [`chain ${chain.name}`, stateOf(chain)]));
  try {
    await rooms.lookupApiKey(Buffer.alloc(32));
    return { ready: true, checks: { database: 'ok', ...checks } };
  } catch {
    // The database logs its own errors where connections are made; this answer has no details.
    return { ready: false, checks: { database: 'unavailable', ...checks } };
  }
}
