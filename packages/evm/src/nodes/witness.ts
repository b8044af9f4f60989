import { type NodeAnswer, type Rpc, type RpcCall, RpcError, type RpcOutcome, RpcUnavailable } from './rpc.ts';

/** A person waits for the answer. */
const timeLimitMs = 4_000;

/**
 * The answer on which two nodes of different hosts agree, for important answers without proof. A single available
 * node is trusted, because the caller cannot make the other nodes fail. Throws `RpcUnavailable` when no two agree, or
 * no node answers.
 */
export async function askTwoNodes(rpc: Rpc, call: RpcCall): Promise<RpcOutcome> {
  if (rpc.askEach === undefined) return askOne(rpc, call);
  const answers = await rpc.askEach([call], { timeLimitMs });
  const agreed = agreedOn(answers, 0);
  if (agreed instanceof RpcUnavailable) throw agreed;
  return agreed;
}

/**
 * The same for several calls in one exchange with each node: for each call the agreed answer, or the reason for its
 * absence. Never throws `RpcUnavailable`.
 */
export async function askTwoNodesBatch(
  rpc: Rpc,
  calls: readonly RpcCall[],
): Promise<readonly (RpcOutcome | RpcUnavailable)[]> {
  try {
    const [only, ...others] = calls;
    if (only !== undefined && others.length === 0) return [await askTwoNodes(rpc, only)];
    if (rpc.askEach === undefined) return await rpc.batch(calls, { timeLimitMs });
    const answers = await rpc.askEach(calls, { timeLimitMs });
    return calls.map((_call, index) => agreedOn(answers, index));
  } catch (error) {
    if (error instanceof RpcUnavailable) return calls.map(() => error);
    throw error;
  }
}

function agreedOn(answers: readonly NodeAnswer[], index: number): RpcOutcome | RpcUnavailable {
  const outcomes = answers.flatMap((answer) => answer.outcomes.slice(index, index + 1));
  const [first, ...others] = outcomes;
  if (first === undefined) return new RpcUnavailable('no node answered');
  if (others.length === 0) return first;
  const agreed = outcomes.find((outcome) => outcomes.filter((other) => isSame(outcome, other)).length >= 2);
  return agreed ?? new RpcUnavailable('no two nodes say the same');
}

async function askOne(rpc: Rpc, call: RpcCall): Promise<RpcOutcome> {
  try {
    return { result: await rpc.request(call.method, call.params) };
  } catch (error) {
    if (error instanceof RpcError) return { error };
    throw error;
  }
}

/** All errors count as equal, because each kind of node words the same refusal differently. */
function isSame(first: RpcOutcome, second: RpcOutcome): boolean {
  if ('error' in first || 'error' in second) return 'error' in first && 'error' in second;
  return JSON.stringify(first.result) === JSON.stringify(second.result);
}
