import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, Post } from './context.ts';

/** One request as the receiver got it. */
export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly at: Date;
}

export type Behaviour =
  | { readonly kind: 'answer'; readonly status: number; readonly body?: string; readonly retryAfter?: string }
  | { readonly kind: 'slow'; readonly delayMs: number; readonly status?: number }
  | { readonly kind: 'reset' }
  /** Answers when it closes. */
  | { readonly kind: 'hang' };

/** Replaces an owner's server: it records requests and can misbehave. */
export interface Receiver {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Sets the behaviour from now on; a function decides for each request. It answers 204 at first. */
  behave(behaviour: Behaviour | ((request: ReceivedRequest) => Behaviour)): void;
  /** Resolves after this many requests; rejects after a minute. */
  waitFor(count: number): Promise<readonly ReceivedRequest[]>;
  close(): void;
}

const waitLimitMs = 60_000;

/** A network of receivers, each at a URL of its own, and the way to post to them. */
export function testNetwork(): { readonly post: Post; openReceiver(): Receiver } {
  let opened = 0;
  const open = new Map<string, (request: ReceivedRequest) => Promise<Answer | { failure: string }>>();
  return {
    post: async (url, request) => {
      const receive = open.get(url);
      return receive === undefined
        ? { failure: 'connection failed' }
        : receive({ ...request, at: new Date() });
    },
    openReceiver() {
      opened += 1;
      const url = `https://receiver-${opened}.example/hook`;
      const requests: ReceivedRequest[] = [];
      const waiting = new Set<() => void>();
      const closed = Promise.withResolvers<void>();
      let decide: (request: ReceivedRequest) => Behaviour = () => ({ kind: 'answer', status: 204 });
      open.set(url, async (request) => {
        requests.push(request);
        for (const check of waiting) check();
        const behaviour = decide(request);
        if (behaviour.kind === 'reset') return { failure: 'connection reset' };
        if (behaviour.kind === 'hang') await closed.promise;
        if (behaviour.kind === 'slow') await delay(behaviour.delayMs);
        const { status = 200, body = '', retryAfter } = behaviour as Partial<Behaviour & { kind: 'answer' }>;
        return { status, bodyText: body, retryAfter };
      });
      return {
        url,
        requests,
        behave(behaviour) {
          decide = typeof behaviour === 'function' ? behaviour : () => behaviour;
        },
        waitFor(count) {
          const { promise, resolve, reject } = Promise.withResolvers<readonly ReceivedRequest[]>();
          const late = () => reject(new Error(`${requests.length} of ${count} requests came`));
          const timer = setTimeout(late, waitLimitMs);
          const check = () => {
            if (requests.length >= count) resolve(requests);
          };
          waiting.add(check);
          check();
          return promise.finally(() => {
            clearTimeout(timer);
            waiting.delete(check);
          });
        },
        close() {
          open.delete(url);
          closed.resolve();
        },
      };
    },
  };
}
