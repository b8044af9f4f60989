'use client';

import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';

/** What became of a payment. It proves nothing: your server asks the service, or gets a webhook. */
export interface PaymentNews {
  readonly sessionId: string;
  /** The session's own status. */
  readonly status: string;
}

/** Why an element cannot work. */
export interface PaymentFailure {
  /**
   * `not_listed`: the merchant's `embedOrigins` do not have the page's origin. `session`: there is no page to pay, or no such
   * session. `unreachable`: the service does not answer `usePayment` now, which asks again.
   */
  readonly reason: 'not_listed' | 'session' | 'unreachable';
  readonly message: string;
}

/** What a component calls when something becomes of its payment. */
export interface PaymentListeners {
  /** A block has the payment. */
  readonly onDetected?: ((news: PaymentNews) => void) | undefined;
  /** The payment is final. */
  readonly onPaid?: ((news: PaymentNews) => void) | undefined;
  /** The session ended without a payment. */
  readonly onExpired?: ((news: PaymentNews) => void) | undefined;
  /** The window was closed; with the latest news, if there was any. */
  readonly onClosed?: ((news: Partial<PaymentNews>) => void) | undefined;
  readonly onError?: ((failure: PaymentFailure) => void) | undefined;
}

const listenerNames = {
  detected: 'onDetected',
  paid: 'onPaid',
  expired: 'onExpired',
  closed: 'onClosed',
  error: 'onError',
} as const;

const missingProvider = 'put <FlorinProvider origin="https://…"> around the component';

const Origin = createContext<string | undefined>(undefined);

/** Says where the installation is, for every component below it. */
export function FlorinProvider({
  origin,
  children,
}: {
  /** `https://pay.example.com` */
  readonly origin: string;
  readonly children?: ReactNode;
}): ReactElement {
  if (!URL.canParse(origin))
    throw new Error(
      `origin of FlorinProvider is such as https://pay.example.com, not ${JSON.stringify(origin)}`,
    );
  return createElement(Origin.Provider, { value: new URL(origin).origin }, children);
}

type ServiceElement = HTMLElement & { createSession?: (() => Promise<string>) | undefined };

/** Loads the elements once in a page, and calls the latest listeners. */
function useServiceElement(listeners: PaymentListeners) {
  const origin = useContext(Origin);
  if (origin === undefined) throw new Error(missingProvider);
  const element = useRef<ServiceElement>(null);
  const latest = useRef(listeners);
  useEffect(() => {
    latest.current = listeners;
  });
  useEffect(() => {
    const src = `${origin}/embed/v1.js`;
    if (document.querySelector(`script[src="${src}"]`) !== null) return;
    document.head.append(Object.assign(document.createElement('script'), { type: 'module', src }));
  }, [origin]);
  useEffect(() => {
    const heard = element.current;
    const hear = (event: Event) => {
      const name = listenerNames[event.type as keyof typeof listenerNames];
      // Each event has the detail that its listener takes.
      const listener = latest.current[name] as ((detail: unknown) => void) | undefined;
      listener?.((event as CustomEvent<unknown>).detail);
    };
    for (const name of Object.keys(listenerNames)) heard?.addEventListener(name, hear);
    return () => {
      for (const name of Object.keys(listenerNames)) heard?.removeEventListener(name, hear);
    };
  }, []);
  return element;
}

/** What a button pays: one of the three. */
interface Payable {
  /** The id of a payment link. */
  readonly link: string;
  /** `paymentUrl` of a session. */
  readonly paymentUrl: string;
  /** Asks your server for a session when the button is pressed, and returns its `paymentUrl`. */
  readonly createSession: () => Promise<string>;
}

type OneOf<Members> = {
  [Name in keyof Members]: Pick<Members, Name> & {
    readonly [Other in Exclude<keyof Members, Name>]?: undefined;
  };
}[keyof Members];

export type PayButtonProps = OneOf<Payable> & ButtonProps;

