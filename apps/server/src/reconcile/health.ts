import {
  type HttpRpc,
  type NodeFinding,
  type Rpc,
  RpcError,
  RpcUnavailable,
  readGasBalance,
} from '@florin/evm';
import type { Queryable } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type {
  HealthReport,
  NodeReport,
  Versions,
  WalletReport,
  WebhookBacklog,
} from '@florin/protocol/staff-health.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import { readMailProgress } from '#mail/bounce.ts';
import type { Clock } from '#outside/clock.ts';
import { version } from '#outside/version.ts';
import { listOpenLegs } from '#settlement/held.ts';
import { urlWithoutValues } from '#webhooks/webhook.ts';
import {
  appliedMigrations,
  databaseVersion,
  healthCursors,
  openWork,
  unfinishedTransactions,
  webhookBacklogs,
} from './health.sql.ts';
import { readStatus } from './status.ts';
import { sendingOf } from './work.ts';

/** Rows of each list; the oldest matter most. */
const maxListed = 200;
const maxAttemptsListed = 10;
const secondsPerDay = 86_400;
/** A receiver that takes nothing for this long is told to the operator; a restart takes less. */
const failingAfterMs = 3_600_000;
/** Money that goes back by itself waits for its order's deadline first: at most a week. */
const returnedWithinMs = 8 * secondsPerDay * 1_000;

/** A wallet that sends transactions. */
export interface SendingWallet {
  readonly role: string;
  readonly address: Hex;
}

/** What the service knows of itself, from its database and memory. Asks no node. */
export async function readHealth(
  db: Queryable,
  { chains, clock }: { readonly chains: Chains; readonly clock: Clock },
): Promise<HealthReport> {
  const now = clock.now();
  const cursors = await db.query(healthCursors);
  const books = await readStatus(db, chains);
  const legs = await listOpenLegs(db, maxListed);
  const transactions = await db.query(unfinishedTransactions, {
    limit: maxListed,
    attemptLimit: maxAttemptsListed,
  });
  const [work] = await db.query(openWork, {
    now,
    failingSince: new Date(now.getTime() - failingAfterMs),
    returnedSince: new Date(now.getTime() - returnedWithinMs),
  });
  if (work === undefined) throw new Error('the counts of open work always have one row');
  return {
    at: now.toISOString(),
    chains: books.chains.map((book) => {
      const cursor = cursors.find(({ chain_id }) => String(chain_id) === book.chainId);
      return {
        ...{ chain: book.chain, chainId: book.chainId, payments: book.payments, settlement: book.settlement },
        paymentsReason: book.paymentsReason,
        settlementReason: book.reason,
        haltedReason: cursor?.halted_reason ?? '',
        isResuming: cursor?.is_resync_due ?? false,
        headNumber: cursor?.head_number.toString() ?? '',
        headAt: cursor?.head_time.toISOString() ?? '',
        finalNumber: cursor?.final_number.toString() ?? '',
        finalAt: cursor?.final_time.toISOString() ?? '',
        watchedAt: cursor?.updated_at.toISOString() ?? '',
        secondsToFinal: chains.conditions?.of(Number(book.chainId)).secondsToFinal ?? 0,
        reconciledAt: book.reconciledAt ?? '',
        lastTriedAt: book.lookedAt ?? '',
        balances: book.balances.map((balance) => ({ ...balance })),
      };
    }),
    settlements: legs.map(({ since, retryAt, netValue, ...leg }) => ({
      ...{ ...leg, netValue: netValue.toString(), since: since.toISOString() },
      nextAt: retryAt?.toISOString() ?? '',
    })),
    transactions: transactions.map((row) => ({ chainId: String(row.chain_id), ...sendingOf(row) })),
    deliveries: {
      waiting: Number(work.waiting),
      overdue: Number(work.overdue),
      oldestDueAt: work.oldest?.toISOString() ?? '',
      pausedWebhooks: Number(work.paused_webhooks),
      failingWebhooks: Number(work.failing_webhooks),
    },
    mails: await readMailProgress(db),
    openExceptions: Number(work.open_exceptions),
    exceptionsForPeople: Number(work.exceptions_for_people),
  };
}

