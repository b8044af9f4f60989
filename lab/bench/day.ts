import { systemClock } from '@florin/server/operator';
import { findViolations, settleDown } from '../chaos/chaos-check.ts';
import { mineChain } from '../chaos/chaos-faults.ts';
import { buy, createOnce, fundBuyers, type Sale } from '../chaos/chaos-payers.ts';
import type { ChaosWorld } from '../chaos/chaos-world.ts';
import type { BenchEnvironment } from './environment.ts';
import type { BenchResult } from './report.ts';
import { parts, type RolesWorld, startRolesWorld, type Times, timesBetween } from './roles-world.ts';

/** Of a day of a large shop, hour by hour: the share of the busiest hour's sessions that begins in each. */
const hours = [
  ...[0.25, 0.15, 0.1, 0.08, 0.08, 0.1, 0.2, 0.35, 0.5, 0.6, 0.65, 0.7],
  ...[0.75, 0.7, 0.65, 0.65, 0.7, 0.75, 0.85, 0.95, 1, 0.9, 0.65, 0.4],
];
/** Sessions a second in the busiest hour; one in some tens is paid, by payers who pay one after the other. */
const peakPerSecond = 20;
const buyerCount = 3;
/** How many hours' time each part alone is measured. */
const hoursAlone = 8;
const healingMs = 300_000;
/** Until what was begun is settled and delivered. Asking for that costs PostgreSQL something, so it is asked afterwards. */
const settlingMs = 15_000;
const createLimitMs = 30_000;

interface Span {
  readonly times: Times;
  readonly seconds: number;
  readonly sessions: number;
  readonly payments: number;
}

/**
 * Replays a day of a large merchant, an hour in some seconds: a process of each role, PostgreSQL and two chains on this
 * machine, with payers, and a receiver of webhooks. Before it, sessions alone and payments alone are measured: the day must cost
 * what both say, or the arithmetic of docs/scaling.md does not hold.
 */
export async function measureDay({ effort, log }: BenchEnvironment): Promise<BenchResult> {
  const rolesWorld = await startRolesWorld();
  const { world } = rolesWorld;
  const ending = new AbortController();
  try {
    const mining = world.chains.map((chain) => mineChain(chain, ending.signal));
    const sales: Sale[] = [];
    const hourMs = effort.seconds * 1_000;
    const measured = (work: () => Promise<{ sessions: number; payments: number }>) =>
      spanOf(rolesWorld, work);
    // A process that has just started compiles what it runs, and opens its books: that is no cost of a payment.
    await measured(() => together(world, sales, { shares: Array<number>(hoursAlone).fill(1), hourMs }));
    const idle = await measured(async () => {
      await systemClock.sleep(hoursAlone * hourMs);
      return { sessions: 0, payments: 0 };
    });
    const creating = await measured(async () => {
      const sessions = await create(world, sales, Array<number>(hoursAlone).fill(1), hourMs);
      return { sessions, payments: 0 };
    });
    log(`${creating.sessions} sessions`);
    const paying = await measured(async () => {
      const payments = await pay(world, sales, hoursAlone * hourMs);
      return { sessions: payments, payments };
    });
    log(`${paying.payments} payments`);
    const day = await measured(() => together(world, sales, { shares: hours, hourMs }));
    const violations = await findViolations(world, sales);
    if (violations.length > 0) throw new Error(violations.join('; '));
    ending.abort();
    await Promise.all(mining);
    return resultOf({ effort, idle, creating, paying, day });
  } finally {
    ending.abort();
    await world.close();
  }
}

/** Measures a piece of work until every payment in it is settled and every webhook delivered. */
async function spanOf(
  { world, times }: RolesWorld,
  work: () => Promise<{ sessions: number; payments: number }>,
): Promise<Span> {
  const [start, before] = [performance.now(), times()];
  const done = await work();
  await systemClock.sleep(settlingMs);
  const left = await settleDown(world, healingMs);
  if (left.length > 0) throw new Error(left.join('; '));
  return {
    ...done,
    times: timesBetween(before, times()),
    seconds: (performance.now() - start) / 1_000,
  };
}

