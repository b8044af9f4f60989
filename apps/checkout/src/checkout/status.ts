import type { CheckoutState } from '@florin/protocol/checkout-api.ts';
import type { CheckoutData } from './data.ts';
import { fill, formatMoney, formatSpan, formatTime, formatToken, reasonOf } from './format.ts';
import { h, type Tree } from './tree.ts';

/** The reader's values that the server does not know. */
export interface Reader {
  /** Unix seconds. */
  readonly now: number;
  /** IANA name; undefined: the device's own. */
  readonly timeZone?: string;
  /** True beside the panel of a deposit address, which shows its own amounts. */
  readonly hasPanel?: boolean;
  /** Only in the browser. */
  readonly print?: () => void;
  /** Only in the browser that holds the session's secret. */
  readonly download?: () => void;
}

interface Shown {
  readonly title: string;
  readonly hint?: string;
  readonly kind: 'wait' | 'good' | 'bad';
  readonly isSafeToClose?: boolean;
}

/** Outcomes after which the service moves no more money. */
const ended: ReadonlySet<CheckoutState['exceptions'][number]['outcome']> = new Set([
  'by_hand',
  'taken',
  'closed',
  'back',
]);

/** Whether a session changes no more except by the operator: none of its money is under way. */
export function isAtEnd({ status, exceptions }: Pick<CheckoutState, 'status' | 'exceptions'>): boolean {
  return (
    ['completed', 'expired', 'cancelled'].includes(status) &&
    exceptions.every(({ outcome }) => ended.has(outcome))
  );
}

/** The words for a session's state. */
export function wordsOf({ texts }: Pick<CheckoutData, 'texts'>, state: CheckoutState, now: number): Shown {
  const { payment } = state;
  // For every status, because the merchant has none of the money any more. The refunded amount is below.
  if (state.isRefunded) return { title: texts.refundedInFull, kind: 'good', isSafeToClose: true };
  switch (state.status) {
    case 'paid':
      return { title: texts.paid, hint: texts.paidHint, kind: 'good', isSafeToClose: true };
    case 'settling':
      return { title: texts.settling, kind: 'good', isSafeToClose: true };
    case 'settlement_pending':
      return { title: texts.settling, hint: texts.delayedHint, kind: 'good', isSafeToClose: true };
    case 'completed':
      return { title: texts.completed, hint: texts.completedHint, kind: 'good', isSafeToClose: true };
    case 'expired':
      // An accepted late deposit has been seen.
      if (state.initiateTx !== '') break;
      return { title: texts.expired, hint: texts.expiredHint, kind: 'bad' };
    case 'cancelled':
      return { title: texts.cancelled, hint: texts.cancelledHint, kind: 'bad' };
    case 'initialized':
      break;
  }
  if (state.initiateTx !== '') {
    const counts = {
      count: String(payment?.confirmations ?? 1),
      wanted: String(payment?.confirmationsWanted ?? 1),
    };
    return {
      title: texts.detected,
      hint: fill(texts.detectedHint, counts),
      kind: 'wait',
      isSafeToClose: true,
    };
  }
  if (state.expiresAt <= now) return { title: texts.timeOver, hint: texts.timeOverHint, kind: 'bad' };
  return { title: texts.waiting, kind: 'wait' };
}

/** The part of the page with the session's state. */
export function statusView(data: CheckoutData, state: CheckoutState, reader: Reader): Tree {
  const { texts, locale } = data;
  const shown = wordsOf(data, state, reader.now);
  const isOpen = state.status === 'initialized' && state.initiateTx === '' && state.expiresAt > reader.now;
  return [
    h(
      'div',
      { class: `status ${shown.kind}`, role: 'status', 'data-status': state.status, id: 'status' },
      h('p', { class: 'state' }, shown.title),
      shown.hint !== undefined && h('p', {}, shown.hint),
      isOpen && reader.hasPanel !== true && depositsView(data, state, reader),
      state.exceptions.map((exception) => h('p', {}, exceptionText(data, exception, reader))),
      state.refunded !== '0' &&
        h('p', {}, fill(texts.refunded, { amount: formatMoney(locale, state.refunded) })),
      shown.isSafeToClose === true && h('p', { class: 'soft' }, `${texts.safeToClose} ${texts.keepAddress}`),
    ),
    state.exceptions.length > 0 &&
      h('p', {}, h('a', { href: `/checkout/${state.sessionId}/claim`, id: 'claim-link' }, texts.claimLink)),
    isOpen && timeView(data, state, reader),
    progressView(state, shown.title),
    state.status === 'expired' &&
      data.linkUrl !== '' &&
      h('p', {}, h('a', { class: 'button', href: data.linkUrl }, texts.expiredLink)),
    successView(data, state),
    receiptView(data, state, reader),
  ];
}

/** What has arrived at deposit addresses, and what is missing, on which network and until when. */
function depositsView({ texts, locale, options }: CheckoutData, state: CheckoutState, reader: Reader): Tree {
  return state.deposits
    .filter(({ missingInToken, payUntil }) => missingInToken !== '0' && payUntil > reader.now)
    .map((deposit) => {
      const { tokenId, amountInToken, missingInToken, payUntil, addressEnd } = deposit;
      const network = options.find((option) => option.tokenId === tokenId)?.chainTitle;
      const amount = (units: string) => formatToken(locale, deposit, units);
      const until = new Date(payUntil * 1000).toISOString();
      return [
        h('p', {}, fill(texts.partial, { has: amount(amountInToken), rest: amount(missingInToken) })),
        h('p', {}, fill(texts.addressEnds, { end: addressEnd })),
        network !== undefined && h('p', {}, fill(texts.onNetwork, { network })),
        h('p', {}, fill(texts.payUntil, { time: formatTime(locale, until, reader.timeZone) })),
      ];
    });
}

