import type { Hex, Order, Payout } from '@florin/protocol/order.ts';
import { keccak256, serializeTransaction } from 'viem';
import type { Chain, Chains } from '#chains/chain.ts';
import { inOrder } from '#chains/event.ts';
import { call } from '#chains/rpc/actions.ts';
import { rpcOver } from '#chains/rpc/http-rpc.ts';
import type { Rpc } from '#chains/rpc/rpc.ts';
import { createSender } from '#chains/sender/sender.ts';
import type { WalletSigner } from '#chains/sender/wallet.ts';
import { runWatcher } from '#chains/watcher/watcher.ts';
import type { Database } from '#db/database.ts';
import { exceptionHandler } from '#exceptions/exception.ts';
import { runExpiry } from '#housekeeping.ts';
import type { Egress } from '#outside/egress.ts';
import { secretBox } from '#outside/secret-box.ts';
import { paymentHandler } from '#payments/payment.ts';
import { refundHandler } from '#refunds/refund-events.ts';
import { orderIdOf } from '#sessions/order-signer.ts';
import type { OrderSigner } from '#sessions/signer.ts';
import { runSettlement, settlementOutcome } from '#settlement/settlement.ts';
import { settlementHandler } from '#settlement/settlement-events.ts';
import type { Log } from '#telemetry/log.ts';
import { type DeliverySettings, defaultDeliverySettings, runDeliveries } from '#webhooks/delivery.ts';
import type { Faults } from './faults.ts';
import { connectionTo, type NodeModel } from './node-model.ts';
import type { ModelProcess } from './process-model.ts';
import type { SeededRandom } from './seeded-random.ts';

export const origin = 'https://pay.example.com';
const settlerAddress: Hex = `0x${'5e'.repeat(20)}`;
const masterKey = new Uint8Array(32).fill(7);

export const secrets = secretBox([masterKey]);

/** Signs as cheaply as the model checks. The mathematics of signatures is tested elsewhere. */
export const orderSigner: OrderSigner = {
  address: `0x${'51'.repeat(20)}`,
  orderId: orderIdOf,
  signOrder: async (chainId, gateway, order: Order) => mark(`${chainId}${gateway}${order.metaData}`),
  signPayout: async (_chainId, _vault, payout: Payout) => payoutMark(payout),
};

export function payoutMark(payout: Payout): Hex {
  return mark(`${payout.orderId}${payout.token}${payout.to}${payout.amount}${payout.sourceChain}`);
}

function mark(text: string): Hex {
  const hash = keccak256(`0x${Buffer.from(text.toLowerCase()).toString('hex')}`).slice(2);
  return `0x${hash}${hash}1b`;
}

/** A wallet whose signature is no signature, in a transaction that reads like any other. */
export const modelWallet: WalletSigner = {
  address: settlerAddress,
  async signTransaction({ chainId, nonce, to, data, gasLimit, maxFee, priorityFee }) {
    const unsigned = {
      type: 'eip1559',
      chainId,
      nonce: Number(nonce),
      to,
      data,
      gas: gasLimit,
      maxFeePerGas: maxFee,
      maxPriorityFeePerGas: priorityFee,
    } as const;
    return serializeTransaction(unsigned, {
      r: `0x${'11'.repeat(32)}`,
      s: `0x${'22'.repeat(32)}`,
      yParity: 0,
    });
  },
};

/** Parts of the wiring that seeded bugs put something else in for. */
export interface Wiring {
  readonly wallet: (process: ModelProcess) => WalletSigner;
  readonly egress: (egress: Egress) => Egress;
  /** Whether the outcome of a transaction is heard of. */
  readonly hearsOutcomes: boolean;
}

export interface ServiceModelOptions {
  readonly process: ModelProcess;
  readonly db: Database;
  readonly chains: Chains;
  readonly nodes: readonly NodeModel[];
  readonly egress: Egress;
  readonly random: SeededRandom;
  readonly faults: Faults;
  readonly log: Log;
  readonly wiring: Wiring;
  /** Whether watchers take turns at leading, or race for each move. */
  readonly hasLeaders: boolean;
}

