import type { Database } from '@florin/pg';
import type { PaymentAlternative } from '@florin/protocol/agent-view.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { systemClock } from '@florin/server/operator';
import { recordDepositedOrders, type ServiceOptions, startService } from '@florin/server/parts';
import { checkout, Life, Payer, prepareTemplate } from '@florin/server/testing';
import { encodeFunctionData, erc20Abi } from 'viem';
import { copyOrders, copySessions } from './deposits.sql.ts';
import type { BenchEnvironment } from './environment.ts';
import { median } from './measure.ts';
import type { BenchResult } from './report.ts';

/** Numbers of other open orders. */
const otherOrderCounts = [0, 1_000, 10_000, 100_000];
const crowdAtOnce = 10_000;
const depositsOfRound = 10;
/** Other receivers in a full block of a busy chain. None is a deposit address. */
const strangers = 500;
/** The configuration's default. */
const balanceWindowMs = 10_000;
/** Short, so that a reading is of the work and not of the pause before it. */
const depositWindowMs = 500;

interface Deposit {
  readonly sessionId: string;
  readonly address: Hex;
  readonly amount: bigint;
}

async function newDeposit(life: Life, token: Token): Promise<Deposit> {
  const sessionId = await checkout(life, 1_000_000, token.tokenId);
  const { aiView } = await new Payer(life).prepare(sessionId, token);
  const guide = aiView.paymentExecutionGuide as unknown as { alternatives: PaymentAlternative[] };
  const found = guide.alternatives.find(({ method }) => method === 'deposit');
  if (found?.address === undefined) throw new Error('no deposit address is offered');
  return { sessionId, address: found.address as Hex, amount: BigInt(found.amountInToken ?? '0') };
}

/** Milliseconds from the block with a plain transfer until the session shows that the collection is in a block. */
async function timeOf(life: Life, token: Token, { sessionId, address, amount }: Deposit): Promise<number> {
  const exchange = new Payer(life);
  await exchange.fund(life.ethereum, token, amount);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address, amount] });
  const call = { chainId: String(token.chainId), to: token.address, data, value: '0' };
  await exchange.send(life.ethereum, call);
  const begin = performance.now();
  const isSeen = ({ session }: Awaited<ReturnType<Life['session']>>) => session.initiateTx !== '';
  await life.eventually(() => life.session(sessionId), isSeen, 'the deposit to be collected');
  return performance.now() - begin;
}

async function lookupMs(db: Database, token: Token, round: number): Promise<number> {
  const receivers = Array.from(
    { length: strangers },
    (_, index) => `0x${(round * strangers + index).toString(16).padStart(40, 'e')}`,
  );
  const now = Math.floor(Date.now() / 1_000);
  const begin = performance.now();
  await db.query(recordDepositedOrders, {
    chainId: token.chainId,
    receivers,
    fromPayBy: now - 7 * 86_400,
    openUntil: now,
    blockNumber: 1,
  });
  return performance.now() - begin;
}

async function measureCrowd(life: Life, token: Token, { effort }: BenchEnvironment) {
  const waiting: Deposit[] = [];
  // These come before the others, because an older address must not wait for a newer one.
  for (let index = 0; index < depositsOfRound; index += 1) waiting.push(await newDeposit(life, token));
  return async (otherOrders: number) => {
    const times: number[] = [];
    for (const deposit of waiting) times.push(await timeOf(life, token, deposit));
    const lookups: number[] = [];
    for (let round = 0; round < effort.rounds * 10; round += 1)
      lookups.push(await lookupMs(life.database.db, token, round));
    return {
      otherOrders,
      medianMs: median(times),
      worstMs: Math.max(...times),
      lookupMs: median(lookups),
    };
  };
}

async function addOrders(db: Database, from: number, to: number): Promise<void> {
  for (let first = from + 1; first <= to; first += crowdAtOnce) {
    const last = Math.min(to, first + crowdAtOnce - 1);
    await db.query(copySessions, { first, last });
    await db.query(copyOrders, { first, last });
  }
}

/** Times plain transfers to deposit addresses, from block to collection, with growing numbers of other open orders. */
export async function measureDeposits(environment: BenchEnvironment): Promise<BenchResult> {
  const server = new URL(await environment.createDatabase('deposits'));
  server.pathname = '/postgres';
  await prepareTemplate(server.href);
  process.env['FLORIN_TEST_POSTGRES'] = server.href;
  const start = ({ gasless, ...options }: ServiceOptions) =>
    startService({
      ...options,
      // Stories look less often, and over fewer connections.
      ...{ clock: systemClock, databaseConnections: undefined },
      ...(gasless === undefined ? {} : { gasless: { ...gasless, balanceWindowMs, depositWindowMs } }),
    });
  const life = await Life.start(start);
  environment.onEnd(() => life.close());
  life.mine();
  const token = life.ethereum.token('usdc');
  await timeOf(life, token, await newDeposit(life, token));
  const readings: Awaited<ReturnType<Awaited<ReturnType<typeof measureCrowd>>>>[] = [];
  let standing = 0;
  for (const otherOrders of otherOrderCounts) {
    const measure = await measureCrowd(life, token, environment);
    await addOrders(life.database.db, standing, otherOrders);
    standing = otherOrders;
    const reading = await measure(otherOrders);
    environment.log(
      `${otherOrders} others: ${Math.round(reading.medianMs)} ms, ${Math.round(reading.worstMs)} ms at worst`,
    );
    readings.push(reading);
  }
  return resultOf(environment, readings);
}

function resultOf(
  { effort }: BenchEnvironment,
  readings: readonly { otherOrders: number; medianMs: number; worstMs: number; lookupMs: number }[],
): BenchResult {
  const alone = readings[0];
  if (alone === undefined) throw new Error('nothing was measured');
  return {
    subject: 'deposits',
    title: 'Finding a deposit among open orders of others',
    effort,
    measured: [],
    halfLoads: [],
    rows: readings.map((reading) => ({
      'open orders of others': reading.otherOrders,
      'median ms': Math.round(reading.medianMs),
      'median against alone': Math.round((reading.medianMs / alone.medianMs) * 100) / 100,
      'worst ms': Math.round(reading.worstMs),
      [`look-up of ${strangers} receivers, ms`]: Math.round(reading.lookupMs * 10) / 10,
    })),
    ratios: [],
    notes: [
      `From the block with the transfer to the block with its collection, as the merchant's read shows it; ${depositsOfRound} deposits each, in turn. Chains, service and PostgreSQL share this machine; blocks come every 60 ms, and the service polls every 50 ms. By default an installation polls every 2 s.`,
      'The look-up is one statement for as many foreign addresses as a full block of a busy chain has.',
      'Goal: at most 1 s beside 100,000 other orders; the limit is 2 s.',
    ],
  };
}