/**
 * What has already arrived at other addresses of the session, such as one that the payer's other device shows, and what
 * is to be sent now: the rest there, or the whole amount here.
 */
export function elsewhereNotice(
  { texts, locale, options, state }: CheckoutData,
  { address, tokenId, amountInToken }: { address: string; tokenId: string; amountInToken: string },
): Tree {
  const own = options.find((option) => option.tokenId === tokenId);
  const others = (state?.deposits ?? []).filter(
    (deposit) => deposit.tokenId !== tokenId || !address.endsWith(deposit.addressEnd),
  );
  return others.map((deposit) => {
    const amount = (units: string) => formatToken(locale, deposit, units);
    const has = amount(deposit.amountInToken);
    const network = options.find((option) => option.tokenId === deposit.tokenId)?.chainTitle;
    if (deposit.missingInToken === '0')
      return h('p', { class: 'loud elsewhere', role: 'status' }, fill(texts.wholeElsewhere, { has }));
    const rest = amount(deposit.missingInToken);
    return h(
      'div',
      { class: 'elsewhere', role: 'status' },
      h('p', { class: 'loud' }, fill(texts.arrivedElsewhere, { has, rest, end: deposit.addressEnd })),
      deposit.tokenId !== tokenId && network !== undefined && h('p', {}, fill(texts.onNetwork, { network })),
      own !== undefined &&
        h('p', {}, fill(texts.orSendAll, { has, all: formatToken(locale, own, amountInToken) })),
    );
  });
}

/** The outcome of money that arrived and paid nothing. */
function exceptionText(
  { texts, locale }: CheckoutData,
  exception: CheckoutState['exceptions'][number],
  { timeZone }: Reader,
): string {
  const why = reasonOf(texts, exception.kind);
  const amount = formatToken(locale, exception, exception.amount);
  const until = new Date(exception.heldUntil * 1000).toISOString();
  const text = {
    goes: texts.goesBack,
    by_hand: texts.byHand,
    waits: texts.heldBack,
    waits_by_hand: texts.heldByHand,
    goes_later: texts.goesLater,
    second: texts.secondPaid,
    taken: texts.takenTwice,
    closed: texts.closed,
    back: texts.wentBack,
  }[exception.outcome];
  return fill(text, { amount, why, time: formatTime(locale, until, timeZone) });
}

/** Outside of the live region: a screen reader must not speak the clock every second. */
function timeView({ texts, locale }: CheckoutData, state: CheckoutState, reader: Reader): Tree {
  const until = new Date(state.expiresAt * 1000).toISOString();
  const isClock = reader.timeZone === undefined;
  const text = isClock
    ? fill(texts.timeLeft, { time: formatSpan(Math.max(0, state.expiresAt - reader.now)) })
    : fill(texts.payUntil, { time: formatTime(locale, until, reader.timeZone) });
  return h('p', { class: 'soft', id: 'time' }, h('time', { datetime: until }, text));
}

function progressView({ payment, status }: CheckoutState, label: string): Tree {
  if (payment === undefined || status !== 'initialized') return undefined;
  const [value, max] = [String(payment.confirmations), String(payment.confirmationsWanted)];
  return h('progress', { 'aria-label': label, value, max });
}

function successView({ texts }: CheckoutData, { successText, successUrl }: CheckoutState): Tree {
  return [
    successText !== undefined && h('p', { class: 'success', dir: 'auto' }, successText),
    successUrl !== undefined &&
      h(
        'p',
        {},
        h(
          'a',
          { class: 'button', id: 'continue', href: successUrl, rel: 'noreferrer' },
          fill(texts.continueTo, { host: new URL(successUrl).host }),
        ),
      ),
  ];
}

function receiptView(data: CheckoutData, state: CheckoutState, reader: Reader): Tree {
  const { texts, locale } = data;
  if (state.paidAt === '' && state.initiateTx === '') return undefined;
  const row = (name: string, value: Tree) =>
    value !== undefined && value !== '' && [h('dt', {}, name), h('dd', {}, value)];
  const time = (iso: string) =>
    iso === '' ? '' : h('time', { datetime: iso }, formatTime(locale, iso, reader.timeZone));
  const option = data.options.find(({ tokenId }) => tokenId === state.payment?.tokenId);
  const target = data.options.find(({ tokenId }) => tokenId === data.settlementToken);
  return h(
    'section',
    { class: 'receipt', 'aria-labelledby': 'receipt-title' },
    h('h2', { id: 'receipt-title' }, texts.receipt),
    h(
      'dl',
      {},
      row(texts.paidOn, time(state.paidAt)),
      row(texts.received, time(state.settledAt)),
      row(texts.network, option?.chainTitle),
      row(texts.paymentTx, txView(state.initiateTx, option?.network?.explorer)),
      row(texts.settlementTx, txView(state.completeTx, target?.network?.explorer)),
    ),
    state.paidAt !== '' &&
      h(
        'p',
        { class: 'actions' },
        reader.print !== undefined &&
          h('button', { type: 'button', id: 'print', class: 'quiet', click: reader.print }, texts.print),
        reader.download !== undefined &&
          h(
            'button',
            { type: 'button', id: 'download', class: 'quiet', click: reader.download },
            texts.download,
          ),
      ),
    reader.download !== undefined &&
      state.paidAt !== '' &&
      h('p', { class: 'soft small' }, texts.downloadHint),
  );
}

function txView(hash: string, explorer: string | undefined): Tree {
  if (hash === '') return undefined;
  const text = h('bdi', { class: 'hash' }, hash);
  if (explorer === undefined || explorer === '') return text;
  return h('a', { href: `${explorer}/tx/${hash}`, rel: 'noreferrer', target: '_blank' }, text);
}
