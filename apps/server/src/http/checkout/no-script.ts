import { fill, formatToken, h, type PageData, type Tree } from '@florin/checkout';
import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';

/** The result of a form that a reader without scripts sent; empty without one. */
export interface NoScript {
  readonly problem?: string;
  /** The name of the form's field that the problem is about; absent where it is about none. */
  readonly field?: string | undefined;
  /** The amount as the reader typed it. */
  readonly amount?: string;
  /** The order whose deposit address to show. */
  readonly order?: string;
  /** The form that asked for it: sent again, it shows the same address and what has arrived. */
  readonly asked?: { readonly tokenId: string; readonly payer: string; readonly payerEmail: string };
}

/** Addresses are never pre-filled: the payer enters the refund address again. */
const required = { required: true, autocomplete: 'off' } as const;

/** Ties a field to the form's problem where that is about it. */
const describe = ({ field }: NoScript, name: string) => ({
  'aria-invalid': field === name && 'true',
  'aria-describedby': field === name && 'form-problem',
});

/** The actions for readers without scripts: begin a session, and pay it by a plain transfer. */
export function noScriptView(data: PageData, query: string, answer: NoScript): Tree {
  const { texts, link, state } = data;
  const isPayable = link !== undefined || state?.isPayable === true;
  if (!isPayable) return undefined;
  return h(
    'div',
    { class: 'forms' },
    h('p', {}, texts.noScript),
    answer.problem !== undefined && h('p', { class: 'problem', id: 'form-problem' }, answer.problem),
    link !== undefined && beginForm(data, link, query, answer),
    state !== undefined &&
      state.shownDeposit === undefined &&
      depositForm(data, state.sessionId, { query, answer }),
    state !== undefined &&
      (answer.asked === undefined
        ? h('p', {}, h('a', { href: `/checkout/${state.sessionId}${query}` }, texts.showState))
        : againForm(data, `/checkout/${state.sessionId}/deposit${query}`, answer.asked)),
  );
}

/** Its own address is on no other page, so the reader asks for the same one again. */
function againForm({ texts }: PageData, action: string, asked: NonNullable<NoScript['asked']>): Tree {
  const { tokenId, payer, payerEmail } = asked;
  return h(
    'form',
    { method: 'post', action },
    Object.entries({ tokenId, payer, payerEmail }).map(([name, value]) =>
      h('input', { type: 'hidden', name, value }),
    ),
    h('button', { type: 'submit' }, texts.showState),
  );
}

function beginForm(
  data: PageData,
  link: NonNullable<PageData['link']>,
  query: string,
  answer: NoScript,
): Tree {
  const { texts, options } = data;
  const names = options.map((option) => h('li', {}, nameOf(texts, option)));
  return [
    h('ul', {}, names),
    h(
      'form',
      { method: 'post', action: `/link/${link.linkId}${query}` },
      h('input', { type: 'hidden', name: 'linkVersion', value: link.version }),
      link.isCustom &&
        h(
          'p',
          { class: 'field' },
          h('label', { for: 'form-amount' }, texts.amountLabel),
          h('input', {
            id: 'form-amount',
            name: 'amount',
            inputmode: 'decimal',
            maxlength: '20',
            value: answer.amount,
            ...required,
            ...describe(answer, 'amount'),
          }),
          h('span', { class: 'soft small' }, texts.amountHint),
          h('p', { class: 'soft small' }, data.bounds),
        ),
      h('button', { type: 'submit' }, texts.pay),
    ),
  ];
}

/** Tokens that accept a plain transfer of this session's amount. */
function depositOptions({ options, minDeposit, intendedPayer }: PageData): CheckoutOption[] {
  // An agent's session accepts only its own wallet.
  if (minDeposit === undefined || intendedPayer !== '') return [];
  return options.filter(
    ({ status, total }) => status !== 'unavailable' && BigInt(total) >= BigInt(minDeposit),
  );
}

function depositForm(
  data: PageData,
  sessionId: string,
  { query, answer }: { readonly query: string; readonly answer: NoScript },
): Tree {
  const { texts } = data;
  const options = depositOptions(data);
  if (options.length === 0) return undefined;
  // The address is the same on all networks.
  const networks = [...new Set(options.map(({ chainTitle }) => chainTitle))];
  return h(
    'form',
    { method: 'post', action: `/checkout/${sessionId}/deposit${query}` },
    h(
      'p',
      { class: 'field' },
      h('label', { for: 'form-token' }, texts.chooseToken),
      h(
        'select',
        { id: 'form-token', name: 'tokenId' },
        options.map((option) => {
          const amount = formatToken(data.locale, option, option.amountInToken);
          return h('option', { value: option.tokenId }, `${nameOf(texts, option)} · ${amount}`);
        }),
      ),
    ),
    h(
      'p',
      { class: 'field' },
      h('label', { for: 'form-refund' }, fill(texts.refundLabel, { network: networks.join(' / ') })),
      h('input', {
        ...{ id: 'form-refund', name: 'payer', maxlength: '64', dir: 'ltr' },
        ...required,
        ...describe(answer, 'payer'),
      }),
      h('span', { class: 'soft small' }, texts.refundHint),
    ),
    data.isEmailRequired &&
      h(
        'p',
        { class: 'field' },
        h('label', { for: 'form-email' }, texts.emailLabel),
        h('input', {
          ...{ id: 'form-email', name: 'payerEmail', type: 'email', maxlength: '254' },
          ...required,
          ...describe(answer, 'payerEmail'),
        }),
        h('span', { class: 'soft small' }, data.emailHint),
      ),
    h('button', { type: 'submit' }, texts.showAddress),
  );
}

function nameOf(texts: PageData['texts'], { symbol, chainTitle }: CheckoutOption): string {
  return fill(texts.tokenOnNetwork, { token: symbol, network: chainTitle });
}
