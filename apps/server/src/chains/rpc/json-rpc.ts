import { RpcError, type RpcOutcome, RpcUnavailable } from './rpc.ts';

/** Errors by which a node says "not now" rather than "no": another node may well answer. */
const overloadCodes = new Set([-32005, -32097, 429]);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readError(value: unknown): RpcError {
  if (!isRecord(value) || typeof value['message'] !== 'string' || !Number.isInteger(value['code'])) {
    throw new RpcUnavailable('malformed answer: an error without code or message');
  }
  const code = Number(value['code']);
  if (overloadCodes.has(code)) throw new RpcUnavailable(`overloaded: ${value['message'].slice(0, 200)}`);
  return new RpcError(code, value['message'].slice(0, 1000), value['data']);
}

/**
 * Reads the answers to `count` requests with ids from the first on (JSON-RPC 2.0, section 6: in any order). Each id must occur
 * exactly once, with either a result or an error; anything else is a malformed answer and throws `RpcUnavailable`.
 * A single error in place of the array holds for every request.
 */
export function readBatchAnswer(body: unknown, count: number, firstId = 1): readonly RpcOutcome[] {
  if (isRecord(body) && 'error' in body && body['error'] !== null) {
    const error = readError(body['error']);
    return Array.from({ length: count }, () => ({ error }));
  }
  if (!Array.isArray(body) || body.length !== count) {
    throw new RpcUnavailable(`malformed answer: not an array of ${count} answers`);
  }
  const outcomes = new Array<RpcOutcome | undefined>(count).fill(undefined);
  for (const entry of body) {
    const id = isRecord(entry) ? entry['id'] : undefined;
    if (
      typeof id !== 'number' ||
      !Number.isInteger(id) ||
      id < firstId ||
      id >= firstId + count ||
      outcomes[id - firstId] !== undefined
    ) {
      throw new RpcUnavailable('malformed answer: an id that was not asked for, or twice');
    }
    outcomes[id - firstId] = readSingleAnswer(entry, id);
  }
  return outcomes.filter((outcome) => outcome !== undefined);
}

/** Reads the answer to the request with this id; throws `RpcUnavailable` unless it is well-formed. */
export function readSingleAnswer(body: unknown, id: number): RpcOutcome {
  if (!isRecord(body) || body['jsonrpc'] !== '2.0')
    throw new RpcUnavailable('malformed answer: not JSON-RPC 2.0');
  const error = 'error' in body && body['error'] !== null ? readError(body['error']) : undefined;
  if (error !== undefined) return { error };
  if (body['id'] !== id) throw new RpcUnavailable('malformed answer: another id than asked for');
  if (!('result' in body)) throw new RpcUnavailable('malformed answer: neither result nor error');
  return { result: body['result'] };
}
