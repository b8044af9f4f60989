import type { SeededRandom } from './seeded-random.ts';
import type { Size } from './story.ts';

/** How often each thing goes wrong while faults are on: probabilities per call, unless said otherwise. */
export interface FaultRates {
  /** An exchange with a node that never answers; its effect may have happened. */
  readonly rpcTimeout: number;
  /** A node answers every call of an exchange with an error; a transaction sent so may have been taken. */
  readonly rpcError: number;
  /** A node says that it took a transaction, and drops it. */
  readonly rpcDropped: number;
  /** A node has no or not all logs of a block although it has the block. */
  readonly rpcPartialLogs: number;
  /** Logs twice, out of order, or of another place. */
  readonly rpcLyingLogs: number;
  /** The finalized tag stands on an earlier block than before. */
  readonly rpcFinalizedBack: number;
  /** Behind the address another chain's node answers, for some time. */
  readonly rpcWrongChain: number;
  /** A node stands still, perhaps on a branch that loses, for some time. */
  readonly nodeStuck: number;
  /** Per statement: a connection dies before the statement is executed, or after it, when the answer is lost. */
  readonly connectionLost: number;
  /** Per statement. */
  readonly serializationFailure: number;
  /** A process is killed at an input or output. */
  readonly crash: number;
  /** A process stands still for a while at an input or output. */
  readonly pause: number;
  /** Per block. */
  readonly reorg: number;
  /** Per block: the next one comes much later, while the nodes go on answering, and asks for far higher fees. */
  readonly chainSilent: number;
  /** A receiver that answers with an error, not at all, or too late to be believed. */
  readonly receiver: number;
  /** CCTP's attestation service is away, or has not attested yet. */
  readonly attestation: number;
}

export const noFaults: FaultRates = {
  rpcTimeout: 0,
  rpcError: 0,
  rpcDropped: 0,
  rpcPartialLogs: 0,
  rpcLyingLogs: 0,
  rpcFinalizedBack: 0,
  rpcWrongChain: 0,
  nodeStuck: 0,
  connectionLost: 0,
  serializationFailure: 0,
  crash: 0,
  pause: 0,
  reorg: 0,
  chainSilent: 0,
  receiver: 0,
  attestation: 0,
};

/** The worst of each, of which a history takes some share. */
const worst: FaultRates = {
  rpcTimeout: 0.06,
  rpcError: 0.06,
  rpcDropped: 0.4,
  rpcPartialLogs: 0.3,
  rpcLyingLogs: 0.1,
  rpcFinalizedBack: 0.1,
  rpcWrongChain: 0.005,
  nodeStuck: 0.03,
  connectionLost: 0.01,
  serializationFailure: 0.01,
  crash: 0.008,
  pause: 0.003,
  reorg: 0.25,
  receiver: 0.5,
  attestation: 0.6,
  chainSilent: 0.08,
};

/** Kinds that a short history has besides those that it must have. */
const fewKinds = [1, 3] as const;

/**
 * Faults of one history: not all kinds occur, so that none hides behind the others. Of a long one half of them, each as often
 * as it comes; of a short one few, which then strike.
 */
export function chooseFaults(
  random: SeededRandom,
  size: Size,
  always: readonly (keyof FaultRates)[] = [],
): FaultRates {
  const few = size === 'short' ? pickKinds(random) : undefined;
  const rates = Object.entries(worst).map(([name, rate]) => {
    const isWanted = always.some((kind) => kind === name);
    const isOff = (few === undefined ? random.chance(0.5) : !few.has(name)) && !isWanted;
    return [
      name,
      isOff ? 0 : rate * (isWanted ? 1 : few === undefined ? random.fraction() : 0.5 + random.fraction() / 2),
    ];
  });
  return Object.fromEntries(rates) as unknown as FaultRates;
}

function pickKinds(random: SeededRandom): ReadonlySet<string> {
  const kinds = Object.keys(worst);
  return new Set(Array.from({ length: random.between(...fewKinds) }, () => random.pick(kinds)));
}

/** The same rates of these kinds, and nothing else goes wrong. */
export function onlyFaults(rates: FaultRates, kinds: readonly (keyof FaultRates)[]): FaultRates {
  const kept = Object.entries(rates).filter(([name]) => kinds.some((kind) => kind === name));
  return { ...noFaults, ...Object.fromEntries(kept) };
}

/** The faults as they are now: the chosen ones, until they are switched off so that everything can come to rest. */
export class Faults {
  readonly random: SeededRandom;
  /** How often each kind has struck. */
  readonly counts = new Map<string, number>();
  #rates: FaultRates;

  constructor(rates: FaultRates, random: SeededRandom) {
    this.#rates = rates;
    this.random = random;
  }

  strikes(kind: keyof FaultRates): boolean {
    const rate = this.#rates[kind];
    if (rate === 0 || !this.random.chance(rate)) return false;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    return true;
  }

  end(): void {
    this.#rates = noFaults;
  }
}
