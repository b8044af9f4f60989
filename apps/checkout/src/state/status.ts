import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import { fill, formatMoney, formatTime, formatToken, reasonOf } from '../checkout/format.ts';
import { backView } from '../checkout/head-view.ts';
import { isOpen } from '../checkout/model.ts';
import { h, type Tree } from '../checkout/tree.ts';
import { timeText } from '../checkout/way-view.ts';
import { depositView } from './deposit-view.ts';
import { againView } from './elsewhere-notice.ts';
import type { PageData, Reader } from './page-data.ts';
import { actView, receiptView } from './receipt-view.ts';

interface Shown {
  readonly title: string;
  readonly hint?: string;
  readonly kind: 'wait' | 'good' | 'bad';
  /** The payment is final, and the payer has not got it back. */
  readonly isPaid?: boolean;
  readonly isSafeToClose?: boolean;
  /** Nothing pays it any more. */
  readonly isExpired?: boolean;
}

/** The words for a session's state. */
export function wordsOf(data: Pick<PageData, 'texts' | 'linkUrl'>, state: CheckoutState, now: number): Shown {
  const { texts } = data;
  const isSeen = state.initiateTx !== '' || state.exceptions.some(({ outcome }) => outcome === 'accepted');
  const paid = { kind: 'good', isPaid: true, isSafeToClose: true } as const;
  if (state.isInDoubt === true) {
    return { title: texts.inDoubt, hint: texts.inDoubtHint, kind: 'wait', isSafeToClose: true };
  }
  // For every status, because the merchant has none of the money any more. The refunded amount is below.
  if (state.isRefunded) return { title: texts.refundedInFull, kind: 'good', isSafeToClose: true };
  switch (state.status) {
    case 'paid':
      return { title: texts.paid, hint: texts.paidHint, ...paid };
    case 'settling':
      return { title: texts.settling, ...paid };
    case 'settlement_pending':
      return { title: texts.settling, hint: texts.delayedHint, ...paid };
    case 'completed':
      return { title: texts.completed, ...paid };
    case 'expired':
      if (isSeen) break;
      return {
        title: texts.expired,
        isExpired: true,
        // Money that arrived is told below.
        hint: [
          state.exceptions.length === 0 ? texts.expiredHint : '',
          state.isSigned === true ? texts.expiredSent : '',
          data.linkUrl === '' ? texts.expiredAsk : '',
        ]
          .join(' ')
          .trim(),
        kind: 'bad',
      };
    case 'cancelled':
      return { title: texts.cancelled, hint: texts.cancelledHint, kind: 'bad' };
    case 'initialized':
      break;
  }
  if (isSeen) {
    return {
      title: texts.detected,
      kind: 'wait',
      isSafeToClose: true,
    };
  }
  if (state.expiresAt <= now) return { title: texts.timeOver, hint: texts.timeOverHint, kind: 'bad' };
  return { title: texts.waiting, kind: 'wait' };
}

/** The part of the page with the session's state. */
export function statusView(data: PageData, state: CheckoutState, reader: Reader): Tree {
  const { texts, locale } = data;
  const shown = wordsOf(data, state, reader.now);
  const isWaiting = isOpen(state, reader.now);
  const deposits = isWaiting ? depositsView(data, state, reader) : [];
  // The rest of the page says it all. Screen readers hear of it, and readers without scripts see it.
  const isSaid = deposits.length === 0 || state.shownDeposit !== undefined;
  const isQuiet = isWaiting && isSaid && state.exceptions.length === 0;
  // The deposit panel names the time and what it waits for.
  const isInPanel = isWaiting && state.shownDeposit !== undefined && state.exceptions.length > 0;
  // The headline says that it is paid, or what has arrived.
  const isInHeadline = isInPanel || shown.title === texts.paid || deposits.length > 0;
  const until = new Date(state.expiresAt * 1000).toISOString();
  const claimLink =
    (state.exceptions.length > 0 ||
      state.apart !== undefined ||
      (shown.isExpired === true && state.isSigned === true)) &&
    h(
      'p',
      { class: 'middle' },
      h('a', { href: `/checkout/${state.sessionId}/claim`, id: 'claim-link' }, texts.claimLink),
    );
  return [
    h(
      'div',
      {
        class: `status ${shown.kind}${isQuiet ? ' quiet' : ''}`,
        role: 'status',
        'data-status': state.status,
        id: 'status',
        // The script moves the focus here when what had it is gone.
        tabindex: '-1',
      },
      !isWaiting && emblemView(shown.kind),
      // The script knows whose payment it is.
      shown.isPaid === true && [
        h('h2', { id: 'you-paid' }, paidText(data, state, texts.youPaid)),
        h('h2', { id: 'other-paid' }, paidText(data, state, texts.otherPaid)),
      ],
      h('p', { class: isInHeadline ? 'hide' : 'state' }, shown.title),
      // A deposit panel beside it shows its own amounts: the style sheet hides these then.
      deposits.length > 0 && h('div', { class: 'arrived' }, deposits),
      state.exceptions.map((exception) =>
        h(
          'p',
          {},
          exceptionText(data, exception, reader),
          // Only the page with the secret shows it.
          exception.isUnproven && h('span', { class: 'owner' }, ` ${texts.notFromHere}`),
        ),
      ),
      // The payer's own money comes before the rule.
      (shown.hint ?? '') !== '' && h('p', {}, shown.hint),
      state.apart === undefined && claimLink,
      state.refunded !== '0' &&
        h('p', {}, fill(texts.refunded, { amount: formatMoney(locale, state.refunded) })),
      shown.isSafeToClose === true && h('p', { class: 'soft' }, `${texts.safeToClose} ${texts.keepAddress}`),
      // Each address has its own.
      isWaiting &&
        !isInPanel &&
        deposits.length === 0 &&
        h('p', {}, fill(texts.payUntil, { time: formatTime(locale, until, reader.timeZone) })),
    ),
    state.apart?.map((deposit) => apartView(data, deposit)),
    state.apart !== undefined && claimLink,
    progressView(data, state, shown.title),
    shown.isExpired === true &&
      data.linkUrl !== '' &&
      h('p', {}, h('a', { class: 'button', href: data.linkUrl }, texts.expiredLink)),
    successView(data, state),
    !isWaiting &&
      state.cancelUrl !== undefined &&
      h('p', {}, backView(texts, state.cancelUrl, { id: 'go-back', class: 'button quiet' })),
    receiptView(data, state, reader),
    depositView(data, state, reader),
  ];
}

