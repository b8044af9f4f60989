import { AgentError } from './error.ts';

/** A payment's access to the outside world; tests replace it. */
export interface Outside {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** When the whole call ends, by performance.now. */
  readonly endMs: number;
  /** The longest pause between two reads, in milliseconds. */
  readonly longestPauseMs: number;
}

/** Waits; refuses when the caller has aborted. */
export async function pause(outside: Outside, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      outside.signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, Math.min(ms, outside.longestPauseMs));
    outside.signal.addEventListener('abort', finish);
  });
  assertNotAborted(outside);
}

/** Throws once the caller has aborted. */
export function assertNotAborted({ signal }: Outside): void {
  if (signal.aborted) throw new AgentError('aborted', 'the caller has aborted', { cause: signal.reason });
}

/** Whether the time of the whole call is over. */
export function isOver({ endMs }: Outside): boolean {
  return performance.now() > endMs;
}

/** The longest answer, in characters. */
const maxAnswerCharacters = 1_000_000;
const requestTimeoutMs = 30_000;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The final URL, after redirects. */
  readonly url: string;
}

/** One request, without retries. Rejects with fetch's own errors, and refuses answers of more than a megabyte. */
export async function request(
  outside: Outside,
  url: string | URL,
  init: RequestInit = {},
): Promise<HttpAnswer> {
  assertNotAborted(outside);
  const signal = AbortSignal.any([outside.signal, AbortSignal.timeout(requestTimeoutMs)]);
  const ask = outside.fetch;
  const response = await ask(url, { ...init, signal });
  const text = await limitedText(response);
  return { status: response.status, headers: response.headers, text, url: response.url || String(url) };
}

async function limitedText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > maxAnswerCharacters) {
      await reader.cancel();
      throw new AgentError('answer_refused', 'the answer is longer than a megabyte');
    }
  }
}
