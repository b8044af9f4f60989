import { countForeignTransactions, type Rpc, RpcError, RpcUnavailable } from '@florin/evm';
import type { Queryable } from '@florin/pg';
import type { Chains } from '#chains/chain.ts';
import type { Clock } from '#outside/clock.ts';
import type { ReadGauge, Reading } from '#telemetry/metrics.ts';
import { restoredLast, unknownOrders } from './foreign-use.sql.ts';
import type { SendingWallet } from './health.ts';

/** What shows that a key of the service is used elsewhere. */
export const foreignUseGauges = [
  {
    name: 'florin_wallet_foreign_transactions',
    help: 'Of the newest thousand final transactions of the sending wallets, those that this service did not send.',
    labels: ['chain', 'role'],
  },
  {
    name: 'florin_orders_unknown',
    help: 'Paid orders and payouts of the last seven days that carry our signature and are not in the database.',
    labels: ['chain'],
  },
] as const satisfies readonly ReadGauge[];

const recentMs = 7 * 86_400_000;

/** The values of these gauges. A wallet whose nodes do not answer has none. */
export async function readForeignUse(
  db: Queryable,
  deps: {
    readonly chains: Pick<Chains, 'all'>;
    readonly clock: Clock;
    readonly rpcOf: (chainId: number) => Rpc;
    readonly wallets: readonly SendingWallet[];
  },
): Promise<Reading[]> {
  const { chains, clock, rpcOf, wallets } = deps;
  const [restored] = await db.query(restoredLast);
  const since = restored?.restored_at ?? new Date(0);
  const foreign = await Promise.all(
    chains.all.flatMap((chain) =>
      [...Map.groupBy(wallets, ({ role }) => role)].map(async ([role, ofRole]) => {
        const counts = await Promise.all(
          ofRole.map(({ address: wallet }) =>
            countForeignTransactions({ db, rpc: rpcOf(chain.chainId) }, { chain, wallet, since }),
          ),
        ).catch((error: unknown) => {
          if (error instanceof RpcUnavailable || error instanceof RpcError) return undefined;
          throw error;
        });
        if (counts === undefined) return [];
        const value = counts.reduce((sum, count) => sum + count, 0);
        const labels = { chain: chain.name, role };
        return [{ gauge: 'florin_wallet_foreign_transactions', labels, value }];
      }),
    ),
  );
  const unknown = await db.query(unknownOrders, { since: new Date(clock.now().getTime() - recentMs) });
  const orders = chains.all.map(({ chainId, name }): Reading => {
    const found = unknown.find(({ chain_id: id }) => Number(id) === chainId);
    return { gauge: 'florin_orders_unknown', labels: { chain: name }, value: Number(found?.orders ?? 0n) };
  });
  return [...foreign.flat(), ...orders];
}
