import type { Claim } from '@florin/protocol/checkout-order.ts';
import { fill, formatMoney, formatTime, formatToken, reasonOf, shorten } from '../checkout/format.ts';
import { explorerLink } from '../checkout/mark.ts';
import { h, type Tree } from '../checkout/tree.ts';
import {
  type ArrivedMoney,
  type ClaimData,
  type ClaimedMoney,
  type ClaimPlace,
  coinAddress,
} from './data.ts';

/** The browser's part of the page: wallets, and the requested order. */
export interface ClaimReader {
  readonly wallets: readonly { readonly id: string; readonly name: string }[];
  /** The token chosen at each address, by order. */
  readonly chosen: Readonly<Record<string, string>>;
  /** The requested order, and the answer. */
  readonly asked: string;
  readonly claim: Claim | undefined;
  readonly isBusy: boolean;
  /** A wallet was asked and has not answered. It can be asked again, and so can another. */
  readonly isAsking: boolean;
  readonly problem: string;
  /** Why the addresses are still shortened, in words; empty when they are as asked for. */
  readonly readProblem: string;
  /** The order whose money is being returned. */
  readonly sentFor: string;
  /** Called when the choice of the sent token changes. */
  readonly choose: (orderId: string) => void;
  readonly look: (orderId: string, token: string, purpose: 'rescue' | 'reclaim') => void;
  readonly send: (walletId: string) => void;
}

/** The choice of a token by its contract address. */
export const otherToken = 'other';

/** The page: without scripts the facts, with scripts also the actions. */
export function claimView(data: ClaimData, timeZone: string | undefined, reader?: ClaimReader): Tree {
  const { words, places, sessionId, query } = data;
  const view = (place: ClaimPlace) => placeView(data, place, timeZone, reader);
  const own = places.filter(({ isUnproven }) => !isUnproven);
  const others = own.length === 0 ? [] : places.filter(({ isUnproven }) => isUnproven);
  return [
    h(
      'div',
      { class: 'card' },
      h('h1', {}, words.title),
      h(
        'p',
        { class: 'sum' },
        h('bdi', {}, data.title),
        h('a', { href: `/checkout/${sessionId}${query}`, id: 'to-payment' }, words.toPayment),
      ),
      data.isInDoubt && h('p', {}, data.texts.inDoubtElsewhere),
      places.length === 0 && h('p', { id: 'nothing' }, words.nothing),
      reader !== undefined &&
        reader.readProblem !== '' &&
        h('p', { class: 'problem', role: 'status', id: 'read-problem' }, reader.readProblem),
    ),
    (others.length === 0 ? places : own).map(view),
    others.length > 0 &&
      h(
        'details',
        { id: 'others', open: others.some(({ money }) => money.length > 0) },
        h('summary', {}, fill(words.others, { count: String(others.length) })),
        others.map(view),
      ),
    reclaimView(data, timeZone, reader),
    // The rules come after what the reader can do.
    places.length > 0 &&
      h('div', { class: 'card soft small' }, h('p', {}, words.intro), h('p', {}, smallText(data))),
  ];
}

function placeView(
  data: ClaimData,
  place: ClaimPlace,
  timeZone: string | undefined,
  reader: ClaimReader | undefined,
): Tree {
  const { words } = data;
  const titleId = `place-${place.orderId}`;
  return h(
    'section',
    { class: 'card', 'aria-labelledby': titleId },
    h('h2', { id: titleId }, fill(words.place, { network: place.chainTitle })),
    place.arrived !== undefined &&
      h('p', {}, arrivedText(data, { ...place, arrived: place.arrived }, timeZone)),
    place.money.length > 0 &&
      h(
        'ul',
        {},
        place.money.map((money) =>
          h('li', {}, moneyText(data, money, timeZone), returnView(data, place, money)),
        ),
      ),
    h('p', { class: 'address', dir: 'ltr' }, place.address),
    h('p', { class: 'soft' }, words.goesTo),
    h('p', { class: 'address', dir: 'ltr' }, place.refundAddress),
    reader !== undefined && [
      askView(data, place, reader),
      answerView(data, place.orderId, place.chainTitle, timeZone, reader),
    ],
  );
}

/** The minimum below which money does not go back by itself. */
function smallText({ words, locale, least }: ClaimData): string {
  return least === undefined ? words.allByHand : fill(words.small, { least: formatMoney(locale, least) });
}

function moneyText(
  { locale, words, texts }: ClaimData,
  money: ClaimedMoney,
  timeZone: string | undefined,
): string {
  const why = reasonOf(texts, money.kind);
  const amount = formatToken(locale, money, money.amount);
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
    accepted: words.accepted,
  }[money.outcome];
  return fill(text, { amount, why, time: timeOf(locale, money.until, timeZone) });
}

/**
 * What has arrived while the session waits for its payment, and what becomes of it. Nothing asks for the rest at an address
 * that may be a stranger's.
 */
