/** What a batcher runs: results in the order of the inputs. A batch that throws is run again item by item. */
export type BatchWork<Input, Output> = (inputs: readonly Input[]) => Promise<readonly Output[]>;

export interface BatchLimits {
  /** Inputs in one batch. */
  readonly maxSize: number;
  /** Batches under way at once; more inputs wait and fill the next batch (group commit). */
  readonly maxInFlight: number;
  /** Inputs that may wait; beyond it `add` refuses at once instead of queueing without bound. */
  readonly maxWaiting: number;
}

/** Thrown by `add` when too much waits already; the caller is asked to come back. */
export class BatchOverload extends Error {
  override readonly name = 'BatchOverload';
}

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins calls that come at the same time into one statement. A lone call goes at once; under load each batch takes what
 * gathered while the ones before were under way, so that one round trip and one commit serve many calls.
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
    // After the current turn of the event loop, so that requests read from the sockets together go together.
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
      await runBatch(work, batch);
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
      waiting.push({ input, resolve, reject });
      schedule();
    });
}

/**
 * As `batched`, with a batch for each key: inputs of different keys never share one. The limits are those of each key; a key
 * is forgotten when nothing of it is under way.
 */
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
    // One bad input must not fail its neighbours.
    for (const item of batch) await runBatch(work, [item]);
  }
}

function deliver<Input, Output>(batch: readonly Waiting<Input, Output>[], outputs: readonly Output[]): void {
  if (outputs.length !== batch.length)
    throw new Error(`a batch of ${batch.length} gave ${outputs.length} results`);
  for (const [index, item] of batch.entries()) item.resolve(outputs[index] as Output);
}
