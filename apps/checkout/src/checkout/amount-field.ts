import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
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
  else if (field.value !== '') page.change({ amountProblem: problemOfAmount(data, typed) });
}

/** The amount in Micro-USD that begins a session. Else shows its problem at the field, moves the focus there, and throws. */
export function readAmount(page: Page): bigint {
  const { data } = page.model;
  const field = fieldOf('amount-input');
  const typed = parseAmount(data.locale, field?.value ?? '');
  const problem = problemOfAmount(data, typed) || outsideOf(page.model, typed);
  if (typed.kind === 'amount' && problem === '') return typed.amount;
  page.change({ amountProblem: problem });
  field?.focus();
  // The field says it.
  throw new ExplainedFailure('');
}

/** The chosen token's bounds when the typed amount is outside them; else empty. */
function outsideOf(model: Pick<Model, 'data' | 'chosen'>, typed: TypedAmount): string {
  const { locale, texts } = model.data;
  const option = chosenOf(model);
  const bounds = boundsOf(option ?? {});
  if (option === undefined || bounds === undefined || typed.kind !== 'amount') return '';
  if (bounds.least <= typed.amount && typed.amount <= bounds.most) return '';
  const range = formatRange(locale, bounds, typed.amount);
  return fill(texts.amountOutside, { token: nameOfToken(texts, option), range });
}

async function quote(page: Page, text: string): Promise<void> {
  const { data } = page.model;
  if (data.link === undefined) return;
  const typed = parseAmount(data.locale, text);
  // Bounds are shown only without an amount, so each option keeps its bounds and loses its price.
  const open = data.options.map((option) => ({ ...option, amountInToken: '0', total: '0', fee: '0' }));
  if (typed.kind === 'unclear') page.change({ amountProblem: problemOfAmount(data, typed) });
  if (typed.kind !== 'amount') return offer(page, '', open);
  const amount = typed.amount.toString();
  try {
    const { options } = await askQuote(data.link.linkId, amount);
    const priced = new Map(options.map((option) => [option.tokenId, option]));
    offer(
      page,
      amount,
      open.map((option) => ({ ...option, ...priced.get(option.tokenId) })),
    );
  } catch {
    // The offer is requested again when the payer pays, and a refusal is shown then. Too large an amount has no offer.
    offer(page, '', open);
    page.change({ amountProblem: outsideOf(page.model, typed) });
  }
}

function offer(page: Page, amount: string, options: readonly CheckoutOption[]): void {
  page.change({ data: { ...page.model.data, amount, options } });
  chooseToken(page, page.model.chosen);
}

/** Chooses a token, and shows whether it accepts the typed amount. */
export function chooseToken(page: Page, chosen: string): void {
  const { data } = page.model;
  page.change({ chosen });
  if (data.link?.isCustom !== true || data.amount === '') return;
  const outside = outsideOf(page.model, { kind: 'amount', amount: BigInt(data.amount) });
  const isRefused = outside === '' && chosenOf(page.model)?.total === '0';
  page.change({ amountProblem: isRefused ? data.texts.amountRefused : outside });
}
