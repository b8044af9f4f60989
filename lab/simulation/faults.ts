import type { Size } from './scenario.ts';
import type { SeededRandom } from './seeded-random.ts';

/** How often each fault strikes while faults are on: probabilities per call, unless stated otherwise. */
export interface FaultRates {
  /** A node never answers an exchange, but its effect may have happened. */
  readonly rpcTimeout: number;
  /** A node answers every call of an exchange with an error, but it may have taken a sent transaction. */
  readonly rpcError: number;
  /** A node accepts a transaction and drops it. */
  readonly rpcDropped: number;
  /** A node has a block, but lacks some or all of its logs. */
  readonly rpcPartialLogs: number;
  /** Logs that are duplicated, out of order or from another position. */
  readonly rpcLyingLogs: number;
  /** The finalized tag moves back to an earlier block. */
  readonly rpcFinalizedBack: number;
  /** For some time, a node of another chain answers at this address. */
  readonly rpcWrongChain: number;
  /** For some time, a node stops following the chain, perhaps on a losing branch. */
  readonly nodeStuck: number;
  /** Per statement: a connection dies before the statement is executed, or afterwards, which loses the answer. */
  readonly connectionLost: number;
  /** Per statement. */
  readonly serializationFailure: number;
  /** A process is killed at an input or output. */
  readonly crash: number;
  /** A process pauses at an input or output. */
  readonly pause: number;
  /** Per block. */
  readonly reorg: number;
  /** Per block: the next block comes much later and asks for far higher fees. The nodes keep answering. */
  readonly chainSilent: number;
  /** A receiver answers with an error, too late or not at all. */
  readonly receiver: number;
  /** CCTP's attestation service is unavailable or has not attested yet. */
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

/** The maximum of each rate. A history takes a share of it. */
const maxRates: FaultRates = {
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

/** How many kinds a short history has besides the required ones. */
const kindsInShortHistory = [1, 3] as const;

/**
 * Chooses the faults of one history. Not all kinds occur, so that none masks the others. A long history has half of
 * them at varying rates; a short one has few, at high rates.
 */
export function chooseFaults(
  random: SeededRandom,
  size: Size,
  required: readonly (keyof FaultRates)[] = [],
): FaultRates {
  const chosenKinds = size === 'short' ? pickKinds(random) : undefined;
  const rates = Object.entries(maxRates).map(([name, rate]) => {
    const isRequired = required.some((kind) => kind === name);
    const isOff = (chosenKinds === undefined ? random.chance(0.5) : !chosenKinds.has(name)) && !isRequired;
    return [
      name,
      isOff
        ? 0
        : rate *
          (isRequired ? 1 : chosenKinds === undefined ? random.fraction() : 0.5 + random.fraction() / 2),
    ];
  });
  return Object.fromEntries(rates) as unknown as FaultRates;
}

function pickKinds(random: SeededRandom): ReadonlySet<string> {
  const kinds = Object.keys(maxRates);
  return new Set(Array.from({ length: random.between(...kindsInShortHistory) }, () => random.pick(kinds)));
}

/** Keeps the rates of these kinds and sets all others to zero. */
export function onlyFaults(rates: FaultRates, kinds: readonly (keyof FaultRates)[]): FaultRates {
  const chosen = Object.entries(rates).filter(([name]) => kinds.some((kind) => kind === name));
  return { ...noFaults, ...Object.fromEntries(chosen) };
}

/** The current faults: the chosen ones, until they are switched off so that the service can become idle. */
export class Faults {
  readonly random: SeededRandom;
  /** How many times each kind has struck. */
  readonly counts = new Map<string, number>();
  #rates: FaultRates;

  constructor(rates: FaultRates, random: SeededRandom) {
    this.#rates = rates;
    this.random = random;
  }

  occurs(kind: keyof FaultRates): boolean {
    const rate = this.#rates[kind];
    if (rate === 0 || !this.random.chance(rate)) return false;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    return true;
  }

  end(): void {
    this.#rates = noFaults;
  }
}