/** Webhooks of all merchants that are paused or have deliveries that wait, the worst first, at most 200. */
export async function readWebhookBacklog(
  db: Queryable,
  { clock }: { readonly clock: Clock },
): Promise<WebhookBacklog[]> {
  const rows = await db.query(webhookBacklogs, { now: clock.now(), limit: maxListed });
  return rows.map((row) => ({
    webhookId: row.webhook_id,
    merchantId: row.merchant_id,
    merchantName: row.merchant_name,
    webhookUrl: urlWithoutValues(row.webhook_url),
    status: row.status,
    failures: row.consecutive_failures,
    failingSince: row.first_failure_at?.toISOString() ?? '',
    waiting: Number(row.waiting),
    overdue: Number(row.overdue),
    oldestAt: row.oldest?.toISOString() ?? '',
  }));
}

/** Versions of the service and of what it runs on, and the migrations of its database, the latest first. */
export async function readVersions(db: Queryable): Promise<Versions> {
  const [database] = await db.query(databaseVersion);
  const migrations = await db.query(appliedMigrations);
  return {
    service: version,
    runtime: process.versions.node,
    database: database?.version ?? '',
    migrations: migrations.map((row) => ({ version: row.version, appliedAt: row.applied_at.toISOString() })),
  };
}

/** What each configured node of each chain answers now. Takes as long as the slowest node may. */
export async function askNodes(
  chains: Pick<Chains, 'all'>,
  rpcOf: (chainId: number) => Pick<HttpRpc, 'inspect'>,
): Promise<NodeReport[]> {
  return Promise.all(
    chains.all.map(async ({ name, chainId }) => {
      const found = await rpcOf(chainId).inspect({ method: 'eth_blockNumber', params: [] });
      return { chain: name, chainId: String(chainId), nodes: found.map(shownNode) };
    }),
  );
}

function shownNode({ node, result, problem }: NodeFinding): NodeReport['nodes'][number] {
  if (problem !== '') return { node, headNumber: '', problem };
  if (typeof result !== 'string' || !/^0x[0-9a-f]{1,16}$/.test(result))
    return { node, headNumber: '', problem: 'its answer is no block number' };
  return { node, headNumber: BigInt(result).toString(), problem: '' };
}

/** The gas of each sending wallet, how long it lasts, and what the vaults may pay and have. */
export async function readWallets(
  db: Queryable,
  deps: {
    readonly chains: Chains;
    readonly clock: Clock;
    readonly rpcOf: (chainId: number) => Rpc;
    readonly wallets: readonly SendingWallet[];
  },
): Promise<WalletReport> {
  const { chains } = deps;
  const wallets = await Promise.all(
    chains.all.flatMap((chain) => deps.wallets.map((wallet) => readWallet(db, deps, chain, wallet))),
  );
  const vaults = chains.tokens.map(({ tokenId }) => {
    const readAt = chains.conditions?.vaultReadAt?.(tokenId);
    if (readAt === undefined) return { tokenId, cap: '', float: '', readAt: '' };
    return {
      tokenId,
      cap: chains.conditions?.payoutCap(tokenId).toString() ?? '',
      float: chains.conditions?.payoutLiquidity?.(tokenId).toString() ?? '',
      readAt: readAt.toISOString(),
    };
  });
  return { wallets, vaults };
}

async function readWallet(
  db: Queryable,
  { rpcOf, clock }: { readonly rpcOf: (chainId: number) => Rpc; readonly clock: Clock },
  { name, chainId }: Chain,
  { role, address }: SendingWallet,
): Promise<WalletReport['wallets'][number]> {
  const now = clock.now();
  const found = await known(() =>
    readGasBalance({ db, rpc: rpcOf(chainId) }, { chainId, wallet: address, now }),
  );
  const shown = { chain: name, role, address };
  if (found === undefined) return { ...shown, balance: '', needed: '', secondsLeft: -1 };
  const { balance, needed } = found;
  // `needed` lasts three days.
  const secondsLeft = needed === 0n ? -1 : Number((balance * BigInt(3 * secondsPerDay)) / needed);
  return { ...shown, balance: balance.toString(), needed: needed.toString(), secondsLeft };
}

/** Undefined where no node gives an answer; the service's own loops log why. */
async function known<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcError) return undefined;
    throw error;
  }
}
