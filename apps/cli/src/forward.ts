import { createHmac, randomBytes } from 'node:crypto';
import type { CliClock, CliOutside, Options } from './command.ts';
import { UsageError } from './command-error.ts';
import { printable } from './output.ts';
import { readState, writeState } from './state-file.ts';

/** The longest time that a receiver has for its answer: the service's own. */
const timeoutMs = 15_000;
const maxReasonCharacters = 200;
const secretFile = 'listen.json';
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** The waits of the service before each attempt, from the first one on: ten attempts over 75.6 hours. */
export const attemptDelaysMs: readonly number[] = [
  0,
  ...[5 * secondMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs],
  ...[10 * hourMs, 14 * hourMs, 20 * hourMs, 24 * hourMs],
];

/** The destination of forwarded notifications, and their signing secret. */
export interface Forward {
  readonly url: string;
  /** `whsec_…` */
  readonly secret: string;
  readonly key: Uint8Array;
}

/** What a receiver answered. */
export interface ForwardAttempt {
  readonly isTaken: boolean;
  /** For people: `204 in 5 ms`, or `400 in 5 ms: webhook_unsigned` with the first words of a refusal. */
  readonly status: string;
  /** 0 without an answer. */
  readonly httpStatus: number;
}

/** A receiver: a whole URL, or one without its scheme, such as `localhost:3000/hook`. */
export function receiverOf(option: string, given: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  if (given === '' || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`${option} is ${given}: give a receiver such as localhost:3000/webhooks`);
  return url;
}

/** Reads `--secret`; without it, the secret that this installation's events were signed with before. */
export function secretOf(options: Options, { environment }: CliOutside, installation: string): string {
  const given = options.optional('secret');
  if (given !== undefined) return given;
  const state = readState(environment, secretFile);
  const kept = state['secrets']?.[installation];
  if (kept !== undefined) return kept;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  writeState(environment, secretFile, {
    ...state,
    secrets: { ...state['secrets'], [installation]: secret },
  });
  return secret;
}

/** A receiver and the key that signs for it. Refuses what is no key. */
export function forwardTo(url: string, secret: string): Forward {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (!secret.startsWith('whsec_') || key.length < 24)
    throw new UsageError('--secret is not a key such as whsec_…');
  return { url, secret, key };
}

/** Posts one notification as a webhook does. */
export async function forward(
  { url, key }: Forward,
  clock: CliClock,
  event: { readonly id: string; readonly body: string },
): Promise<ForwardAttempt> {
  const timestamp = String(Math.floor(clock.now().getTime() / 1000));
  const signature = createHmac('sha256', key)
    .update(`${event.id}.${timestamp}.${event.body}`)
    .digest('base64');
  const startedMs = clock.monotonicMs();
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Florin-Webhooks/1',
        'accept-encoding': 'identity',
        'webhook-id': event.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body: event.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const ms = Math.round(clock.monotonicMs() - startedMs);
    const status = `${response.status} in ${ms} ms`;
    if (response.ok) {
      await response.body?.cancel();
      return { isTaken: true, status, httpStatus: response.status };
    }
    const said = await firstWords(response);
    const hint = said === 'webhook_signature_wrong' ? ', it verifies with another key' : '';
    const reason = said === '' ? '' : `: ${said}${hint}`;
    return { isTaken: false, status: status + reason, httpStatus: response.status };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { isTaken: false, status: `no answer: ${reasonOf(error)}`, httpStatus: 0 };
  }
}

/** The first line of an answer, as far as its first bytes have it; the rest is not read. */
async function firstWords({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  const [line = ''] = new TextDecoder().decode(first?.value).trimStart().split('\n', 1);
  return printable(line.slice(0, maxReasonCharacters)).trim();
}

/** Why a request failed, from its deepest cause. */
export function reasonOf(error: Error): string {
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const { code } = error as NodeJS.ErrnoException;
  return error.message === '' ? (code ?? error.name) : error.message;
}