interface ButtonProps extends PaymentListeners {
  /** Your `merchantId`, for your look where there is neither a link nor a paymentUrl. */
  readonly merchant?: string | undefined;
  /** A window of its own, or in place of your page, which needs no listed origin. */
  readonly mode?: 'popup' | 'redirect' | undefined;
  readonly disabled?: boolean | undefined;
  readonly className?: string | undefined;
  /** The label; the word for "Pay" in the payer's language when absent. */
  readonly children?: ReactNode;
}

/**
 * A button that begins a payment.
 *
 * @example
 * <PayButton createSession={() => post('/api/checkout')} onPaid={({ sessionId }) => go(sessionId)}>Buy</PayButton>
 */
export function PayButton(props: PayButtonProps): ReactElement {
  const { link, paymentUrl, createSession, merchant, mode, disabled, className, children } = props;
  const element = useServiceElement(props);
  useEffect(() => {
    if (element.current !== null) element.current.createSession = createSession;
  });
  return createElement(
    'florin-button',
    {
      ref: element,
      ...{ link, merchant, mode, 'payment-url': paymentUrl },
      // React 18 would write the word `false`, which is an attribute, too.
      disabled: disabled === true ? '' : undefined,
      class: className,
    },
    children,
  );
}

export interface CheckoutProps extends PaymentListeners {
  /** `paymentUrl` of the session. */
  readonly paymentUrl: string;
  /** The language of the frame, such as `de`; the reader's own when absent. */
  readonly lang?: string | undefined;
  readonly className?: string | undefined;
}

/** The checkout of one session inside your page. */
export function Checkout(props: CheckoutProps): ReactElement {
  const { paymentUrl, lang, className } = props;
  const element = useServiceElement(props);
  return createElement('florin-checkout', {
    ref: element,
    ...{ 'payment-url': paymentUrl, lang, class: className },
  });
}

/** A payment as the page knows it. */
export interface ShownPayment {
  /**
   * `none` before anything is known, `open` while a session waits for its payment. `closed`: the payer closed the window and had
   * not paid.
   */
  readonly status: 'none' | 'open' | 'closed' | 'failed' | 'detected' | 'expired' | 'paid';
  /** Empty before anything is known. */
  readonly sessionId: string;
  /** Blocks that the payment has, and about how many make it final; 0 where the service does not say. */
  readonly confirmations: number;
  readonly needed: number;
  /** What a short payment still needs, such as `1.25 USDC`; else empty. */
  readonly missingAmount: string;
  /** When the session ends. */
  readonly expiresAt: Date | undefined;
  readonly error: PaymentFailure | undefined;
  /** For the component: `<PayButton {...payment.listeners} />`. */
  readonly listeners: Required<PaymentListeners>;
}

/** From the least to the most that can be known. */
const knowledge: readonly ShownPayment['status'][] = [
  ...(['none', 'open', 'closed', 'failed', 'detected', 'expired', 'paid'] as const),
];
type Heard = Pick<ShownPayment, 'status' | 'sessionId' | 'error'>;

const nothingHeard: Heard = { status: 'none', sessionId: '', error: undefined };

/**
 * Follows the payment of one component. With a session's id it asks the service every few seconds too, until the payment is
 * final or the session has ended. That needs a FlorinProvider above.
 */
export function usePayment(sessionId?: string): ShownPayment {
  const [latest, setHeard] = useState(nothingHeard);
  const listeners = useMemo(() => {
    const take = (status: Heard['status']) => (news: Partial<PaymentNews>) =>
      setHeard((before) => ({ status, sessionId: news.sessionId ?? before.sessionId, error: undefined }));
    return {
      onDetected: take('detected'),
      onPaid: take('paid'),
      onExpired: take('expired'),
      // A closed window changes nothing for a payment that was made.
      onClosed: () =>
        setHeard((before) => (before.status === 'none' ? { ...before, status: 'closed' } : before)),
      onError: (error: PaymentFailure) => setHeard((before) => ({ ...before, status: 'failed', error })),
    } as const;
  }, []);
  const read = useSession(sessionId);
  // The component may have had another session before.
  const isOther = sessionId !== undefined && !['', sessionId].includes(latest.sessionId);
  const heard = isOther ? nothingHeard : latest;
  const status =
    knowledge.indexOf(read.status) > knowledge.indexOf(heard.status) ? read.status : heard.status;
  return {
    ...read,
    ...heard,
    status,
    sessionId: sessionId ?? heard.sessionId,
    error: heard.error ?? read.error,
    listeners,
  };
}

