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

/** Units of gas on one chain within 24 hours, for one merchant's payers and for those of all merchants. */
export interface GasTotal {
  readonly perMerchant: number;
  readonly all: number;
}

/**
 * What the service spends for payers on each chain: `payments` that it sends for them (submissions, x402, collections and
 * additions), and `returns`.
 */
export interface GasTotals {
  readonly payments: GasTotal;
  readonly returns: GasTotal;
}

/** What goes to payers with code counts among the payments, and once more by itself. */
type GasKind = keyof GasTotals | 'smart_accounts';

/** Payers with code have a fifth of the payments' total at the most: the code can fail for nothing, a plain key cannot. */
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
  /** It was set apart before, or is owed by a promise: it counts, and is not refused. */
  readonly isOwed?: boolean;
}

const hourMs = 3_600_000;
const hoursOfDay = 24;

/** Counted by whole hours, so that a sum has few rows: some minutes more than a day, never less. */
function hourOf(clock: Clock): Date {
  return new Date(Math.floor(clock.now().getTime() / hourMs) * hourMs);
}

function dayBefore(hour: Date): Date {
  return new Date(hour.getTime() - hoursOfDay * hourMs);
}

/**
 * Counts gas in the totals of its merchant and of all, unless it would go over one: then nothing is counted, and it is said
 * whose total that is. What counts in the same totals waits from here until the transaction ends. Without totals all is within.
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
    transaction.query(lockRelayedGas, { total: `${kind} ${chainId}` }),
    transaction.query(relayedGasSince, { chainId, kind, merchantId, since: dayBefore(hour) }),
  ]);
  if (spent === undefined) throw new Error('sums came back without a row');
  if (!isOwed && spent.by_merchant + gas > BigInt(perMerchant)) return 'merchant_used_up';
  if (!isOwed && spent.by_all + gas > BigInt(all)) return 'all_used_up';
  await transaction.query(addRelayedGas, { chainId, kind, merchantId, hour, gas });
  return 'within';
}

/** Parts of a total, in percent, at which the operator is told, at which that ends, and from which nothing more is offered. */
const [toldAt, endsAt, offeredUntil] = [75, 50, 90];
/** Most totals that are looked at in one round. */
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

/** Tells the operator of totals that run out, once until half is free again. A look a minute keeps what is stored small. */
export function gasAlarm({ db, clock, log, totals }: GasWatch): () => Promise<void> {
  const told = new Map<string, Readonly<Record<string, unknown>>>();
  return async () => {
    const hour = hourOf(clock);
    for (const kind of ['payments', 'smart_accounts', 'returns'] as const) {
      const kindTotal = totalOf(totals, kind);
      const least = partOf(kindTotal, endsAt);
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
        if (told.has(key) || gas * 100n < BigInt(total) * BigInt(toldAt)) continue;
        told.set(key, fields);
        const error = new Error("three quarters of a day's gas for payers are spent");
        log.error('gas.running_out', error, { ...fields, spent: gas.toString(), total });
      }
      for (const [key, fields] of told) {
        if (!key.startsWith(`${kind} `) || over.has(key)) continue;
        told.delete(key);
        log.info('gas.available', fields);
      }
    }
    await db.query(deleteRelayedGas, { before: dayBefore(dayBefore(hour)) });
  };
}

/** What a process knows of the totals of payments. */
export interface GasOffers {
  /** Whether payments at the service's cost are offered: the last tenth of a total is for those that were. */
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
