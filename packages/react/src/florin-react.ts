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
  /** `not_listed`: the merchant's `embedOrigins` do not have the page's origin. `session`: there is no page to pay. */
  readonly reason: 'not_listed' | 'session';
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
  return createElement(Origin.Provider, { value: new URL(origin).origin }, children);
}

type ServiceElement = HTMLElement & { createSession?: (() => Promise<string>) | undefined };

/** Loads the elements once in a page, and calls the latest listeners. */
function useServiceElement(listeners: PaymentListeners) {
  const origin = useContext(Origin);
  if (origin === undefined) throw new Error('put <FlorinProvider origin="https://…"> around the component');
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

export interface PayButtonProps extends PaymentListeners {
  /** The id of a payment link. */
  readonly link?: string | undefined;
  /** `paymentUrl` of a session, in place of a link. */
  readonly paymentUrl?: string | undefined;
  /** Asks your server for a session when the button is pressed, and returns its `paymentUrl`. */
  readonly createSession?: (() => Promise<string>) | undefined;
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

/** A payment as the page has heard of it. */
export interface ShownPayment {
  /** `none` before anything is heard. `closed`: the payer closed the window and had not paid. */
  readonly status: 'none' | 'detected' | 'paid' | 'expired' | 'closed' | 'failed';
  /** Empty before anything is heard. */
  readonly sessionId: string;
  readonly error: PaymentFailure | undefined;
  /** For the component: `<PayButton {...payment.listeners} />`. */
  readonly listeners: Required<PaymentListeners>;
}

type Heard = Omit<ShownPayment, 'listeners'>;

/** Follows the payment of one component. */
export function usePayment(): ShownPayment {
  const [heard, setHeard] = useState<Heard>({ status: 'none', sessionId: '', error: undefined });
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
  return { ...heard, listeners };
}
