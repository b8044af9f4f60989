import {
  createSender,
  defaultSenderSettings,
  freshState,
  newLoopState,
  openHttpRpc,
  type SenderContext,
  senderRound,
  walletOf,
  watchRound,
} from '@florin/evm';
import { migrate, openDatabase } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { type Chain, schema, silentLog, systemClock } from '@florin/server/operator';
import { logSourceOf, purposes } from '@florin/server/parts';
import { startAnvil } from '@florin/world';
import { createNonceManager, createWalletClient, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { jsonRpc } from 'viem/nonce';
import type { BenchEnvironment } from './environment.ts';
import { median } from './measure.ts';
import type { BenchResult } from './report.ts';

/** Transactions of one wallet that are pending at once, and how many of them one database transaction records. */
const inFlight = 500;
const recordedAtOnce = 100;
const chainId = 31_337;
const recipient: Hex = '0x00000000000000000000000000000000000000aa';
const gwei = 1_000_000_000n;

/** One method of sending. Returns how many of `inFlight` succeeded, after mining. */
interface Way {
  readonly name: string;
  send(): Promise<number>;
}

interface Reading {
  readonly name: string;
  readonly perSecond: number;
  /** Processor time per transaction in this process, without anvil's and PostgreSQL's. */
  readonly microseconds: number;
  readonly succeeded: number;
}

type Request = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** viem's own method: an account with a nonce manager, all at once, one request each. */
function viemWay(url: string, privateKey: Hex, request: Request): Way {
  const nonceManager = createNonceManager({ source: jsonRpc() });
  const account = privateKeyToAccount(privateKey, { nonceManager });
  const wallet = createWalletClient({ account, transport: http(url, { batch: { batchSize: 100 } }) });
  return {
    name: 'viem with its nonceManager',
    async send() {
      const settled = await Promise.allSettled(
        Array.from({ length: inFlight }, () =>
          wallet.sendTransaction({
            ...{ chain: null, to: recipient, value: 0n, gas: 21_000n },
            ...{ maxFeePerGas: 20n * gwei, maxPriorityFeePerGas: gwei },
          }),
        ),
      );
      await request('anvil_mine', ['0x1']);
      const hashes = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const receipts = await Promise.all(
        hashes.map((hash) =>
          wallet.request({ method: 'eth_getTransactionReceipt', params: [hash] } as never),
        ),
      );
      return receipts.filter((receipt) => receipt !== null).length;
    },
  };
}

/**
 * The sender: stores transactions before the broadcast, sends them in batches and follows them until they are final.
 */
async function senderWay(
  environment: BenchEnvironment,
  place: { url: string; privateKey: Hex; request: Request },
): Promise<Way> {
  const databaseUrl = await environment.createDatabase('sender');
  await migrate(databaseUrl, schema);
  const db = openDatabase({ schema, url: databaseUrl });
  const rpc = openHttpRpc({ chainId, urls: [place.url], clock: systemClock, log: silentLog });
  environment.onEnd(() => db.close());
  environment.onEnd(() => rpc.close());
  const chain: Chain = {
    ...{ name: 'bench', chainId, rpcUrls: [place.url], startBlock: 0n, pollIntervalMs: 50, tokens: [] },
    ...{ gateway: recipient, vault: recipient, finality: { tag: 'latest', depth: 0, quorum: 1 } },
  };
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + aheadMs) };
  let succeeded = 0;
  const options = {
    ...{ chains: [chain], purposes, rpcOf: () => rpc, db, clock, log: silentLog },
    ...{ wallet: walletOf(place.privateKey), maxFeePerGas: 500n * gwei },
    onOutcome: async (_transaction: unknown, outcome: { status: string }) => {
      if (outcome.status === 'succeeded') succeeded += 1;
    },
  };
  const context: SenderContext = { ...options, settings: defaultSenderSettings };
  const sender = createSender(options);
  const handler = { onBlock: async () => {}, onReorg: async () => {}, onFinal: async () => {} };
  const watcher = { chain, rpc, source: logSourceOf(chain), db, clock, log: silentLog, handler };
  let state = freshState;
  const catchUp = async () => {
    do state = await watchRound(watcher, state);
    while (state.found === 'behind');
  };
  const memory = newLoopState();
  return {
    name: 'sender',
    async send() {
      await catchUp();
      const before = succeeded;
      const plan = await sender.plan(chainId, { purpose: 'settle', to: recipient, data: '0x' });
      if ('reverted' in plan) throw new Error('a transfer of nothing would revert');
      for (let start = 0; start < inFlight; start += recordedAtOnce) {
        const plans = Array.from({ length: recordedAtOnce }, () => plan);
        await db.transaction((transaction) => sender.recordAll(transaction, plans));
      }
      // Simulates the next round of its loop, which sends everything that is old enough.
      aheadMs += 2_500;
      await senderRound(context, chain, memory);
      await place.request('anvil_mine', ['0x1']);
      await catchUp();
      await senderRound(context, chain, memory);
      return succeeded - before;
    },
  };
}

