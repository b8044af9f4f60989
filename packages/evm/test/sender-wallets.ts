import type { Log } from '../src/context.ts';
import { type HttpRpc, openHttpRpc } from '../src/nodes/http-rpc.ts';
import type { OutcomeHandler, SentOutcome } from '../src/sender/sent.ts';
import type { FollowedChain } from '../src/watcher/chain.ts';
import { startTestAnvil } from './anvil.ts';
import { silentLog, systemClock } from './context.ts';
import { testDatabase } from './database.ts';
import { emitterSource, installEmitter, testChain } from './emitter.ts';
import { testWatcher } from './watched-chain.ts';

export const gwei = 1_000_000_000n;

/** A watched chain for senders with several wallets; what they tell is kept. Close it in an `after` hook. */
export async function senderWallets(chainId: number) {
  const [database, anvil] = await Promise.all([testDatabase(), startTestAnvil({ chainId })]);
  await installEmitter(anvil);
  const rpc: HttpRpc = openHttpRpc({ chainId, urls: [anvil.url], clock: systemClock, log: silentLog });
  const chain: FollowedChain = testChain(anvil, { finality: { tag: 'latest', depth: 3, quorum: 1 } });
  const outcomes: SentOutcome[] = [];
  const told: string[] = [];
  const tell = (event: string) => void told.push(event);
  const log: Log = { info: tell, warn: tell, error: tell };
  const handler = { onBlock: async () => {}, onReorg: async () => {}, onFinal: async () => {} };
  const onOutcome: OutcomeHandler = async (_transaction, outcome) => void outcomes.push(outcome);
  /** What a watcher of the chain is run with, but for its signal. */
  const watching = () => {
    const source = emitterSource(chain);
    return { chain, rpc, source, db: database.db, clock: systemClock, log: silentLog, handler };
  };
  const watcher = testWatcher(watching());
  const catchUp = async () => {
    await watcher.catchUp();
  };
  await anvil.mine(4);
  await catchUp();
  return {
    ...{ database, anvil, rpc, chain, outcomes, told, watching },
    /** Lets the watcher follow the chain up to its head. */
    catchUp,
    /** What a sender is made of, but for its wallets. */
    options: () => ({
      chains: [chain],
      purposes: { relayed: ['relay', 'collect'], withinReserve: ['relay', 'collect', 'add'] },
      rpcOf: () => rpc,
      db: database.db,
      clock: systemClock,
      log,
      maxFeePerGas: 500n * gwei,
      onOutcome,
    }),
    async close() {
      await rpc.close();
      await Promise.all([anvil.close(), database.close()]);
    },
  };
}
