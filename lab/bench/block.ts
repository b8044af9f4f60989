import { systemClock } from '@florin/server/operator';
import type { AgentReply } from '@florin/server/testing';
import { findViolations, settleDown } from '../chaos/chaos-check.ts';
import { type Buyer, createOnce, fundBuyers, insist, type Sale } from '../chaos/chaos-payers.ts';
import type { ChaosWorld } from '../chaos/chaos-world.ts';
import type { BenchEnvironment } from './environment.ts';
import type { BenchResult } from './report.ts';
import { type parts, startRolesWorld, type Times, timesBetween } from './roles-world.ts';

/** Payments in one block of each of the two chains, and their payers. */
const perChain = 100;
const buyersPerChain = 10;
/** The first rounds compile the program. */
const warmUpRounds = 2;
const atOnce = 32;
const blockMs = 1_000;
const blockGas = '0x77359400';
const idleSeconds = 20;
/** What follows a payment's last webhook: results of deliveries, counts, search words and seals. */
const tailMs = 3_000;
const patienceMs = 1_200_000;

type Phase = 'session' | 'order' | 'payment, settlement, webhooks';
interface Span {
  readonly times: Times;
  readonly seconds: number;
}

/** A session with its buyer, and the order that the buyer signed for it. */
interface Purchase {
  readonly buyer: Buyer;
  readonly sale: Sale;
  prepared?: AgentReply;
}

/**
 * Many payments in one block of each chain: what a payment costs the processes and PostgreSQL when each step works in its
 * largest batches. Chains, payers and the receiver of webhooks share the machine; their time is not counted.
 */
export async function measureBlock({ effort, log }: BenchEnvironment): Promise<BenchResult> {
  const { world, times } = await startRolesWorld();
  const miner = startMiner(world);
  try {
    const spanOf = async (work: () => Promise<void>): Promise<Span> => {
      const [before, start] = [times(), performance.now()];
      await work();
      return { times: timesBetween(before, times()), seconds: (performance.now() - start) / 1_000 };
    };
    for (const { life } of world.chains) await life.anvil.request('evm_setBlockGasLimit', [blockGas]);
    const buyers = await fundBuyers(world, buyersPerChain * world.chains.length);
    const nonces = new Map(buyers.map((buyer) => [buyer, 0]));
    const count = perChain * world.chains.length;
    const sales: Sale[] = [];
    const rounds: Record<Phase, Span>[] = [];
    for (let round = 0; round < warmUpRounds + effort.rounds; round += 1) {
      const purchases: Purchase[] = [];
      const session = await spanOf(() => createSessions(world, buyers, purchases, count));
      const order = await spanOf(() =>
        inPortions(purchases, async (purchase) => {
          const { buyer, sale } = purchase;
          purchase.prepared = await patiently(() =>
            buyer.payer.prepare(sale.sessionId, buyer.chain.token('usdc')),
          );
          sale.orderId = purchase.prepared.aiView.paymentExecutionGuide.order.orderId;
        }),
      );
      sales.push(...purchases.map(({ sale }) => sale));
      await miner.pause();
      await sendAll(purchases, nonces);
      const payment = await spanOf(async () => {
        for (const { life } of world.chains) await life.anvil.mine();
        miner.resume();
        await untilCompleted(world, sales.length);
        await systemClock.sleep(tailMs);
      });
      log(`${count} payments in ${Math.round(payment.seconds)} s`);
      if (round >= warmUpRounds) rounds.push({ session, order, 'payment, settlement, webhooks': payment });
    }
    const idle = await spanOf(() => systemClock.sleep(idleSeconds * 1_000));
    const wrong = [...(await settleDown(world, patienceMs)), ...(await findViolations(world, sales))];
    if (wrong.length > 0) throw new Error(wrong.join('; '));
    return resultOf({ effort, rounds, idle, count });
  } finally {
    await miner.pause();
    await world.close();
  }
}

/** A block of each chain each second, while it is not paused. */
function startMiner({ chains }: ChaosWorld): { pause(): Promise<void>; resume(): void } {
  let ending = new AbortController();
  let mining: Promise<unknown> = Promise.resolve();
  const mine = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      for (const { life } of chains) await life.anvil.mine();
      await systemClock.sleep(blockMs, signal);
    }
  };
  const resume = () => {
    ending = new AbortController();
    mining = mine(ending.signal);
  };
  resume();
  return {
    resume,
    async pause() {
      ending.abort();
      await mining;
    },
  };
}