/** Repeatedly sends as many transactions as one wallet may have pending, with each method in turn. */
export async function measureSender(environment: BenchEnvironment): Promise<BenchResult> {
  const { effort, log } = environment;
  const anvil = await startAnvil({ name: 'bench', chainId, mining: 'manual' });
  environment.onEnd(() => anvil.stop());
  const request: Request = (method, params) => anvil.rpc(method, [...params]);
  const newKey = async () => {
    const privateKey = generatePrivateKey();
    await request('anvil_setBalance', [privateKeyToAccount(privateKey).address, '0x56bc75e2d63100000']);
    return privateKey;
  };
  await request('anvil_mine', ['0x2']);
  const place = { url: anvil.rpcUrl, privateKey: await newKey(), request };
  const ways = [viemWay(anvil.rpcUrl, await newKey(), request), await senderWay(environment, place)];
  const runs = new Map<Way, Reading[]>(ways.map((way) => [way, []]));
  for (let round = 0; round <= effort.rounds; round += 1) {
    for (const [way, list] of runs) {
      const [start, cpu] = [performance.now(), process.cpuUsage()];
      const succeeded = await way.send();
      const perSecond = Math.round((1_000 * inFlight) / (performance.now() - start));
      const { user, system } = process.cpuUsage(cpu);
      const reading = { name: way.name, perSecond, microseconds: (user + system) / inFlight, succeeded };
      // The first round warms up.
      if (round > 0) list.push(reading);
      log(`${round}/${effort.rounds}  ${way.name}: ${perSecond}/s, ${succeeded} of ${inFlight} succeeded`);
    }
  }
  return resultOf(
    environment,
    [...runs].map(([{ name }, list]) => ({
      name,
      perSecond: median(list.map((reading) => reading.perSecond)),
      microseconds: median(list.map((reading) => reading.microseconds)),
      succeeded: Math.min(...list.map((reading) => reading.succeeded)),
    })),
  );
}

function resultOf({ effort }: BenchEnvironment, readings: readonly Reading[]): BenchResult {
  const [viem, own] = readings;
  if (viem === undefined || own === undefined) throw new Error('nothing was measured');
  if (own.succeeded < inFlight) throw new Error(`${own.succeeded} of ${inFlight} transactions succeeded`);
  const rounded = (value: number) => Math.round(value * 100) / 100;
  return {
    ...{ subject: 'sender', title: 'Sending transactions', effort, measured: [], halfLoads: [] },
    rows: readings.map(({ name, perSecond, microseconds, succeeded }) => ({
      what: name,
      'transactions/s': perSecond,
      'our µs each': Math.round(microseconds),
      'worst share that succeeded': `${succeeded} of ${inFlight}`,
    })),
    ratios: [
      {
        name: 'sender / viem with its nonceManager',
        value: rounded(own.perSecond / viem.perSecond),
        byProcessorTime: rounded(viem.microseconds / own.microseconds),
        wanted: 0,
      },
    ],
    notes: [
      'The floor is that every transaction of the sender succeeds; otherwise the bench fails.',
      `${inFlight} transactions of one wallet in flight, from the call until they are final and known to be; one block on anvil.`,
      'The sender stores every nonce and every signed transaction in PostgreSQL first and follows each until it is final; viem keeps its nonces in memory and asks for receipts once.',
    ],
  };
}
