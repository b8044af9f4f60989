import { AgentError } from './error.ts';

/** What a payment needs of the world around it; tests replace it. */
export interface Outside {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** When the whole call gives up, by performance.now. */
  readonly endMs: number;
  /** The most time between two looks, in milliseconds. */
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
  assertWanted(outside);
}

/** Refuses to go on once the caller has aborted. */
export function assertWanted({ signal }: Outside): void {
  if (signal.aborted) throw new AgentError('aborted', 'the caller has aborted', { cause: signal.reason });
}

/** Whether the time of the whole call is over. */
export function isOver({ endMs }: Outside): boolean {
  return performance.now() > endMs;
}

/** The most characters of an answer. */
const maxAnswerCharacters = 1_000_000;
const requestTimeoutMs = 30_000;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where the answer came from, behind redirects. */
  readonly url: string;
}

/** One request, without retries. Rejects with what fetch rejects with, and refuses answers of more than a megabyte. */
export async function request(outside: Outside, url: string | URL, init: RequestInit = {}): Promise<Answer> {
  assertWanted(outside);
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
