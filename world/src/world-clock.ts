import type { Anvil } from './anvil.ts';

/** Set-up and bursts of blocks move a chain some seconds ahead of the machine's clock. */
const NOISE_SECONDS = 60;

const readSeconds = (): number => Math.floor(Date.now() / 1_000);

/**
 * Brings the chains to one time after a start, and returns by how many seconds that is ahead of the machine's. A chain that
 * was moved ahead keeps its time over a restart, and the service has to follow.
 */
export const alignChains = async (chains: readonly Anvil[]): Promise<number> => {
  const heads = await Promise.all(
    chains.map(async ({ rpc }) => {
      const block = (await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
      return Number(block.timestamp);
    }),
  );
  const offsetSeconds = Math.max(...heads) - readSeconds();
  if (offsetSeconds < NOISE_SECONDS) return 0;
  await Promise.all(chains.map(({ rpc }) => rpc('evm_setTime', [readSeconds() + offsetSeconds])));
  return offsetSeconds;
};

/** Moves the chains on, and mines a block with the new time on each that does not stand still. */
export const advanceChains = async (chains: readonly Anvil[], seconds: number): Promise<void> => {
  await Promise.all(
    chains.map(async ({ rpc, faults }) => {
      await rpc('evm_increaseTime', [seconds]);
      if (!faults.isHalted) await rpc('evm_mine');
    }),
  );
};
