import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { FlorinProvider, PayButton, usePayment } from './florin-react.ts';

/** The page of a shop in React, for apps/server/test/browser/embed.deep.test.ts. The bundler knows the service's origin. */
declare const SERVICE_ORIGIN: string;

function Buy() {
  const payment = usePayment();
  const createSession = async () => (await fetch('/buy', { method: 'POST' })).text();
  return createElement(
    'main',
    {},
    createElement(PayButton, { createSession, ...payment.listeners }, 'Buy tea'),
    createElement('output', {}, `${payment.status} ${payment.sessionId}`.trim()),
    payment.sessionId === '' ? null : createElement(Progress, { sessionId: payment.sessionId }),
  );
}

/** What the service says of the payment. */
function Progress({ sessionId }: { readonly sessionId: string }) {
  const { status, confirmations, needed, missingAmount, expiresAt, error } = usePayment(sessionId);
  const shown = {
    status,
    isDeep: needed > confirmations,
    missingAmount,
    isOpen: (expiresAt ?? 0) > new Date(),
    error,
  };
  return createElement('aside', {}, JSON.stringify(shown));
}

createRoot(document.body.appendChild(document.createElement('div'))).render(
  createElement(FlorinProvider, { origin: SERVICE_ORIGIN }, createElement(Buy)),
);
