import type { Transaction } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { broadcaster } from './broadcast.ts';
import { defaultSenderSettings, type SenderContext, type SenderOptions } from './context.ts';
import { watchGas } from './gas-balance.ts';
import { planTransaction } from './plan.ts';
import { isRelayed, planByRelayer, type Relayer } from './relayer.ts';
import { isForPayers, planWithinReserve } from './reserve.ts';
import { runSenderLoop } from './sender-loop.ts';
import type { RecordedTransaction, RevertedPlan, SendPlan, SendRequest } from './sent.ts';
import { placedFrom, type SigningQueue, signingQueue } from './signing-queue.ts';
import { allocateNonces, storeTransactions } from './store.ts';
import type { WalletSigner } from './wallet.ts';

export type { SenderOptions } from './context.ts';
export type {
  RecordedTransaction,
  RevertedPlan,
  SendCall,
  SendPlan,
  SendRequest,
  SentOutcome,
} from './sent.ts';
export { GasLimitExceeded } from './sent.ts';

/** Sends the service's own transactions: stored before they are broadcast, and followed until they are final. */
export interface Sender {
  /** Whose transactions it follows. */
  readonly wallets: readonly Hex[];
  /**
   * Asks the network for gas and fees. Payments of others are the relayer's, as long as it has gas; from a settler's wallet
   * they leave only while it keeps enough for settlements. Never inside a database transaction. `RpcUnavailable` when no node answers, `RpcError` when one refuses for another reason than a revert.
   */
  plan(chainId: number, request: SendRequest): Promise<SendPlan | RevertedPlan>;
  /**
   * Takes a nonce, signs and stores, in the caller's transaction. Other records of the wallet wait until it ends; those of
   * this process are signed meanwhile.
   */
  record(transaction: Transaction, plan: SendPlan): Promise<RecordedTransaction>;
  /**
   * The same for several plans of one chain and wallet, in order, in two statements. Throws for plans of several.
   */
  recordAll(transaction: Transaction, plans: readonly SendPlan[]): Promise<readonly RecordedTransaction[]>;
  /**
   * Hands a recorded transaction to the network after the commit; those that come at the same time together, by nonce.
   * Trouble is logged: the loop repeats it anyway.
   */
  broadcast(transactionId: bigint): Promise<void>;
  /** Follows all pending transactions until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Makes the sender of one or more wallets, which take turns, and of the relayer's beside them. Several processes may run
 * one at once: every step is decided by locked rows. Throws when two of the wallets are one, whose nonces would collide.
 */
export function createSender({ otherWallets = [], relayer: relaying, ...options }: SenderOptions): Sender {
  const context: SenderContext = { ...options, settings: { ...defaultSenderSettings, ...options.settings } };
  const laneOf = (wallet: WalletSigner): SenderContext => ({ ...context, wallet });
  const inTurn = [context, ...otherWallets.map(laneOf)];
  const relayer: Relayer | undefined =
    relaying === undefined ? undefined : { context: laneOf(relaying), lacking: new Set(), silent: new Set() };
  const lanes = relayer === undefined ? inTurn : [...inTurn, relayer.context];
  const wallets = lanes.map(({ wallet }) => wallet.address);
  if (new Set(wallets.map((address) => address.toLowerCase())).size < wallets.length)
    throw new Error('two wallets of the sender are one: each needs nonces of its own');
  const queues = new Map<string, SigningQueue>();
  const queueOf = ({ wallet }: SenderContext, chainId: number): SigningQueue => {
    const key = `${chainId} ${wallet.address}`;
    const queue = queues.get(key) ?? signingQueue(wallet);
    queues.set(key, queue);
    return queue;
  };
  const withheld = new Set<number>();
  let turn = 0;
  return {
    wallets,
    async plan(chainId, request) {
      if (relayer !== undefined && isRelayed(request.purpose)) {
        const plan = await planByRelayer(relayer, chainId, request);
        if (plan !== undefined) return plan;
      }
      turn += 1;
      const next = inTurn[turn % inTurn.length] ?? context;
      if (!isForPayers(request.purpose)) return planTransaction(next, chainId, request);
      const others = inTurn.filter((lane) => lane !== next);
      return planWithinReserve([next, ...others], withheld, chainId, request);
    },
    async record(transaction, plan) {
      const [recorded] = await recordIn({ lanes, relayer, queueOf }, transaction, [plan]);
      if (recorded === undefined) throw new Error('nothing was recorded');
      return recorded;
    },
    recordAll: (transaction, plans) => recordIn({ lanes, relayer, queueOf }, transaction, plans),
    broadcast: broadcaster(context),
    async run(signal) {
      const { all } = context.chains;
      const loops = lanes.flatMap((lane) => all.map((chain) => runSenderLoop(lane, chain, signal)));
      const balances = lanes.flatMap((lane) => all.map((chain) => watchGas(lane, chain, signal)));
      await Promise.all([...loops, ...balances]);
    },
  };
}

interface Recorder {
  readonly lanes: readonly SenderContext[];
  readonly relayer: Relayer | undefined;
  readonly queueOf: (lane: SenderContext, chainId: number) => SigningQueue;
}

async function recordIn(
  { lanes, relayer, queueOf }: Recorder,
  transaction: Transaction,
  plans: readonly SendPlan[],
): Promise<readonly RecordedTransaction[]> {
  const [first] = plans;
  if (first === undefined) return [];
  const { chainId, wallet } = first;
  if (plans.some((plan) => plan.chainId !== chainId || plan.wallet !== wallet)) {
    throw new Error('plans of several chains or wallets cannot be recorded together');
  }
  const context = lanes.find((lane) => lane.wallet.address === wallet);
  if (context === undefined) throw new Error(`${wallet} is no wallet of this sender`);
  if (context === relayer?.context && !plans.every(({ purpose }) => isRelayed(purpose)))
    throw new Error(`${wallet} sends payments of others alone`);
  let floor = 0n;
  for (const { nonceFloor } of plans) if (nonceFloor > floor) floor = nonceFloor;
  const ticket = queueOf(context, chainId).join(plans);
  try {
    const nonce = await allocateNonces(transaction, { chainId, wallet, floor, count: plans.length });
    const raws = await ticket.sign(nonce);
    const placed = placedFrom(plans, nonce);
    const stored = await storeTransactions(transaction, placed, raws, context.clock.now());
    return stored.map((recorded, index) => {
      if (recorded !== undefined) return recorded;
      throw new Error(`nonce ${nonce + BigInt(index)} of chain ${chainId} was given out twice`);
    });
  } finally {
    ticket.leave();
  }
}
