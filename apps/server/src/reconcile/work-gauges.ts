import type { HttpRpc } from '@florin/evm';
import type { Queryable } from '@florin/pg';
import type { Chains } from '#chains/chain.ts';
import type { ReadGauge, Reading } from '#telemetry/metrics.ts';
import { askNodes } from './health.ts';
import { openCounts } from './work-gauges.sql.ts';

/** What waits in the database, and who does the work that only one process may do. */
export const workGauges = [
  {
    name: 'florin_watcher_leads',
    help: '1 in the process that reads the blocks of the chain, 0 in the others of the role watcher.',
    labels: ['chain'],
  },
  {
    name: 'florin_sessions_open',
    help: 'Sessions that wait for a payment; at most 100,000 are counted.',
    labels: [],
  },
  {
    name: 'florin_ledger_unsealed',
    help: 'Entries of the ledger that have no seal yet; at most 100,000 are counted.',
    labels: [],
  },
] as const satisfies readonly ReadGauge[];

export const nodeGauges = [
  {
    name: 'florin_node_lag_blocks',
    help: 'Blocks that a node is behind the newest block of the nodes of its chain.',
    labels: ['chain', 'node'],
  },
] as const satisfies readonly ReadGauge[];

const countLimit = 100_000;

/** The values of what waits. `leader` is this process's name as a watcher; undefined in other roles. */
export async function readWork(
  db: Queryable,
  { all }: Pick<Chains, 'all'>,
  leader: string | undefined,
): Promise<Reading[]> {
  const [counts] = await db.query(openCounts, { leader: leader ?? '', limit: countLimit });
  if (counts === undefined) throw new Error('the counts always have one row');
  const led = new Set(counts.led.map(Number));
  return [
    ...(leader === undefined ? [] : all).map(({ name: chain, chainId }) => ({
      ...{ gauge: 'florin_watcher_leads', labels: { chain } },
      value: led.has(chainId) ? 1 : 0,
    })),
    { gauge: 'florin_sessions_open', labels: {}, value: Number(counts.sessions) },
    { gauge: 'florin_ledger_unsealed', labels: {}, value: Number(counts.unsealed) },
  ];
}

/** How far each node is behind. A node that gives no answer has no value. */
export async function readNodeLag(
  chains: Pick<Chains, 'all'>,
  rpcOf: (chainId: number) => Pick<HttpRpc, 'inspect'>,
): Promise<Reading[]> {
  const reports = await askNodes(chains, rpcOf);
  return reports.flatMap(({ chain, nodes }) => {
    const heads = nodes.flatMap(({ node, headNumber }) =>
      headNumber === '' ? [] : [{ node, head: Number(headNumber) }],
    );
    const newest = Math.max(...heads.map(({ head }) => head));
    return heads.map(({ node, head }) => ({
      ...{ gauge: 'florin_node_lag_blocks', labels: { chain, node } },
      value: newest - head,
    }));
  });
}