/** What requests need of a running process. */
export interface ServiceModel {
  readonly process: ModelProcess;
  readonly db: Database;
  readonly deps: {
    readonly clock: ModelProcess['clock'];
    readonly random: SeededRandom;
    readonly origin: string;
    readonly chains: Chains;
    readonly rates: { readonly sameToken: number; readonly sameChain: number; readonly crossChain: number };
    readonly signer: OrderSigner;
    readonly reclaimAfterSeconds: number;
  };
}

/** Quick for a simulation, whose every look costs real time; the shape is production's. */
const deliverySettings: DeliverySettings = {
  ...defaultDeliverySettings,
  pollMs: 8_000,
  retry: {
    ...defaultDeliverySettings.retry,
    delaysMs: [0, ...Array.from({ length: 40 }, () => 5_000)],
  },
};

/** Starts the loops of one process: the same files, wired as `service.ts` wires them. */
export function startModel(options: ServiceModelOptions): ServiceModel {
  const { process, db, chains, nodes, random, faults, log, wiring } = options;
  const { clock } = process;
  const rpcs = new Map(chains.all.map((chain): [number, Rpc] => [chain.chainId, rpcFor(chain)]));
  function rpcFor(chain: Chain): Rpc {
    const own = nodes.filter((node) => node.chain.chain.chainId === chain.chainId);
    const links = own.map((node) => connectionTo(node, process, faults));
    return rpcOver(links, { chainId: chain.chainId, clock, log });
  }
  const rpcOf = (chainId: number): Rpc => {
    const rpc = rpcs.get(chainId);
    if (rpc === undefined) throw new Error(`chain ${chainId} is not configured`);
    return rpc;
  };
  const moves = { clock, random, origin, log };
  const wallet = wiring.wallet(process);
  const signal = new AbortController().signal;
  const sender = createSender({
    chains,
    rpcOf,
    db,
    clock,
    log,
    wallet,
    maxFeePerGas: 500_000_000_000n,
    onOutcome: async (transaction, outcome) => {
      if (wiring.hearsOutcomes) await settlementOutcome(transaction, moves, outcome);
    },
  });
  const handler = inOrder(
    paymentHandler(moves),
    refundHandler(moves),
    settlementHandler(moves),
    exceptionHandler({ clock, chains }),
  );
  const settlement = runSettlement(
    {
      ...moves,
      db,
      chains,
      sender,
      signer: orderSigner,
      settings: { batchSize: 10, windowMs: 12_000, notMinedAfterSeconds: 45 },
      wallet: wallet.address,
      read: (chainId, request) => call(rpcOf(chainId), request, 'latest'),
    },
    signal,
  );
  const egress = wiring.egress(options.egress);
  const loops = [
    ...chains.all.map((chain) =>
      runWatcher({
        chain,
        rpc: rpcOf(chain.chainId),
        db,
        clock: slowBeats(clock),
        log,
        handler,
        signal,
        ...(options.hasLeaders ? { candidate: { id: process.name, isGone: () => false } } : {}),
      }),
    ),
    sender.run(signal),
    settlement,
    runDeliveries({ db, clock, random, log, egress, secrets, settings: deliverySettings, signal }),
    runExpiry({ db, random, log, origin, clock: leisurely(clock) }, signal),
  ];
  for (const loop of loops) loop.catch((error) => log.error('simulation.loop_ended', error));
  const rates = { sameToken: 2_000, sameChain: 3_000, crossChain: 6_000 };
  const deps = { clock, random, origin, chains, rates, signer: orderSigner, reclaimAfterSeconds: 86_400 };
  return { process, db, deps };
}

/** Beats of a leader are a statement each, and come here a quarter as often, which is just within what others bear. */
function slowBeats(clock: ModelProcess['clock']): ModelProcess['clock'] {
  return { ...clock, sleep: (ms, signal) => clock.sleep(ms < 500 ? ms * 4 : ms, signal) };
}

/** Expiry looks once a second; here a tenth as often, because each look costs three statements. */
function leisurely(clock: ModelProcess['clock']): ModelProcess['clock'] {
  return { ...clock, sleep: (ms, signal) => clock.sleep(ms * 10, signal) };
}
