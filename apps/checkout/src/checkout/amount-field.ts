import type { TypedAmount } from '@florin/protocol/typed-amount.ts';
import type { AmountField } from './actions.ts';
import { parseAmount, problemOfAmount, writeAmount } from './amount.ts';
import { askQuote } from './api.ts';
import { boundsOf } from './bounds.ts';
import { fieldOf } from './dom.ts';
import { fill, formatRange, nameOfToken } from './format.ts';
import { chosenOf, type Model } from './model.ts';
import { ExplainedFailure, type Page } from './page.ts';

/** The field for the amount of a custom link. */

let timer: ReturnType<typeof setTimeout> | undefined;
/** Long enough that not every digit causes a request. */
const typingPauseMs = 300;

/** Asks for the price in every token, shortly after the payer has typed. The text stays as it was typed. */
export function typeAmount(page: Page, { value }: AmountField): void {
  clearTimeout(timer);
  page.change({ amountProblem: '', problem: '' });
  timer = setTimeout(() => void quote(page, value), typingPauseMs);
}

/** Formats the amount after the payer leaves the field, or shows its problem. */
export function leaveAmount(page: Page, field: AmountField): void {
  const { data } = page.model;
  const typed = parseAmount(data.locale, field.value);
  if (typed.kind === 'amount') field.value = writeAmount(data.locale, typed.amount);
  else if (field.value !== '') page.change({ amountProblem: problemFor(page.model, typed) });
}

/** The amount in Micro-USD that begins a session. Else shows its problem at the field, moves the focus there, and throws. */
export function readAmount(page: Page): bigint {
  const field = fieldOf('amount-input');
  const typed = parseAmount(page.model.data.locale, field?.value ?? '');
  const problem = problemFor(page.model, typed);
  if (typed.kind === 'amount' && problem === '') return typed.amount;
  page.change({ amountProblem: problem });
  field?.focus();
  // The field says it.
  throw new ExplainedFailure('');
}

/** The problem of a typed amount, also where it is outside the chosen token's bounds; empty without one. */
function problemFor(model: Pick<Model, 'data' | 'chosen'>, typed: TypedAmount): string {
  const { data } = model;
  if (typed.kind !== 'amount') return problemOfAmount(data, typed);
  const option = chosenOf(model);
  const bounds = boundsOf(option ?? {});
  if (option === undefined || bounds === undefined) return '';
  if (bounds.least <= typed.amount && typed.amount <= bounds.most) return '';
  const range = formatRange(data, bounds, typed.amount);
  return fill(data.texts.amountOutside, { token: nameOfToken(data.texts, option), range });
}

async function quote(page: Page, text: string): Promise<void> {
  const { link, locale } = page.model.data;
  if (link === undefined) return;
  const typed = parseAmount(locale, text);
  // The offer is requested again when the payer pays, and a refusal is shown then. Too large an amount has no offer.
  const offered =
    typed.kind === 'amount'
      ? await askQuote(link.linkId, `${typed.amount}`).catch(() => undefined)
      : undefined;
  const priced = new Map(offered?.options.map((option) => [option.tokenId, option]));
  const { data } = page.model;
  // A session that has begun meanwhile has its own prices.
  if (data.link === undefined) return;
  const amount = typed.kind === 'amount' && offered !== undefined ? `${typed.amount}` : '';
  // Bounds are shown only without an amount, so each option keeps its bounds and loses its price.
  const options = data.options.map((option) => ({
    ...option,
    ...{ amountInToken: '0', total: '0', fee: '0' },
    ...priced.get(option.tokenId),
  }));
  page.change({ data: { ...data, amount, options } });
  if (amount === '' && typed.kind !== 'wrong') page.change({ amountProblem: problemFor(page.model, typed) });
  checkAmount(page);
}

/** Shows whether the chosen token accepts the typed amount. */
export function checkAmount(page: Page): void {
  const { data } = page.model;
  if (data.link?.isCustom !== true || data.amount === '') return;
  const outside = problemFor(page.model, { kind: 'amount', amount: BigInt(data.amount) });
  const isRefused = outside === '' && chosenOf(page.model)?.total === '0';
  page.change({ amountProblem: isRefused ? data.texts.amountRefused : outside });
}
