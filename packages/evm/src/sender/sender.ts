import type { Transaction } from '@florin/pg';
import type { Hex } from 'viem';
import { broadcaster } from './broadcast.ts';
import { defaultSenderSettings, type SenderContext, type SenderOptions } from './context.ts';
import { watchGas } from './gas-balance.ts';
import { planTransaction } from './plan.ts';
import { planByRelayer, type Relayer } from './relayer.ts';
import { planWithinReserve } from './reserve.ts';
import { runSenderLoop } from './sender-loop.ts';
import type { RecordedTransaction, RevertedPlan, SendPlan, SendRequest } from './sent.ts';
import { numberPlans, type SigningQueue, signingQueue } from './signing-queue.ts';
import { allocateNonces, storeTransactions } from './store.ts';
import type { WalletSigner } from './wallet.ts';

/** Sends transactions of our wallets: stored before they are broadcast, and followed until they are final. */
export interface Sender<Purpose extends string = string> {
  /** The wallets whose transactions the sender follows. */
  readonly wallets: readonly Hex[];
  /**
   * Asks the network for gas and fees, and chooses the wallet by `PurposeRules`. Never inside a database transaction.
   * Throws `RpcUnavailable` when no node answers, and `RpcError` when one refuses for another reason than a revert.
   */
  plan(chainId: number, request: SendRequest<Purpose>): Promise<SendPlan | RevertedPlan>;
  /**
   * Takes a nonce, signs and stores, in the caller's transaction. Other records of the wallet wait until it ends.
   * Those of this process are signed meanwhile.
   */
  record(transaction: Transaction, plan: SendPlan): Promise<RecordedTransaction>;
  /**
   * The same for several plans of one chain and wallet, in order, in two statements. Throws for plans of several
   * chains or wallets.
   */
  recordAll(transaction: Transaction, plans: readonly SendPlan[]): Promise<readonly RecordedTransaction[]>;
  /**
   * Broadcasts a recorded transaction after the commit. Simultaneous calls are sent together, by nonce. Failures are
   * logged, and the loop repeats the broadcast.
   */
  broadcast(transactionId: bigint): Promise<void>;
  /** Follows all pending transactions until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Makes the sender of one or more wallets, which take turns, and of the relayer's wallet. Several processes may run a
 * sender at once, because locked rows decide every step. Throws when two of the wallets are the same: their nonces
 * would collide.
 */
export function createSender<Purpose extends string>({
  otherWallets = [],
  relayer: relaying,
  ...options
}: SenderOptions<Purpose>): Sender<Purpose> {
  const context: SenderContext = { ...options, settings: { ...defaultSenderSettings, ...options.settings } };
  const contextFor = (wallet: WalletSigner): SenderContext => ({ ...context, wallet });
  const inTurn = [context, ...otherWallets.map(contextFor)];
  const relayer: Relayer | undefined =
    relaying === undefined
      ? undefined
      : { context: contextFor(relaying), lacking: new Set(), silent: new Set() };
  const contexts = relayer === undefined ? inTurn : [...inTurn, relayer.context];
  const wallets = contexts.map(({ wallet }) => wallet.address);
  if (new Set(wallets.map((address) => address.toLowerCase())).size < wallets.length)
    throw new Error('the sender has one wallet twice');
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
      if (relayer !== undefined && context.purposes.relayed.includes(request.purpose)) {
        const plan = await planByRelayer(relayer, chainId, request);
        if (plan !== undefined) return plan;
      }
      turn += 1;
      const next = inTurn[turn % inTurn.length] ?? context;
      if (!context.purposes.withinReserve.includes(request.purpose))
        return planTransaction(next, chainId, request);
      const others = inTurn.filter((each) => each !== next);
      return planWithinReserve([next, ...others], withheld, chainId, request);
    },
    async record(transaction, plan) {
      const [recorded] = await recordIn({ contexts, relayer, queueOf }, transaction, [plan]);
      if (recorded === undefined) throw new Error('nothing was recorded');
      return recorded;
    },
    recordAll: (transaction, plans) => recordIn({ contexts, relayer, queueOf }, transaction, plans),
    broadcast: broadcaster(context),
    async run(signal) {
      const running = contexts.flatMap((each) =>
        context.chains.flatMap((chain) => [
          runSenderLoop(each, chain, signal),
          watchGas(each, chain, signal),
        ]),
      );
      await Promise.all(running);
    },
  };
}

interface Recorder {
  readonly contexts: readonly SenderContext[];
  readonly relayer: Relayer | undefined;
  readonly queueOf: (each: SenderContext, chainId: number) => SigningQueue;
}

async function recordIn(
  { contexts, relayer, queueOf }: Recorder,
  transaction: Transaction,
  plans: readonly SendPlan[],
): Promise<readonly RecordedTransaction[]> {
  const [first] = plans;
  if (first === undefined) return [];
  const { chainId, wallet } = first;
  if (plans.some((plan) => plan.chainId !== chainId || plan.wallet !== wallet)) {
    throw new Error('plans of several chains or wallets cannot be recorded together');
  }
  const context = contexts.find((each) => each.wallet.address === wallet);
  if (context === undefined) throw new Error(`${wallet} is not a wallet of this sender`);
  if (
    context === relayer?.context &&
    !plans.every(({ purpose }) => context.purposes.relayed.includes(purpose))
  )
    throw new Error(`${wallet} sends only relayed calls`);
  let floor = 0n;
  for (const { nonceFloor } of plans) if (nonceFloor > floor) floor = nonceFloor;
  const ticket = queueOf(context, chainId).join(plans);
  try {
    const nonce = await allocateNonces(transaction, { chainId, wallet, floor, count: plans.length });
    const raws = await ticket.sign(nonce);
    const placed = numberPlans(plans, nonce);
    const stored = await storeTransactions(transaction, placed, raws, context.clock.now());
    return stored.map((recorded, index) => {
      if (recorded !== undefined) return recorded;
      throw new Error(`nonce ${nonce + BigInt(index)} of chain ${chainId} was assigned twice`);
    });
  } finally {
    ticket.leave();
  }
}