/** Sessions at the pace of the shares, and payments beside them. */
async function together(
  world: ChaosWorld,
  sales: Sale[],
  { shares, hourMs }: { readonly shares: readonly number[]; readonly hourMs: number },
): Promise<{ sessions: number; payments: number }> {
  const [sessions, payments] = await Promise.all([
    create(world, sales, shares, hourMs),
    pay(world, sales, shares.length * hourMs),
  ]);
  return { sessions: sessions + payments, payments };
}

/** Creates sessions at the pace of the shares, and returns how many. Each must be stored. */
async function create(
  world: ChaosWorld,
  sales: Sale[],
  shares: readonly number[],
  hourMs: number,
): Promise<number> {
  const token = world.configured.tokens[0]?.tokenId ?? '';
  const open: Promise<void>[] = [];
  for (const share of shares) {
    const end = performance.now() + hourMs;
    while (performance.now() < end) {
      const creating = createOnce(world, token, createLimitMs)();
      open.push(
        creating.then((sessionId) => {
          sales.push({ sessionId, settlementToken: token, payChain: '', orderId: '' });
        }),
      );
      await systemClock.sleep(1_000 / (share * peakPerSecond));
    }
  }
  await Promise.all(open);
  return open.length;
}

/** Payers buy one thing after the other for some time. Returns how many payments they made. */
async function pay(world: ChaosWorld, sales: Sale[], ms: number): Promise<number> {
  const own: Sale[] = [];
  const [ending, givingUp] = [new AbortController(), new AbortController()];
  const buyers = await fundBuyers(world, buyerCount);
  const buying = buyers.map((buyer) =>
    buy(world, buyer, own, { ending: ending.signal, givingUp: givingUp.signal }),
  );
  await systemClock.sleep(ms);
  ending.abort();
  await Promise.all(buying);
  sales.push(...own);
  return own.filter(({ orderId }) => orderId !== '').length;
}

function resultOf(spans: {
  effort: BenchEnvironment['effort'];
  idle: Span;
  creating: Span;
  paying: Span;
  day: Span;
}): BenchResult {
  const { effort, idle, creating, paying, day } = spans;
  const idleOf = (part: (typeof parts)[number], seconds: number) =>
    (idle.times[part] / idle.seconds) * seconds;
  const busy = (span: Span, part: (typeof parts)[number]) =>
    Math.max(0, span.times[part] - idleOf(part, span.seconds));
  const rows = parts.map((part) => {
    const perSession = busy(creating, part) / creating.sessions;
    const perPayment = busy(paying, part) / paying.payments;
    const foretold =
      idleOf(part, day.seconds) + perSession * (day.sessions - day.payments) + perPayment * day.payments;
    return {
      what: part,
      'idle, ms a second': Math.round(idleOf(part, 1) / 100) / 10,
      'µs a session': Math.round(perSession),
      'µs a payment': Math.round(perPayment),
      'the day, s': Math.round(day.times[part] / 10_000) / 100,
      'foretold, s': Math.round(foretold / 10_000) / 100,
    };
  });
  return {
    ...{
      subject: 'day',
      title: 'A day of a large merchant',
      effort,
      measured: [],
      ratios: [],
      halfLoads: [],
      rows,
    },
    notes: [
      `An hour lasted ${effort.seconds} s. The day had ${day.sessions} sessions, of which ${day.payments} were paid; nothing was lost, settled twice or out of order, and the books balanced.`,
      'A session includes its share of counts and search words, and one webhook. A payment includes its session, an order, detection, the books, its settlement, often in a batch of its own, and five webhooks.',
      'Payments go to the same chain and to another, one of three. Figures of one process of each role; chains, payers and the receiver of webhooks share the machine and are not counted.',
    ],
  };
}
