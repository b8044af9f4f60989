import { statement } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { type Chain, chainsOf } from '#chains/chain.ts';
import { conditionKeeper } from '#chains/condition.ts';
import { silentLog } from '#telemetry/log.ts';
import { testDatabase } from './database.ts';
import { vaultChain } from './vault-rpc.ts';

const setCursor = statement({
  name: 'condition_fixture_cursor',
  parameters: {
    chainId: 'int8',
    headNumber: 'int8',
    headTime: 'timestamptz',
    finalNumber: 'int8',
    finalTime: 'timestamptz',
    haltedReason: 'text',
  },
  text: `insert into chain_cursors
     (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, halted_reason, updated_at)
   values (:chainId, :headNumber, '0x01', :headTime, :finalNumber, '0x02', :finalTime, :haltedReason, :headTime)
   on conflict (chain_id) do update set head_number = excluded.head_number, head_time = excluded.head_time,
     final_number = excluded.final_number, final_time = excluded.final_time, halted_reason = excluded.halted_reason`,
});
const forgetCursors = statement({
  name: 'condition_fixture_forget',
  text: 'delete from chain_cursors',
});

/** A chain with two tokens. */
export function followedChain(name: string, chainId: number, change: Partial<Chain> = {}): Chain {
  const address = (digit: string) => `0x${digit.repeat(40)}` as Hex;
  const token = (symbol: string, decimals: number, digit: string) => ({
    tokenId: `${name}::${symbol}`,
    chainName: name,
    chainId,
    address: address(digit),
    name: symbol,
    symbol,
    decimals,
  });
  return {
    name,
    chainId,
    rpcUrls: [],
    gateway: address('a'),
    vault: address('b'),
    startBlock: 0n,
    finality: { tag: 'finalized', depth: 0, quorum: 1 },
    pollIntervalMs: 1_000,
    tokens: [token('usdc', 6, '1'), token('dai', 18, '2')],
    ...change,
  };
}

/** Two chains whose cursors and node the test sets, and what keeps their conditions; the caller closes it. */
export async function openConditionWorld() {
  const database = await testDatabase();
  const clock = {
    time: Date.UTC(2030, 0, 1),
    now: () => new Date(clock.time),
    monotonicMs: () => clock.time,
    sleep: async () => {},
  };
  const [ethereum, base] = [followedChain('ethereum', 1), followedChain('base', 8453)];
  const unverified = new Set<number>();
  const verification = {
    problemOf: (chainId: number) => (unverified.has(chainId) ? ('unreachable' as const) : undefined),
  };

  /** Forgets everything of the test before. */
  async function begin() {
    const node = vaultChain();
    await database.db.query(forgetCursors);
    unverified.clear();
    const options = { verification, rpcOf: () => node.rpc, db: database.db, clock, log: silentLog };
    const keeper = conditionKeeper({ ...options, chains: [ethereum, base] });
    return { node, keeper, chains: { ...chainsOf([ethereum, base]), conditions: keeper.conditions } };
  }

  /**
   * Puts the head of a chain some seconds behind our clock, and its final block some blocks and seconds behind the
   * head.
   */
  async function stand(
    { chainId }: Chain,
    {
      age = 0,
      blocks = 0,
      lag = 0,
      halted = '',
    }: { age?: number; blocks?: number; lag?: number; halted?: string },
  ): Promise<void> {
    const headTime = new Date(clock.time - age * 1_000);
    const finalTime = new Date(headTime.getTime() - lag * 1_000);
    await database.db.query(setCursor, {
      chainId,
      headNumber: 1_000n,
      headTime,
      finalNumber: BigInt(1_000 - blocks),
      finalTime,
      haltedReason: halted,
    });
  }

  return { database, clock, ethereum, base, unverified, verification, begin, stand };
}
