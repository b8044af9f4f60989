import type { Database, Transaction } from '@florin/pg';
import { listRecipients, merchantsThatChose } from '#members/notification.ts';
import type { Clock } from '#outside/clock.ts';
import { findAttention } from '#reports/attention.ts';
import { sumAccounts } from '#reports/period-sums.ts';
import { type MailContext, storeMail } from './mail.ts';
import * as sql from './weekly-summary.sql.ts';

/** Payments or refunds, and their value in Micro-USD as a decimal text. */
export interface Sum {
  readonly count: number;
  readonly value: string;
}

/** What a weekly summary tells. It is read once, so that all members and all attempts are told the same. */
export interface WeekFigures {
  /** The Monday and the Sunday in ISO 8601, UTC. */
  readonly from: string;
  readonly to: string;
  readonly received: Sum;
  readonly receivedBefore: Sum;
  readonly settled: Sum;
  readonly fees: Sum;
  readonly refunded: Sum;
  readonly exceptions: number;
  readonly pausedWebhooks: number;
  readonly delayedSettlements: number;
  readonly expiringKeys: number;
}

/** The data of a stored summary. */
export interface WeekMailData {
  readonly userId: string;
  readonly figures: WeekFigures;
}

export interface WeeklySummaryContext extends MailContext {
  readonly db: Database;
  readonly clock: Clock;
}

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
const aMondayMs = Date.UTC(1970, 0, 5);
/** On Monday at 06:00 UTC it is morning in Europe, and Sunday has ended nearly everywhere. */
const dueAfterMs = 6 * 3_600_000;
/** Merchants whose e-mails one transaction stores. */
const merchantBatch = 20;

/**
 * Stores the summary of the week that ended last for each member who wants it, from Monday at 06:00 UTC on. Each member gets
 * it once, with any number of workers. A week that ended while no worker ran is told late, unless another has ended since.
 * True when more merchants wait.
 */
export async function makeWeeklySummaries(deps: WeeklySummaryContext): Promise<boolean> {
  const now = deps.clock.now();
  const startsAt = startOfLastWeek(now);
  return deps.db.transaction(async (transaction) => {
    await transaction.query(sql.addWeek, { startsAt });
    const [week] = await transaction.query(sql.lockWeek, { startsAt });
    if (week === undefined) return false;
    const merchantIds = await merchantsThatChose(transaction, {
      ...{ kind: 'weekly_summary', after: week.done_to, limit: merchantBatch },
    });
    for (const merchantId of merchantIds) await storeSummary(transaction, deps, { merchantId, startsAt });
    const isFinished = merchantIds.length < merchantBatch;
    const doneTo = merchantIds.at(-1) ?? week.done_to;
    await transaction.query(sql.moveWeek, { startsAt, doneTo, finishedAt: isFinished ? now : null });
    return !isFinished;
  });
}

function startOfLastWeek(now: Date): Date {
  const ended = Math.floor((now.getTime() - dueAfterMs - aMondayMs) / weekMs);
  return new Date(aMondayMs + (ended - 1) * weekMs);
}

/** A week in which no money moved is told only while something needs attention. */
async function storeSummary(
  transaction: Transaction,
  deps: WeeklySummaryContext,
  { merchantId, startsAt }: { readonly merchantId: string; readonly startsAt: Date },
): Promise<void> {
  const members = await listRecipients(transaction, merchantId, 'weekly_summary');
  if (members.length === 0) return;
  const figures = await readFigures(transaction, deps, { merchantId, startsAt });
  if (isQuiet(figures)) return;
  for (const { userId, email: recipient } of members) {
    const data: WeekMailData = { userId, figures };
    await storeMail(transaction, deps, {
      ...{ merchantId, recipient, kind: 'weekly_summary', at: deps.clock.now() },
      fact: `weekly_summary:${merchantId}:${figures.from}`,
      data: JSON.stringify(data),
    });
  }
}

async function readFigures(
  transaction: Transaction,
  { clock }: WeeklySummaryContext,
  { merchantId, startsAt }: { readonly merchantId: string; readonly startsAt: Date },
): Promise<WeekFigures> {
  const start = startsAt.getTime();
  const times = [start - weekMs, start, start + weekMs].map((time) => time / 1_000);
  const { sums } = await sumAccounts(transaction, { clock }, { merchantId, times });
  const sumOf = (
    kind: (typeof sums)[number]['kind'],
    name: 'totalValue' | 'netValue' | 'feeValue',
    period = 1,
  ): Sum => {
    const rows = sums.filter((row) => row.kind === kind && row.period === period);
    return {
      count: rows.reduce((count, row) => count + row.count, 0),
      value: String(rows.reduce((value, row) => value + BigInt(row[name]), 0n)),
    };
  };
  const attention = await findAttention(transaction, { merchantId, now: clock.now() });
  return {
    from: isoDay(start),
    to: isoDay(start + weekMs - dayMs),
    received: sumOf('received', 'totalValue'),
    receivedBefore: sumOf('received', 'totalValue', 0),
    settled: sumOf('settled', 'netValue'),
    fees: sumOf('settled', 'feeValue'),
    refunded: sumOf('refunded', 'totalValue'),
    exceptions: attention.exceptions.count,
    pausedWebhooks: attention.pausedWebhooks.count,
    delayedSettlements: attention.delayedSettlements.count,
    expiringKeys: attention.expiringKeys.count,
  };
}

function isoDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function isQuiet(figures: WeekFigures): boolean {
  const { received, settled, refunded, exceptions, pausedWebhooks, delayedSettlements, expiringKeys } =
    figures;
  const moved = received.count + settled.count + refunded.count;
  return moved + exceptions + pausedWebhooks + delayedSettlements + expiringKeys === 0;
}
