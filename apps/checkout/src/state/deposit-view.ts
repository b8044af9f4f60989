import type { CheckoutOption, CheckoutState, ShownDeposit } from '@florin/protocol/checkout-state.ts';
import { fill, formatTime, formatToken, toDecimal } from '../checkout/format.ts';
import { iconView, markView } from '../checkout/mark.ts';
import { tabsView } from '../checkout/tabs.ts';
import { h, type Tree } from '../checkout/tree.ts';
import { timeText } from '../checkout/way-view.ts';
import { elsewhereNotice } from './elsewhere-notice.ts';
import type { PageData, Reader } from './page-data.ts';
import { actView } from './receipt-view.ts';

/**
 * Where to send: network, amount and address, each separately, and as QR codes. It is a part of the session's state, so
 * that every device of the payer shows the same.
 */
export function depositView(data: PageData, state: CheckoutState, reader: Reader): Tree {
  const { texts, locale } = data;
  const { shownDeposit: deposit } = state;
  const option = data.options.find(({ tokenId }) => tokenId === deposit?.tokenId);
  if (deposit === undefined || option === undefined) return undefined;
  const arrived = arrivedAt(deposit, state);
  const lacking = lackingOf(deposit, arrived);
  const isPart = lacking !== BigInt(deposit.amountInToken);
  const amount = (units: bigint) => formatToken(locale, option, units.toString());
  const time = timeText({ data }, option);
  return h(
    'section',
    { id: 'deposit', class: 'deposit', 'aria-labelledby': 'deposit-title', tabindex: '-1' },
    elsewhereNotice(data, deposit, state),
    // What arrives changes the heading: screen readers hear of it.
    h(
      'div',
      { role: 'status' },
      h(
        'h2',
        { id: 'deposit-title' },
        isPart
          ? fill(texts.partial, { has: amount(arrived), rest: amount(lacking) })
          : fill(texts.sendExactly, { amount: amount(lacking) }),
      ),
    ),
    h('p', { class: 'loud' }, fill(texts.onNetwork, { network: option.chainTitle })),
    h('p', { class: 'soft small' }, texts.toAddress),
    h('p', { class: 'address', id: 'deposit-address', dir: 'ltr' }, deposit.address),
    h(
      'p',
      { class: 'actions' },
      copyButton(data, { id: 'copy-address', text: deposit.address, label: texts.copyAddress }),
      copyButton(data, {
        ...{ id: 'copy-amount', text: toDecimal(lacking, option.decimals), label: texts.copyAmount },
      }),
    ),
    // A phone cannot scan what it shows itself.
    codesView(data, { deposit, option, sessionId: state.sessionId }, lacking),
    h(
      'p',
      { class: 'small' },
      // Money that came in parts was not sent once.
      !isPart && `${texts.sendOnce} `,
      withAddress(texts.sendFee, deposit.refundTo),
    ),
    termsView(data, { deposit, option, timeZone: reader.timeZone }),
    h(
      'p',
      { class: 'step', role: 'status' },
      h('span', { class: 'spinner', 'aria-hidden': 'true' }),
      // Without its script the page follows nothing. The style sheet chooses.
      h('span', { class: 'follows' }, texts.depositWaiting),
      h('span', { class: 'unfollowed' }, texts.waiting),
    ),
    time !== '' && h('p', { class: 'soft small' }, `${option.chainTitle} · ${time}`),
    actView('hide', { class: 'plain', id: 'hide-deposit' }, texts.anotherWay),
  );
}

/** A text with a short address in its place, on one line. */
function withAddress(text: string, address: string): Tree {
  const [before, after] = text.split('{address}');
  return [before, h('bdi', { class: 'near' }, address), after];
}

/** Its texts and its sign change once it has copied. */
function copyButton(
  { texts }: PageData,
  { id, text, label }: { readonly id: string; readonly text: string; readonly label: string },
): Tree {
  return actView(
    'copy',
    { class: 'quiet', id, 'data-text': text },
    h('span', { class: 'row' }, iconView('copy'), label),
    h('span', { class: 'row' }, iconView('check'), texts.copied),
  );
}

/** The address as a code; for wallets also with network and amount, while that is the whole amount. The style sheet chooses. */
function codesView(
  { texts, drawings }: PageData,
  {
    deposit,
    option,
    sessionId,
  }: { readonly deposit: ShownDeposit; readonly option: CheckoutOption; readonly sessionId: string },
  lacking: bigint,
): Tree {
  const isWhole = lacking === BigInt(deposit.amountInToken);
  const codeOf = (kind: 'address' | 'wallet', alt: string) => {
    const src = `/checkout/${sessionId}/${deposit.orderId}/${kind}.svg`;
    return h('img', { class: `${kind}-code`, src, alt, width: '240', height: '240' });
  };
  return h(
    'div',
    { class: 'codes' },
    isWhole &&
      tabsView(
        { address: texts.codeAddress, wallet: texts.byWallet },
        { name: 'code', legend: texts.chooseCode, chosen: 'address' as 'address' | 'wallet' },
      ),
    h(
      'div',
      { class: 'code' },
      codeOf('address', texts.qrAddress),
      isWhole && codeOf('wallet', texts.qrWallet),
      markView(drawings, option),
    ),
    isWhole &&
      h(
        'a',
        { class: 'button quiet wallet-code', id: 'open-wallet', href: deposit.transferUri },
        texts.openWallet,
      ),
  );
}

/** Until when a transfer pays, and which smaller or later ones also count. */
function termsView(
  { texts, locale }: PageData,
  {
    deposit,
    option,
    timeZone,
  }: { readonly deposit: ShownDeposit; readonly option: CheckoutOption; readonly timeZone: string },
): Tree {
  const { payUntil, leastInToken, lateUntil } = deposit;
  const time = (seconds: number) => formatTime(locale, new Date(seconds * 1_000).toISOString(), timeZone);
  return [
    h('p', { class: 'soft', id: 'pay-until' }, fill(texts.payUntil, { time: time(payUntil) })),
    leastInToken !== undefined &&
      h('p', { id: 'least' }, fill(texts.leastPays, { least: formatToken(locale, option, leastInToken) })),
    lateUntil !== undefined && h('p', { class: 'soft' }, fill(texts.latePays, { time: time(lateUntil) })),
  ];
}

/** What has arrived at the address. */
function arrivedAt({ tokenId, address }: ShownDeposit, { deposits }: CheckoutState): bigint {
  const own = deposits.find((each) => each.tokenId === tokenId && address.endsWith(each.addressEnd));
  return BigInt(own?.amountInToken ?? '0');
}

/**
 * The amount still to send. It is the whole amount before any arrival, and again after everything has arrived, until
 * the service collects the payment.
 */
function lackingOf({ amountInToken }: ShownDeposit, arrived: bigint): bigint {
  const rest = BigInt(amountInToken) - arrived;
  return rest > 0n ? rest : BigInt(amountInToken);
}