/** A clock, an exclamation mark, or a check, which is drawn once: each is an element of its own. */
function emblemView(kind: Shown['kind']): Tree {
  const sign = { good: 'M15 27l8 8 15-17', bad: 'M26 14v15M26 36.5v.5', wait: 'M26 16v11l7 4' }[kind];
  return h(
    'svg',
    { class: 'emblem', id: `emblem-${kind}`, viewBox: '0 0 52 52', 'aria-hidden': 'true' },
    h('path', { d: 'M26 3a23 23 0 1 1 0 46 23 23 0 1 1 0-46' }),
    h('path', { class: 'sign', d: sign }),
  );
}

function paidText(
  { locale, merchant: present, options, amount }: PageData,
  { payment, receiptNames }: CheckoutState,
  text: string,
): string {
  const token = options.find(({ tokenId }) => tokenId === payment?.tokenId);
  const paid =
    payment === undefined || token === undefined
      ? formatMoney(locale, amount)
      : formatToken(locale, token, payment.amountInToken);
  // A page that was open before the payment may know other names.
  return fill(text, { amount: paid, merchant: receiptNames?.merchant ?? present });
}

/** What has arrived at deposit addresses, and what is missing, on which network and until when. */
function depositsView(
  { texts, locale, options }: PageData,
  state: CheckoutState,
  reader: Reader,
): readonly Tree[] {
  return state.deposits
    .filter(({ payUntil }) => payUntil > reader.now)
    .map((deposit) => {
      const { tokenId, amountInToken, missingInToken, payUntil, addressEnd } = deposit;
      const network = options.find((option) => option.tokenId === tokenId)?.chainTitle;
      const amount = (units: string) => formatToken(locale, deposit, units);
      const until = new Date(payUntil * 1000).toISOString();
      const has = amount(amountInToken);
      // The service collects it next.
      if (missingInToken === '0') return h('p', { class: 'state' }, fill(texts.wholeElsewhere, { has }));
      return [
        h('p', { class: 'state' }, fill(texts.partial, { has, rest: amount(missingInToken) })),
        h('p', {}, fill(texts.addressEnds, { end: addressEnd })),
        network !== undefined && h('p', {}, fill(texts.onNetwork, { network })),
        h('p', {}, fill(texts.payUntil, { time: formatTime(locale, until, reader.timeZone) })),
        againView(texts, deposit),
        h('p', {}, fill(texts.orPayElse, { has })),
      ];
    });
}

/** What has arrived at an address of another page. Nothing asks for more money here, because it may be a stranger's. */
function apartView({ texts, locale }: PageData, deposit: NonNullable<CheckoutState['apart']>[number]): Tree {
  const has = formatToken(locale, deposit, deposit.amountInToken);
  return h(
    'p',
    { class: 'loud', role: 'status' },
    fill(texts.arrivedApart, { has, end: deposit.addressEnd }),
  );
}

/** The outcome of money that arrived and paid nothing. */
function exceptionText(
  { texts, locale }: PageData,
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
    accepted: texts.lateAccepted,
    closed: texts.closed,
    back: texts.wentBack,
  }[exception.outcome];
  return fill(text, { amount, why, time: formatTime(locale, until, timeZone) });
}

/** How far a seen payment is from final, and about how long that takes on its network. */
function progressView(data: PageData, { payment, status, isInDoubt }: CheckoutState, label: string): Tree {
  if (payment === undefined || status !== 'initialized' || isInDoubt === true) return undefined;
  const [value, max] = [String(payment.confirmations), String(payment.confirmationsWanted)];
  const option = data.options.find(({ tokenId }) => tokenId === payment.tokenId);
  const facts = option === undefined ? [] : [option.chainTitle, timeText({ data }, option)];
  // Outside of the live region: a screen reader must not speak every block.
  return h(
    'div',
    { class: 'status' },
    h('progress', { 'aria-label': label, value, max }),
    h('p', {}, fill(data.texts.detectedHint, { count: value, wanted: max })),
    h('p', { class: 'soft small' }, facts.filter((fact) => fact !== '').join(' · ')),
  );
}

function successView({ texts }: PageData, { successText, successUrl, returnsAlone }: CheckoutState): Tree {
  const host = successUrl === undefined ? '' : new URL(successUrl).host;
  return [
    successText !== undefined && h('p', { class: 'success', dir: 'auto' }, successText),
    successUrl !== undefined &&
      h(
        'p',
        {},
        h(
          'a',
          { class: 'button', id: 'continue', href: successUrl, rel: 'noreferrer' },
          fill(texts.continueTo, { host }),
        ),
      ),
    // The script shows it, and leads there.
    returnsAlone === true &&
      h(
        'p',
        { class: 'leave middle', role: 'status' },
        fill(texts.returnsAlone, { host }),
        actView('stay', { class: 'plain' }, texts.stay),
      ),
  ];
}
