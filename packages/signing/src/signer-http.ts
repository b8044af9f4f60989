import { Agent, request } from 'undici';
import type { Sleeper } from './outside.ts';
import { SignerFailure } from './signer.ts';

/** The answer of a signing service. */
export interface SignerAnswer {
  readonly status: number;
  readonly text: string;
}

/** A connection to a signing service: the operator's own setting, like the address of a node. */
export interface SignerHttp {
  /**
   * Sends a request, and retries where that may help: no answer, 429, a status from 500, or an answer that
   * `isThrottled` accepts. Throws `SignerFailure` when retries fail. Signing twice is harmless.
   */
  ask(asked: SignerRequest): Promise<SignerAnswer>;
  close(): Promise<void>;
}

export interface SignerRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body: string;
  /** Made for each attempt, because signatures of requests expire. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly isThrottled?: (answer: SignerAnswer) => boolean;
}

/** Database rows are locked while a transaction is signed: fail early and let the caller retry. */
const timeLimitMs = 3_000;
const maxTries = 3;
const firstPauseMs = 100;
const maxAnswerBytes = 64 * 1024;

export function signerHttp(clock: Sleeper): SignerHttp {
  const agent = new Agent({ connections: 16, connect: { timeout: 2_000 }, maxResponseSize: maxAnswerBytes });
  return {
    async ask(asked) {
      for (let tries = 1; ; tries += 1) {
        const answer = await exchange(agent, asked);
        const isFinal = answer !== undefined && !isTransient(answer, asked);
        if (isFinal) return answer;
        if (tries === maxTries) throw new SignerFailure(problemOf(answer));
        await clock.sleep(firstPauseMs * 2 ** (tries - 1));
      }
    },
    close: () => agent.destroy(),
  };
}

function isTransient(answer: SignerAnswer, asked: SignerRequest): boolean {
  return answer.status === 429 || answer.status >= 500 || asked.isThrottled?.(answer) === true;
}

/** Never the service's own words: an error may quote the data to be signed. */
function problemOf(answer: SignerAnswer | undefined): string {
  return answer === undefined
    ? 'the signer does not answer'
    : `the signer answers with HTTP status ${answer.status}`;
}

async function exchange(agent: Agent, asked: SignerRequest): Promise<SignerAnswer | undefined> {
  try {
    const response = await request(asked.url, {
      dispatcher: agent,
      method: asked.method,
      headers: asked.headers(),
      ...(asked.method === 'GET' ? {} : { body: asked.body }),
      signal: AbortSignal.timeout(timeLimitMs),
      headersTimeout: timeLimitMs,
      bodyTimeout: timeLimitMs,
    });
    return { status: response.statusCode, text: await response.body.text() };
  } catch {
    // The service was unreachable, too slow or its answer too long; the error reports that there was no answer.
    return undefined;
  }
}
