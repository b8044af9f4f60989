import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElement, type ReactElement, useState } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Checkout, FlorinProvider, PayButton, usePayment } from './florin-react.ts';

const origin = 'https://pay.example';
const html = (element: ReactElement) =>
  renderToStaticMarkup(createElement(FlorinProvider, { origin }, element));

const createSession = async () => `${origin}/checkout/sess_1#code`;

/** The compiler checks that a button pays one thing. */
export const buttons = [
  createElement(PayButton, { link: 'lnk_1' }),
  createElement(PayButton, { paymentUrl: origin }),
  createElement(PayButton, { createSession }),
  // @ts-expect-error it would pay nothing
  createElement(PayButton, { mode: 'redirect' }),
  // @ts-expect-error it would not be clear what it pays
  createElement(PayButton, { link: 'lnk_1', paymentUrl: origin }),
  // @ts-expect-error nor here
  createElement(PayButton, { link: 'lnk_1', paymentUrl: origin, createSession }),
];

// apps/server/test/browser/embed.deep.test.ts has them in a browser.
test('a server renders the elements, which the browser brings to life', () => {
  const paymentUrl = `${origin}/checkout/sess_1#code`;
  assert.equal(
    html(createElement(PayButton, { link: 'lnk_1', mode: 'redirect', disabled: false }, 'Buy')),
    '<florin-button link="lnk_1" mode="redirect">Buy</florin-button>',
  );
  assert.equal(
    html(createElement(PayButton, { createSession, merchant: 'mer_1', disabled: true, className: 'big' })),
    '<florin-button merchant="mer_1" disabled="" class="big"></florin-button>',
  );
  assert.equal(
    html(createElement(Checkout, { paymentUrl, lang: 'de' })),
    `<florin-checkout payment-url="${paymentUrl}" lang="de"></florin-checkout>`,
  );
});

const Shown = () => createElement('p', {}, JSON.stringify(usePayment()));

test('a payment begins with no news', () => {
  assert.equal(
    renderToStaticMarkup(createElement(Shown)).replaceAll('&quot;', '"'),
    '<p>{"status":"none","confirmations":0,"needed":0,"missingAmount":"","sessionId":"","listeners":{}}</p>',
  );
});

/** The payment of `sess_1` after news of the named session. */
function Told({ of }: { readonly of: string }) {
  const { status, error, listeners } = usePayment('sess_1');
  const [isTold, setTold] = useState(false);
  if (!isTold) {
    setTold(true);
    listeners.onPaid?.({ sessionId: of, status: 'paid' });
  }
  return createElement('p', {}, `${status}${error?.message ?? ''}`);
}

test('news of another session say nothing of the one that is followed', () => {
  assert.equal(html(createElement(Told, { of: 'sess_1' })), '<p>paid</p>');
  assert.equal(html(createElement(Told, { of: 'sess_2' })), '<p>none</p>');
});

const Followed = () => createElement('p', {}, usePayment('sess_1').status);

test('a provider with no address says what one is', () => {
  const page = createElement(FlorinProvider, { origin: 'pay.example' });
  assert.throws(
    () => renderToStaticMarkup(page),
    /^Error: origin of FlorinProvider is such as https:\/\/pay\.example\.com, not "pay\.example"$/,
  );
});

test('a component without a provider says what is missing', () => {
  const missing = /put <FlorinProvider origin="https:\/\/…"> around the component/;
  assert.throws(() => renderToStaticMarkup(createElement(Checkout, { paymentUrl: origin })), missing);
  assert.throws(() => renderToStaticMarkup(createElement(Followed)), missing);
});