type ReadPayment = Omit<ShownPayment, 'sessionId' | 'listeners'>;

const nothingRead: ReadPayment = {
  ...{
    status: 'none',
    confirmations: 0,
    needed: 0,
    missingAmount: '',
    expiresAt: undefined,
    error: undefined,
  },
};
const pollMs = 3_000;

/** Asks the service for a session until nothing more can become of it. */
function useSession(sessionId: string | undefined): ReadPayment {
  const origin = useContext(Origin);
  if (sessionId !== undefined && origin === undefined) throw new Error(missingProvider);
  const [state, setState] = useState({ of: sessionId, read: nothingRead });
  useEffect(() => {
    if (sessionId === undefined || origin === undefined) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const { error, ...rest } = await readSession(origin, sessionId, controller.signal);
      if (controller.signal.aborted) return;
      // A service that does not answer now takes nothing back.
      setState(({ read }) => ({
        of: sessionId,
        read: { ...(error?.reason === 'unreachable' ? read : rest), error },
      }));
      if (!['paid', 'expired', 'failed'].includes(rest.status)) timer = setTimeout(ask, pollMs);
    };
    setState({ of: sessionId, read: nothingRead });
    void ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [origin, sessionId]);
  // The effect runs after a first rendering with another session.
  return state.of === sessionId ? state.read : nothingRead;
}

/** The part of the service's answer that is read: `GET /session/:sessionId` of the AI protocol, which needs no key. */
interface SessionAnswer {
  readonly code: number;
  readonly message: string;
  readonly data: {
    readonly status: string;
    readonly initiateTx: string;
    readonly sessionExpiresAt: number;
    readonly aiView: {
      readonly payment?: { readonly confirmations: number; readonly confirmationsWanted: number };
      readonly deposits?: readonly {
        readonly symbol: string;
        readonly decimals: number;
        readonly missingInToken: string;
      }[];
    };
  };
}

async function readSession(origin: string, sessionId: string, signal: AbortSignal): Promise<ReadPayment> {
  let answer: SessionAnswer;
  try {
    const path = `/aipay/api/v1/session/${encodeURIComponent(sessionId)}`;
    answer = (await (await fetch(origin + path, { signal })).json()) as SessionAnswer;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return { ...nothingRead, error: { reason: 'unreachable', message } };
  }
  const { code, message, data } = answer;
  if (code !== 0) {
    // Too many requests, or an outage, against a session that there is not.
    const reason = code === 100_201 ? 'session' : 'unreachable';
    return { ...nothingRead, status: reason === 'session' ? 'failed' : 'none', error: { reason, message } };
  }
  const { payment, deposits = [] } = data.aiView;
  const missing = deposits.find(({ missingInToken }) => missingInToken !== '0');
  return {
    status: statusOf(data),
    confirmations: payment?.confirmations ?? 0,
    needed: payment?.confirmationsWanted ?? 0,
    missingAmount: missing === undefined ? '' : `${amountOf(missing)} ${missing.symbol}`,
    expiresAt: new Date(data.sessionExpiresAt * 1_000),
    error: undefined,
  };
}

function statusOf({ status, initiateTx }: SessionAnswer['data']): ReadPayment['status'] {
  if (status === 'initialized') return initiateTx === '' ? 'open' : 'detected';
  return status === 'expired' || status === 'cancelled' ? 'expired' : 'paid';
}

/** Smallest units as a decimal text, with two places or more. */
function amountOf({ missingInToken, decimals }: { missingInToken: string; decimals: number }): string {
  const digits = missingInToken.padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const [whole, part] = [digits.slice(0, point), digits.slice(point)];
  return `${whole}.${part.replace(/0+$/, '').padEnd(2, '0')}`;
}
