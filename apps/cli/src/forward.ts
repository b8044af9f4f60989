import { randomBytes } from 'node:crypto';
import { plainHeaders, signWebhook } from '@florin/outbox';
import { unixSeconds } from '@florin/server/operator';
import type { CommandContext, Options } from './command.ts';
import { UsageError } from './command-error.ts';
import { reasonOf } from './merchant-client.ts';

const timeoutMs = 15_000;

/** The destination of forwarded notifications, and their signing secret. */
export interface Forward {
  readonly url: string;
  /** `whsec_…` */
  readonly secret: string;
  readonly key: Uint8Array;
}

/** Reads `--forward-to` and `--secret`; without the latter, creates a new secret. */
export function forwardOf(options: Options): Forward {
  const url = options.required('forward-to');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new UsageError(`--forward-to is ${url}: give a URL such as http://127.0.0.1:3000/webhooks`);
  }
  const secret = options.optional('secret') ?? `whsec_${randomBytes(32).toString('base64')}`;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (!secret.startsWith('whsec_') || key.length < 24)
    throw new UsageError('--secret is not a key such as whsec_…');
  return { url, secret, key };
}

/** Posts one notification as a webhook does; returns a line with the result. */
export async function forward(
  { url, key }: Forward,
  { clock }: CommandContext,
  event: { readonly id: string; readonly body: string },
): Promise<{ isTaken: boolean; status: string }> {
  const timestampSeconds = unixSeconds(clock.now());
  const startedMs = clock.monotonicMs();
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...plainHeaders(event.id, timestampSeconds),
        ...signWebhook({ eventId: event.id, timestampSeconds, body: event.body, keys: [key] }),
      },
      body: event.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    const ms = Math.round(clock.monotonicMs() - startedMs);
    return { isTaken: response.ok, status: `${response.status} in ${ms} ms` };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { isTaken: false, status: `no answer: ${reasonOf(error)}` };
  }
}
