import type { SubmittedView } from '@florin/protocol/agent-view.ts';
import type {
  BegunSession,
  CheckoutOption,
  PreparedOrder,
  SessionReceipt,
  ShownState,
  TokenBalance,
} from '@florin/protocol/checkout-api.ts';
import { isAtEnd } from './model.ts';

/** A refusal by the server, with its code. */
export class Refused extends Error {
  readonly code: number;
  /** When the same request may succeed. */
  readonly retryAfterSeconds: number;
  constructor(code: number, message: string, retryAfterSeconds: number) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

interface Envelope<Data> {
  readonly code: number;
  readonly message: string;
  readonly data: Data;
}

const timeoutMs = 20_000;
/** For an answer that names no time. */
const usualRetrySeconds = 60;

/** Calls the page's API; throws its refusals. */
export async function ask<Data>(
  path: string,
  options: { body?: unknown; clientCode?: string; locale?: string } = {},
): Promise<Data> {
  const { body, clientCode = '', locale } = options;
  const response = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(clientCode === '' ? {} : { 'x-client-code': clientCode }),
      ...(locale === undefined ? {} : { 'accept-language': locale }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const reply = (await response.json()) as Envelope<Data>;
  if (reply.code !== 0) {
    const retryAfterSeconds = Number(response.headers.get('retry-after')) || usualRetrySeconds;
    throw new Refused(reply.code, reply.message, retryAfterSeconds);
  }
  return reply.data;
}

const base = '/checkout/api';
/** The language and the time zone of what the server renders, and the order whose address this page alone shows. */
const readerOf = (lang: string, order: string) => {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return `?${new URLSearchParams({ lang, zone, ...(order && { order }) })}`;
};
const sessionPath = (sessionId: string) => `${base}/session/${encodeURIComponent(sessionId)}`;

/** Apart from the others, because few pages let the payer choose the amount. */
export const askQuote = (linkId: string, amount: string) =>
  ask<{ options: CheckoutOption[] }>(`${base}/quote/${encodeURIComponent(linkId)}/${amount}`);

/** An order to sign for a payer, and who asks for it. */
export interface WantedOrder {
  readonly body: {
    readonly sessionId: string;
    readonly payer: string;
    readonly tokenId: string;
    readonly payerEmail: string;
  };
  readonly clientCode: string;
  readonly locale: string;
}

export const api = {
  begin: (body: { linkId: string; linkVersion: string; amount?: string }) =>
    ask<BegunSession>(`${base}/session`, { body }),
  read: (sessionId: string, { locale, own }: { locale: string; own: string }) =>
    ask<ShownState & { options: CheckoutOption[]; now: number }>(
      sessionPath(sessionId) + readerOf(locale, own),
    ),
  balances: (payer: string, tokenIds: string[]) =>
    ask<{ balances: TokenBalance[] }>(`${base}/balances`, { body: { payer, tokenIds } }),
  prepare: (wanted: WantedOrder) => ask<PreparedOrder>(`${base}/prepare`, wanted),
  showDeposit: (wanted: WantedOrder) => ask<{ orderId: string }>(`${base}/deposit`, wanted),
  hideDeposit: (sessionId: string, clientCode: string) =>
    ask<object>(`${base}/deposit/hide`, { body: { sessionId }, clientCode }),
  receipt: (sessionId: string, clientCode: string) =>
    ask<SessionReceipt>(`${sessionPath(sessionId)}/receipt`, { clientCode }),
  submit: (base: string, path: string, body: Record<string, string>) =>
    ask<SubmittedView>(`${base}${path}`, { body }),
};

/** Delays before the next attempt, up to half a minute. */
const retryMs = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** No event tells of money that arrives or goes back after the end, so that a session is then read at the longest of them. */
const failuresOf = ({ state }: ShownState) => (isAtEnd(state) ? retryMs.length : 0);

/**
 * Follows a session by server-sent events, and polls while those fail. Reports whether the connection works. Returns what
 * ends it.
 */
export function follow(
  { sessionId, ...reader }: { readonly sessionId: string; readonly locale: string; readonly own: string },
  on: { state: (shown: ShownState) => void; connection: (isUp: boolean) => void },
): () => void {
  let failures = 0;
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const poll = async () => {
    timer = undefined;
    try {
      const shown = await api.read(sessionId, reader);
      if (isOver) return;
      on.state(shown);
      on.connection(true);
      failures = failuresOf(shown);
    } catch {
      // Shown as a lost connection; the next attempt decides.
      on.connection(false);
      failures += 1;
    }
    schedule();
  };
  const schedule = () => {
    if (isOver) return;
    timer ??= setTimeout(() => void poll(), retryMs[Math.min(failures, retryMs.length - 1)]);
  };
  const source = new EventSource(`${sessionPath(sessionId)}/events${readerOf(reader.locale, reader.own)}`);
  source.onmessage = ({ data }: MessageEvent<string>) => {
    clearTimeout(timer);
    timer = undefined;
    const shown = JSON.parse(data) as ShownState;
    failures = failuresOf(shown);
    if (isAtEnd(shown.state)) source.close();
    on.connection(true);
    on.state(shown);
    if (failures > 0) schedule();
  };
  source.onerror = schedule;
  return () => {
    isOver = true;
    source.close();
    clearTimeout(timer);
  };
}
