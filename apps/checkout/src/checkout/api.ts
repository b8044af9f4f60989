import type { SubmittedView } from '@florin/protocol/agent-view.ts';
import type { BegunSession, TokenBalance } from '@florin/protocol/checkout-api.ts';
import type { PreparedOrder, SessionReceipt } from '@florin/protocol/checkout-order.ts';
import type { CheckoutOption, ShownState } from '@florin/protocol/checkout-state.ts';
import { isAtEnd, type Model } from './model.ts';

/** A refusal by the server, with its code. */
export class Refused extends Error {
  readonly code: number;
  /** What the reader can do about it; undefined where there is nothing. */
  readonly words: string | undefined;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  constructor(code: number, words: string | undefined, isRetryable: boolean) {
    super();
    this.code = code;
    this.words = words;
    this.isRetryable = isRetryable;
  }
}

/** No answer of the service came, or none that it gives. */
export class Lost extends Error {}

interface Envelope<Data> {
  readonly code: number;
  readonly data: Data;
  /** Of a refusal. */
  readonly error?: { readonly retryable: boolean };
}

const timeoutMs = 20_000;

/** Calls the page's API in the page's language; throws its refusals, and `Lost`. */
export async function ask<Data>(
  path: string,
  { body, clientCode = '' }: { body?: unknown; clientCode?: string } = {},
): Promise<Data> {
  const { code, data, error } = await answerOf<Data>(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      'x-client-code': clientCode,
      'accept-language': document.documentElement.lang,
    },
    body: JSON.stringify(body) ?? null,
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (code !== 0)
    throw new Refused(code, (data as { words?: string } | null)?.words, error?.retryable === true);
  return data;
}

async function answerOf<Data>(path: string, init: RequestInit): Promise<Envelope<Data>> {
  try {
    return await (await fetch(path, init)).json();
  } catch (cause) {
    // The browser's words are English.
    throw new Lost('', { cause });
  }
}

const base = '/checkout/api';
const sessionPath = (sessionId: string) => `${base}/session/${sessionId}`;

/** Apart from the others, because few pages let the payer choose the amount. */
export const askQuote = (linkId: string, amount: string) =>
  ask<{ options: CheckoutOption[] }>(`${base}/quote/${linkId}/${amount}`);

/** A session as one page follows it: in its language, with the order whose address it shows; empty: the session's. */
type Followed = Pick<Model, 'data' | 'own'>;

/** The address of what the server renders for a page, in its language and time zone. */
const pathFor = ({ data, own: order }: Followed, part = '') => {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const query = new URLSearchParams({ lang: data.locale, zone, ...(order && { order }) });
  return `${sessionPath(data.state?.sessionId ?? '')}${part}?${query}`;
};

/** An order to sign for a payer, and who asks for it. */
export interface WantedOrder {
  readonly body: {
    readonly sessionId: string;
    readonly payer: string;
    readonly tokenId: string;
    readonly payerEmail: string;
  };
  readonly clientCode: string;
}

export const api = {
  begin: (body: { linkId: string; linkVersion: string; amount: string | undefined }) =>
    ask<BegunSession>(`${base}/session`, { body }),
  read: (followed: Followed) =>
    ask<ShownState & { options: CheckoutOption[]; now: number }>(pathFor(followed)),
  balances: (payer: string, tokenIds: string[]) =>
    ask<{ balances: TokenBalance[] }>(`${base}/balances`, { body: { payer, tokenIds } }),
  prepare: (wanted: WantedOrder) => ask<PreparedOrder>(`${base}/prepare`, wanted),
  showDeposit: (wanted: WantedOrder) => ask<{ orderId: string }>(`${base}/deposit`, wanted),
  changeDeposit: (how: 'hide' | 'again', body: { sessionId: string; end?: string }, clientCode: string) =>
    ask<object>(`${base}/deposit/${how}`, { body, clientCode }),
  receipt: (sessionId: string, clientCode: string) =>
    ask<SessionReceipt>(`${sessionPath(sessionId)}/receipt`, { clientCode }),
  places: (sessionId: string, clientCode: string) =>
    ask<object>(`${sessionPath(sessionId)}/places`, { clientCode }),
  submit: (base: string, path: string, body: Record<string, string>) =>
    ask<SubmittedView>(`${base}${path}`, { body }),
};

/** Between two reads: at first, at most while a payment may still come, and at most after the end. */
const firstMs = 1_000;
const slowMs = 30_000;
const lastMs = 32 * 60_000;

/**
 * Follows a session by server-sent events, and polls while those fail. No event tells of money that arrives or goes back
 * after the end. An ended session is read again after half a minute, then each time after twice as long, for an hour in
 * all, and anew whenever a reader returns to the page. Returns what ends it.
 */
export function follow(
  followed: Followed,
  on: { readonly state: (shown: ShownState) => void; readonly lost: () => void },
): () => void {
  let waitMs = firstMs;
  let isEnded = false;
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource | undefined;
  const take = (shown: ShownState) => {
    isEnded = isAtEnd(shown.state);
    waitMs = isEnded ? Math.max(2 * waitMs, slowMs) : firstMs;
    on.state(shown);
  };
  const schedule = () => {
    if (!isOver && waitMs <= lastMs) timer ??= setTimeout(() => void poll(), waitMs);
  };
  const unschedule = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const poll = async () => {
    unschedule();
    // A reader who returns wakes it.
    if (isEnded && document.hidden) return;
    try {
      const shown = await api.read(followed);
      if (isOver) return;
      take(shown);
      if (!isEnded && source === undefined) return listen();
    } catch {
      // Shown as a lost connection; the next attempt decides.
      on.lost();
      waitMs = isEnded ? 2 * waitMs : Math.min(2 * waitMs, slowMs);
    }
    schedule();
  };
  const listen = () => {
    source = new EventSource(pathFor(followed, '/events'));
    source.onmessage = ({ data }: MessageEvent<string>) => {
      unschedule();
      take(JSON.parse(data));
      if (!isEnded) return;
      source?.close();
      source = undefined;
      schedule();
    };
    source.onerror = schedule;
  };
  const wake = () => {
    if (!isEnded || document.hidden) return;
    waitMs = firstMs;
    void poll();
  };
  document.addEventListener('visibilitychange', wake);
  listen();
  return () => {
    isOver = true;
    document.removeEventListener('visibilitychange', wake);
    source?.close();
    clearTimeout(timer);
  };
}