function arrivedText(
  { locale, words }: ClaimData,
  { arrived, isUnproven }: Pick<ClaimPlace, 'isUnproven'> & { readonly arrived: ArrivedMoney },
  timeZone: string | undefined,
): string {
  const { amount, missing, payUntil, outcome, until } = arrived;
  const has = fill(words.arrived, { amount: formatToken(locale, arrived, amount) });
  if (missing === '0') return `${has} ${words.countsEnough}`;
  const counts = fill(isUnproven ? words.countsApart : words.counts, {
    rest: formatToken(locale, arrived, missing),
    time: timeOf(locale, payUntil, timeZone),
  });
  const otherwise =
    { by_hand: words.elseByHand, waits: words.elseWaits, waits_by_hand: words.elseHeld }[String(outcome)] ??
    words.elseGoes;
  return `${has} ${counts} ${fill(otherwise, { time: timeOf(locale, until, timeZone) })}`;
}

/** The transaction that gave money back: short on screens, whole on paper. */
function returnView({ texts }: ClaimData, { network }: ClaimPlace, { tx }: ClaimedMoney): Tree {
  if (tx === undefined) return undefined;
  const explorer = network?.explorer ?? '';
  return h(
    'p',
    { class: 'code-line' },
    h('span', { class: 'soft' }, texts.returnTx),
    h('bdi', { class: 'hash', title: tx }, shorten(tx)),
    h('bdi', { class: 'hash whole' }, tx),
    explorer !== '' && explorerLink(`${explorer}/tx/${tx}`, `${texts.explorer}: ${texts.returnTx}`),
  );
}

function timeOf(locale: string, seconds: number, timeZone: string | undefined): string {
  // On one line.
  return formatTime(locale, new Date(seconds * 1000).toISOString(), timeZone).replaceAll(' ', '\u00a0');
}

function askView({ words }: ClaimData, place: ClaimPlace, reader: ClaimReader): Tree {
  const { orderId, tokens } = place;
  const chosen = reader.chosen[orderId] ?? tokens[0]?.address ?? coinAddress;
  const option = (value: string, name: string) => h('option', { value, selected: value === chosen }, name);
  const contractId = `contract-${orderId}`;
  return h(
    'div',
    {},
    h(
      'p',
      { class: 'field' },
      h('label', { for: `token-${orderId}` }, words.token),
      h(
        'select',
        {
          id: `token-${orderId}`,
          disabled: reader.isBusy,
          change: () => reader.choose(orderId),
        },
        tokens.map(({ symbol, address }) => option(address, symbol)),
        option(coinAddress, words.coin),
        option(otherToken, words.other),
      ),
    ),
    chosen === otherToken &&
      h(
        'p',
        { class: 'field' },
        h('label', { for: contractId }, words.contract),
        h('input', { id: contractId, autocomplete: 'off', spellcheck: 'false', maxlength: '42', dir: 'ltr' }),
      ),
    h(
      'button',
      {
        type: 'button',
        // Once something can be sent back, that is the act.
        class: reader.asked === orderId && 'quiet',
        id: `look-${orderId}`,
        disabled: reader.isBusy,
        click: () => reader.look(orderId, chosen, 'rescue'),
      },
      words.look,
    ),
  );
}

/** The answer, and the wallets that can send it back. */
function answerView(
  { locale, words, texts }: ClaimData,
  orderId: string,
  network: string,
  timeZone: string | undefined,
  reader: ClaimReader,
): Tree {
  const { asked, claim, wallets, isBusy, isAsking, problem, sentFor } = reader;
  if (asked !== orderId) return undefined;
  const isThere = claim !== undefined && claim.amount !== '0';
  const isPossible = claim?.txRequest !== undefined;
  const isOffered = isThere && isPossible && sentFor !== orderId;
  return h(
    'div',
    { role: 'status', id: `answer-${orderId}` },
    claim !== undefined &&
      h(
        'p',
        {},
        isThere ? fill(words.lies, { amount: formatToken(locale, claim, claim.amount) }) : words.empty,
      ),
    isThere && !isPossible && h('p', {}, fill(words.later, { time: timeOf(locale, claim.after, timeZone) })),
    isOffered && [
      h('p', { class: 'soft' }, words.walletHint),
      wallets.length === 0 && h('p', {}, texts.noWallet),
      h(
        'div',
        { class: 'wallets' },
        wallets.map((wallet) =>
          h(
            'button',
            {
              type: 'button',
              id: `send-${wallet.id}`,
              disabled: isBusy,
              click: () => reader.send(wallet.id),
            },
            fill(words.sendBack, { wallet: wallet.name }),
          ),
        ),
      ),
    ],
    isAsking && h('p', { class: 'step' }, words.confirm),
    sentFor === orderId && h('p', { class: 'step' }, fill(words.sent, { network })),
    problem !== '' && h('p', { class: 'problem' }, problem),
  );
}

function reclaimView(data: ClaimData, timeZone: string | undefined, reader: ClaimReader | undefined): Tree {
  const { reclaimable, words, locale } = data;
  if (reclaimable === undefined) return undefined;
  const { orderId, payer, from, token, chainTitle } = reclaimable;
  const values = { time: timeOf(locale, from, timeZone), address: payer };
  // The same order's deposit address may show its own answer.
  const key = `reclaim ${orderId}`;
  return h(
    'section',
    { class: 'card', id: 'reclaim', 'aria-labelledby': 'reclaim-title' },
    h('h2', { id: 'reclaim-title' }, words.takeBack),
    h('p', {}, fill(words.reclaim, values)),
    reader !== undefined && [
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          disabled: reader.isBusy,
          click: () => reader.look(orderId, token, 'reclaim'),
        },
        words.takeBack,
      ),
      answerView(data, key, chainTitle, timeZone, reader),
    ],
  );
}
