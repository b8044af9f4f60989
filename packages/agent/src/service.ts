import { AgentError } from './error.ts';
import { member, refuseAnswer } from './json.ts';
import { type Outside, pause, request } from './outside.ts';

/** An answer of the AI protocol. */
export interface Reply {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/** The AI protocol of one installation. Requests are repeatable, and are repeated while they fail. */
export interface ServiceClient {
  /** The answer with its code. */
  ask(path: string, body?: unknown): Promise<Reply>;
  /** `data` of the answer; refuses any code except 0 (service_refused). */
  get(path: string, body?: unknown): Promise<unknown>;
}

/** How often one request is tried, and the longest Retry-After that is honoured, in seconds. */
const tries = 6;
const longestWaitSeconds = 60;

/** A client of the AI protocol at a base URL, such as `https://aipay.example.com/api/v1`. */
export function openService(outside: Outside, base: string): ServiceClient {
  const ask = async (path: string, body?: unknown): Promise<Reply> => {
    let problem: unknown;
    for (let attempt = 0; attempt < tries; attempt += 1) {
      if (attempt > 0)
        await pause(outside, Math.min(waitMs(problem) ?? 250 * 2 ** attempt, longestWaitSeconds * 1_000));
      const reply = await tryOnce(outside, `${base}${path}`, body);
      if ('code' in reply) return reply;
      problem = reply.problem;
    }
    throw new AgentError('service_unreachable', `${base} does not answer: ${sentenceOf(problem)}`, {
      cause: problem,
    });
  };
  return {
    ask,
    async get(path, body) {
      const { code, message, data } = await ask(path, body);
      if (code !== 0) throw refusalOf(code, message);
      return data;
    },
  };
}

/** The service's refusal as an error of this package. */
export function refusalOf(code: number, message: string): AgentError {
  return new AgentError('service_refused', `${code} ${message}`, { code });
}

class BusyError extends Error {
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, message: string, retryAfter: string | null) {
    super(`HTTP ${status} ${message}`);
    this.retryAfterSeconds =
      retryAfter !== null && /^[0-9]{1,4}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  }
}

function waitMs(problem: unknown): number | undefined {
  const seconds = problem instanceof BusyError ? problem.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : seconds * 1_000;
}

function sentenceOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

async function tryOnce(outside: Outside, url: string, body: unknown): Promise<Reply | { problem: unknown }> {
  const post = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  // A followed redirect would send a signed message to another host.
  const init: RequestInit = { ...(body === undefined ? {} : post), redirect: 'error' };
  try {
    const { status, text, headers } = await request(outside, url, init);
    const reply = replyOf(text);
    if (status === 429 || status >= 500)
      return { problem: new BusyError(status, reply?.message ?? '', headers.get('retry-after')) };
    return reply ?? refuseAnswer(`HTTP ${status} without an envelope`);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    if (outside.signal.aborted) throw new AgentError('aborted', 'the caller has aborted', { cause: error });
    return { problem: error };
  }
}

function replyOf(text: string): Reply | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Another program answers there; the caller reports it with the status.
    return undefined;
  }
  const [code, message] = [member(value, 'code'), member(value, 'message')];
  if (typeof code !== 'number' || typeof message !== 'string') return undefined;
  return { code, message, data: member(value, 'data') };
}
