import type { CheckoutOption } from '@florin/protocol/checkout-api.ts';
import { groupTyped, parseAmount, problemOfAmount, writeAmount } from './amount.ts';
import { api } from './api.ts';
import { bestOption } from './model.ts';
import { type Page, Told } from './page.ts';

/** The field in which the payer of a custom link types the amount. */

/** What the field showed before the edit that is going on. */
let shown = '';
let timer: ReturnType<typeof setTimeout> | undefined;
/** Long enough that not every digit is asked about. */
const typingPauseMs = 300;

/** Sets thousands while the payer types, and asks a moment later what the amount costs in every token. */
export function typeAmount(page: Page, field: HTMLInputElement): void {
  const { locale } = page.model.data;
  const typed = { text: field.value, caret: field.selectionStart ?? field.value.length };
  const { text, caret } = groupTyped(locale, shown, typed);
  put(field, text);
  if (text !== typed.text) field.setSelectionRange(caret, caret);
  clearTimeout(timer);
  if (page.model.amountProblem !== '') page.change({ amountProblem: '' });
  timer = setTimeout(() => void quote(page, text), typingPauseMs);
}

/** Writes the amount out once the payer has left the field, or says what is wrong with it. */
export function leaveAmount(page: Page, field: HTMLInputElement): void {
  const { data } = page.model;
  const typed = parseAmount(data.locale, field.value);
  if (typed.kind === 'amount') put(field, writeAmount(data.locale, typed.amount));
  else if (field.value !== '') page.change({ amountProblem: problemOfAmount(data, typed) });
}

function put(field: HTMLInputElement, text: string): void {
  shown = text;
  if (field.value !== text) field.value = text;
}

/** The amount in Micro-USD, to begin a session with. Throws what is wrong with it, and leads the payer back to the field. */
export function readAmount(page: Page): bigint {
  const { data } = page.model;
  const field = document.getElementById('amount-input');
  const typed = parseAmount(data.locale, field instanceof HTMLInputElement ? field.value : '');
  if (typed.kind === 'amount') return typed.amount;
  field?.focus();
  throw new Told(problemOfAmount(data, typed));
}

async function quote(page: Page, text: string): Promise<void> {
  const { data } = page.model;
  if (data.link === undefined) return;
  const typed = parseAmount(data.locale, text);
  const withoutPrice = data.options.map((option) => ({
    ...option,
    amountInToken: '0',
    total: '0',
    fee: '0',
  }));
  if (typed.kind === 'unclear') page.change({ amountProblem: problemOfAmount(data, typed) });
  if (typed.kind !== 'amount') return offer(page, '', withoutPrice);
  const amount = typed.amount.toString();
  try {
    const { options } = await api.quote(data.link.linkId, amount);
    offer(page, amount, options.length === 0 ? withoutPrice : options);
    page.change({ amountProblem: options.length === 0 ? data.texts.amountRefused : '' });
  } catch {
    // The offer is asked for again when the payer pays; a refusal is told then.
    offer(page, '', withoutPrice);
  }
}

function offer(page: Page, amount: string, options: readonly CheckoutOption[]): void {
  const isThere = options.some(({ tokenId }) => tokenId === page.model.chosen);
  const chosen = isThere ? page.model.chosen : (bestOption(options, page.model.balances)?.tokenId ?? '');
  page.change({ data: { ...page.model.data, amount, options }, chosen });
}
