import type { Queryable, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import {
  addRelayedGas,
  deleteRelayedGas,
  lockRelayedGas,
  relayedGasOver,
  relayedGasSince,
} from './relayed-gas.sql.ts';

/** Units of gas on one chain in 24 hours: for the payers of one merchant, and for those of all merchants. */
export interface GasTotal {
  readonly perMerchant: number;
  readonly all: number;
}

/**
 * The gas that the service may spend for payers on each chain: for payments (submissions, x402, collections, additions) and
 * for returns.
 */
export interface GasTotals {
  readonly payments: GasTotal;
  readonly returns: GasTotal;
}

/** Gas for smart accounts counts as payments, and again as `smart_accounts`. */
type GasKind = keyof GasTotals | 'smart_accounts';

/** Smart accounts get a fifth of the payments' total: their code can fail after spending gas, a plain key cannot. */
const smartAccountShare = 5;

function totalOf(totals: GasTotals, kind: GasKind): GasTotal {
  if (kind !== 'smart_accounts') return totals[kind];
  const { perMerchant, all } = totals.payments;
  return {
    perMerchant: Math.floor(perMerchant / smartAccountShare),
    all: Math.floor(all / smartAccountShare),
  };
}

/** Gas that is about to be spent. */
export interface AskedGas {
  readonly merchantId: string;
  readonly chainId: number;
  readonly kind: GasKind;
  readonly gas: bigint;
  /** The service has promised this gas: it counts but is not refused. */
  readonly isOwed?: boolean;
}

const hourMs = 3_600_000;
const hoursOfDay = 24;

/** Gas is counted per hour, so that a sum has few rows. A sum covers up to an hour more than a day, never less. */
function hourOf(clock: Clock): Date {
  return new Date(Math.floor(clock.now().getTime() / hourMs) * hourMs);
}

function dayBefore(hour: Date): Date {
  return new Date(hour.getTime() - hoursOfDay * hourMs);
}

/**
 * Counts gas in the totals of its merchant and of all merchants. If it would exceed one of them, nothing is counted, and the
 * answer names that total. Other calls for the same totals wait until the transaction ends. Without totals there is no limit.
 */
export async function takeGas(
  transaction: Transaction,
  { clock, totals }: { readonly clock: Clock; readonly totals: GasTotals | undefined },
  { merchantId, chainId, kind, gas, isOwed = false }: AskedGas,
): Promise<'within' | 'merchant_used_up' | 'all_used_up'> {
  if (totals === undefined) return 'within';
  const { perMerchant, all } = totalOf(totals, kind);
  const hour = hourOf(clock);
  const [, [spent]] = await Promise.all([
    transaction.query(lockRelayedGas, { of: `${kind} ${chainId}` }),
    transaction.query(relayedGasSince, { chainId, kind, merchantId, since: dayBefore(hour) }),
  ]);
  if (spent === undefined) throw new Error('a sum returned no row');
  if (!isOwed && spent.by_merchant + gas > BigInt(perMerchant)) return 'merchant_used_up';
  if (!isOwed && spent.by_all + gas > BigInt(all)) return 'all_used_up';
  await transaction.query(addRelayedGas, { chainId, kind, merchantId, hour, gas });
  return 'within';
}

/** Percent of a total: the alarm starts, the alarm ends, and no more payments are offered. */
const [alarmAt, alarmEndsAt, offeredUntil] = [75, 50, 90];
/** Totals read in one round. */
const maxTotals = 1_000;

function partOf({ perMerchant, all }: GasTotal, percent: number) {
  return {
    mostOfMerchant: Math.floor((perMerchant * percent) / 100),
    mostOfAll: Math.floor((all * percent) / 100),
  };
}

interface GasWatch {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly totals: GasTotals;
}

/** Logs totals that run out, once until half is free again, and deletes old counts. The caller runs it every minute. */
export function gasAlarm({ db, clock, log, totals }: GasWatch): () => Promise<void> {
  const reported = new Map<string, Readonly<Record<string, unknown>>>();
  return async () => {
    const hour = hourOf(clock);
    for (const kind of ['payments', 'smart_accounts', 'returns'] as const) {
      const kindTotal = totalOf(totals, kind);
      const least = partOf(kindTotal, alarmEndsAt);
      const rows = await db.query(relayedGasOver, {
        kind,
        ...least,
        since: dayBefore(hour),
        limit: maxTotals,
      });
      const over = new Map(rows.map((row) => [`${kind} ${row.chain_id} ${row.merchant_id}`, row]));
      for (const [key, { chain_id, merchant_id, gas }] of over) {
        const total = merchant_id === '' ? kindTotal.all : kindTotal.perMerchant;
        const fields = {
          chainId: Number(chain_id),
          kind,
          merchantId: merchant_id === '' ? 'all' : merchant_id,
        };
        if (reported.has(key) || gas * 100n < BigInt(total) * BigInt(alarmAt)) continue;
        reported.set(key, fields);
        const error = new Error("three quarters of a day's gas for payers are spent");
        log.error('gas.running_out', error, { ...fields, spent: gas.toString(), total });
      }
      for (const [key, fields] of reported) {
        if (!key.startsWith(`${kind} `) || over.has(key)) continue;
        reported.delete(key);
        log.info('gas.available', fields);
      }
    }
    await db.query(deleteRelayedGas, { before: dayBefore(dayBefore(hour)) });
  };
}

/** The payments at the service's cost that the process offers. */
export interface GasOffers {
  /** The last tenth of a total is reserved for payments that were offered before. */
  readonly isOffered: (chainId: number, merchantId: string) => boolean;
  readonly refresh: () => Promise<void>;
}

export function gasOffers({ db, clock, totals }: Omit<GasWatch, 'log'>): GasOffers {
  let usedUp: ReadonlySet<string> = new Set();
  return {
    isOffered: (chainId, merchantId) => !usedUp.has(`${chainId} ${merchantId}`) && !usedUp.has(`${chainId} `),
    async refresh() {
      const least = partOf(totals.payments, offeredUntil);
      const since = dayBefore(hourOf(clock));
      const rows = await db.query(relayedGasOver, { kind: 'payments', ...least, since, limit: maxTotals });
      usedUp = new Set(rows.map(({ chain_id, merchant_id }) => `${chain_id} ${merchant_id}`));
    },
  };
}
