import { isAtEnd } from '@florin/checkout';
import type { CheckoutState, ShownState } from '@florin/protocol/checkout-state.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyReply } from 'fastify';
import type { Clock } from '#outside/clock.ts';
import type { ProgressFeed } from './progress-feed.ts';

/** Between two heartbeats; shorter than the time-outs of common proxies. */
const heartbeatMs = 15_000;
/** After this many heartbeats the stream ends and the page reconnects. */
const maxHeartbeats = 120;

/** Answers with server-sent events: the session's state, as its page shows it, now and after each change, until the session ends. */
export function streamProgress(
  deps: { readonly clock: Clock; readonly feed: ProgressFeed; readonly ending: AbortSignal },
  place: {
    readonly sessionId: string;
    readonly network: string;
    readonly show: (state: CheckoutState) => ShownState;
  },
  reply: FastifyReply,
): void {
  const { raw } = reply;
  const closed = new AbortController();
  const close = () => {
    closed.abort();
    raw.end();
  };
  const unsubscribe = deps.feed.subscribe(place, (state) => {
    raw.write(`data: ${JSON.stringify(place.show(state))}\n\n`);
    if (isAtEnd(state)) close();
  });
  if (unsubscribe === undefined)
    throw new Refusal('rate_limited', { detail: 'too many pages follow payments', retryAfterSeconds: 5 });
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value);
  // Proxies that buffer answers would delay the events.
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  raw.write('retry: 2000\n\n');
  deps.ending.addEventListener('abort', close, { once: true });
  raw.once('close', () => {
    closed.abort();
    unsubscribe();
    deps.ending.removeEventListener('abort', close);
  });
  void beat(deps.clock, closed.signal, () => raw.write(': \n\n')).then(close);
}

async function beat(clock: Clock, closed: AbortSignal, tick: () => void): Promise<void> {
  for (let count = 0; count < maxHeartbeats && !closed.aborted; count += 1) {
    await clock.sleep(heartbeatMs, closed);
    if (!closed.aborted) tick();
  }
}