/** Processes and nodes on a busy machine may answer late. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const result = await insist(work, AbortSignal.timeout(patienceMs));
  if (result === undefined) throw new Error('a request failed again and again');
  return result;
}

async function inPortions<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += atOnce)
    await Promise.all(items.slice(start, start + atOnce).map(work));
}

/** Sessions in turn for each buyer. One of three is settled on the other chain. */
async function createSessions(
  world: ChaosWorld,
  buyers: readonly Buyer[],
  purchases: Purchase[],
  count: number,
): Promise<void> {
  await inPortions([...Array(count).keys()], async (index) => {
    const buyer = buyers[index % buyers.length];
    if (buyer === undefined) throw new Error('there is no buyer');
    const payChain = buyer.chain.chain.name;
    const settled =
      index % 3 === 2 ? world.chains.find(({ life }) => life !== buyer.chain)?.life : buyer.chain;
    const settlementToken = `${settled?.chain.name}::usdc`;
    const sessionId = await patiently(createOnce(world, settlementToken));
    purchases.push({ buyer, sale: { sessionId, settlementToken, payChain, orderId: '' } });
  });
}

/** Hands all transactions to the nodes; no block comes meanwhile. */
async function sendAll(purchases: readonly Purchase[], nonces: Map<Buyer, number>): Promise<void> {
  for (const { buyer, prepared } of purchases) {
    const guide = prepared?.aiView.paymentExecutionGuide;
    if (guide === undefined) throw new Error('an order was not prepared');
    for (const { txRequest } of [...guide.prerequisites, guide.executionRequest]) {
      const nonce = nonces.get(buyer) ?? 0;
      nonces.set(buyer, nonce + 1);
      const raw = await buyer.payer.wallet.signTransaction({
        ...{ type: 2, to: txRequest.to, data: txRequest.data, value: txRequest.value },
        ...{ chainId: Number(txRequest.chainId), nonce, gasLimit: 400_000 },
        ...{ maxFeePerGas: 50_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
      });
      await buyer.chain.anvil.request('eth_sendRawTransaction', [raw]);
    }
  }
}

/** By the webhooks that have come, so that waiting costs PostgreSQL nothing. */
async function untilCompleted(world: ChaosWorld, count: number): Promise<void> {
  const end = performance.now() + patienceMs;
  let [seen, completed] = [0, 0];
  while (completed < count) {
    const { requests } = world.receiver;
    for (; seen < requests.length; seen += 1)
      if (requests[seen]?.body.includes('"type":"session.completed"') === true) completed += 1;
    if (performance.now() > end) throw new Error(`${completed} of ${count} sessions are completed`);
    await systemClock.sleep(100);
  }
}

function resultOf(given: {
  readonly effort: BenchEnvironment['effort'];
  readonly rounds: readonly Readonly<Record<Phase, Span>>[];
  readonly idle: Span;
  readonly count: number;
}): BenchResult {
  const { effort, rounds, idle, count } = given;
  const paid = count * rounds.length;
  const rows = (['session', 'order', 'payment, settlement, webhooks'] as const).map((phase) => {
    const spans = rounds.map((round) => round[phase]);
    const seconds = spans.reduce((sum, span) => sum + span.seconds, 0);
    // All rounds together, because what the processes use while idle is as much as the work of one.
    const of = (part: (typeof parts)[number]) => {
      const used = spans.reduce((sum, span) => sum + span.times[part], 0);
      return Math.max(0, Math.round((used - (idle.times[part] / idle.seconds) * seconds) / paid));
    };
    const [web, watcher, worker] = [of('web'), of('watcher'), of('worker')];
    return {
      ...{ 'µs a payment': phase, web, watcher, worker, Florin: web + watcher + worker },
      PostgreSQL: of('PostgreSQL'),
    };
  });
  return {
    ...{ subject: 'block', title: 'Many payments in one block', effort, measured: [] },
    ...{ ratios: [], halfLoads: [], rows },
    notes: [
      `${paid} payments, ${perChain} in one block of each of two chains at a time, after ${warmUpRounds * count} to compile; one of three is settled on the other chain. Nothing was lost or settled twice, and the books balanced.`,
      'A session has its webhook and counts in part here and in part in the next row. An order has the read of the terms before it, as payers do. What the processes use while idle is taken off.',
    ],
  };
}
