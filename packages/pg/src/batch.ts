import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs a batch and returns results in the order of the inputs. If a batch throws, each item runs again alone. */
export type BatchWork<Input, Output> = (inputs: readonly Input[]) => Promise<readonly Output[]>;

export interface BatchLimits {
  /** Inputs in one batch. */
  readonly maxSize: number;
  /** Batches in flight. Further inputs wait and fill the next batch (group commit). */
  readonly maxInFlight: number;
  /** The most inputs that may wait. Beyond it `add` refuses at once instead of queueing without bound. */
  readonly maxWaiting: number;
}

/** Thrown by `add` when the queue is full; the caller should retry later. */
export class BatchOverload extends Error {
  override readonly name = 'BatchOverload';
}

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
  /** Runs what belongs to the caller: a trace, say. */
  readonly asCaller: <T>(work: () => T) => T;
}

/**
 * Joins simultaneous calls into one statement. A lone call runs at once. Under load each batch takes the calls that
 * arrived during earlier batches, so that one round trip and one commit serve many calls.
 */
export function batched<Input, Output>(
  work: BatchWork<Input, Output>,
  limits: BatchLimits,
): (input: Input) => Promise<Output> {
  let waiting: Waiting<Input, Output>[] = [];
  let inFlight = 0;
  let isScheduled = false;

  const schedule = () => {
    if (isScheduled || inFlight >= limits.maxInFlight || waiting.length === 0) return;
    isScheduled = true;
    // Waits for the end of the event loop's turn, so that requests read from the sockets together share a batch.
    setImmediate(() => {
      isScheduled = false;
      void dispatch();
    });
  };

  const dispatch = async () => {
    if (inFlight >= limits.maxInFlight || waiting.length === 0) return;
    const batch = waiting.slice(0, limits.maxSize);
    waiting = waiting.slice(batch.length);
    inFlight += 1;
    schedule();
    try {
      // In the name of the first caller: an earlier batch has called this, and its callers may be gone.
      await batch[0]?.asCaller(() => runBatch(work, batch));
    } finally {
      inFlight -= 1;
      schedule();
    }
  };

  return (input) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= limits.maxWaiting) {
        reject(new BatchOverload(`${limits.maxWaiting} calls are waiting already`));
        return;
      }
      waiting.push({ input, resolve, reject, asCaller: AsyncLocalStorage.snapshot() });
      schedule();
    });
}

/** Like `batched`, with separate batches per key. The limits apply to each key. An idle key is forgotten. */
export function batchedByKey<Input, Output>(
  workOf: (key: string) => BatchWork<Input, Output>,
  limits: BatchLimits,
): (key: string, input: Input) => Promise<Output> {
  const batches = new Map<string, { add: (input: Input) => Promise<Output>; pending: number }>();
  return async (key, input) => {
    const batch = batches.get(key) ?? { add: batched(workOf(key), limits), pending: 0 };
    batches.set(key, batch);
    batch.pending += 1;
    try {
      return await batch.add(input);
    } finally {
      batch.pending -= 1;
      if (batch.pending === 0) batches.delete(key);
    }
  };
}

async function runBatch<Input, Output>(
  work: BatchWork<Input, Output>,
  batch: readonly Waiting<Input, Output>[],
): Promise<void> {
  try {
    deliver(batch, await work(batch.map((item) => item.input)));
  } catch (error) {
    if (batch.length === 1) {
      batch[0]?.reject(error);
      return;
    }
    // One bad input must not fail the others.
    for (const item of batch) await runBatch(work, [item]);
  }
}

function deliver<Input, Output>(batch: readonly Waiting<Input, Output>[], outputs: readonly Output[]): void {
  if (outputs.length !== batch.length)
    throw new Error(`a batch of ${batch.length} gave ${outputs.length} results`);
  for (const [index, item] of batch.entries()) item.resolve(outputs[index] as Output);
}
