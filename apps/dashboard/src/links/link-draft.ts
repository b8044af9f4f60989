import type { Account } from '@florin/protocol/account.ts';
import { type LatePayment, maxLateHours, maxUnderpaidPpm } from '@florin/protocol/exception-policy.ts';
import type { LinkCreateBody, LinkDetail } from '@florin/protocol/link.ts';
import { type AutoReturn, withoutDefaults } from '@florin/protocol/shop-return.ts';
import type { ReplyTo } from '../api/call.ts';
import { parseUsd, typedUsd, usdFault } from '../ui/amount.ts';
import { formatPpm, formatUsd } from '../ui/format.ts';

/** A product of a fixed link, as typed. */
export interface ItemRow {
  readonly key: string;
  readonly productId: string;
  readonly quantity: string;
  readonly price: string;
}

/** What a link can sell: an active product, or one that the link has already. */
export interface ProductChoice {
  readonly productId: string;
  readonly name: string;
  /** Micro-USD. */
  readonly prices: readonly number[];
}

/** What is typed into the form of a link. */
export interface LinkDraft {
  readonly linkType: 'fixed' | 'custom';
  readonly linkName: string;
  readonly items: readonly ItemRow[];
  /** The product that a link with a custom amount shows; empty for none. */
  readonly shownProductId: string;
  readonly accountId: string;
  readonly settlementToken: string;
  readonly feeModel: 1 | 2;
  readonly isEmailRequired: boolean;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly autoReturn: AutoReturn;
  readonly customSuccessText: string;
  readonly customDisabledText: string;
  /** As typed; empty for no limit. */
  readonly maxPayments: string;
  /** Local time, as `2026-05-01T18:00`; empty for no end. */
  readonly activeUntil: string;
  /** Empty: as the operator chose. */
  readonly latePayment: LatePayment | '';
  /** As typed, empty for the operator's: hours, a percentage, and dollars. */
  readonly lateHours: string;
  readonly underpaidPercent: string;
  readonly underpaidAmount: string;
}

export function typedPrice(micro: number | undefined): string {
  return micro === undefined ? '' : typedUsd(micro);
}

export function newItemRow(product: ProductChoice | undefined): ItemRow {
  return {
    key: crypto.randomUUID(),
    productId: product?.productId ?? '',
    quantity: '1',
    price: typedPrice(product?.prices[0]),
  };
}

const noPolicy = { latePayment: '', lateHours: '', underpaidPercent: '', underpaidAmount: '' } as const;

/** Without a product, so that no link is made before a person chose what it sells. */
export function newLinkDraft(): LinkDraft {
  return {
    linkType: 'fixed',
    items: [newItemRow(undefined)],
    feeModel: 1,
    isEmailRequired: false,
    ...noPolicy,
    ...{ linkName: '', shownProductId: '', accountId: '', settlementToken: '' },
    autoReturn: 'paid',
    ...{
      successUrl: '',
      cancelUrl: '',
      customSuccessText: '',
      customDisabledText: '',
      maxPayments: '',
      activeUntil: '',
    },
  };
}

export function linkDraftOf(link: LinkDetail): LinkDraft {
  const { linkType, linkName, accountId, settlementToken, successUrl, customSuccessText } = link;
  const { items } = link.lineItems;
  return {
    ...{ linkType, linkName, accountId, settlementToken, successUrl, customSuccessText },
    cancelUrl: link.cancelUrl ?? '',
    autoReturn: link.autoReturn ?? 'paid',
    customDisabledText: link.customDisabledText,
    maxPayments: link.maxPayments === undefined ? '' : String(link.maxPayments),
    activeUntil: localTimeOf(link.activeUntil),
    items:
      linkType === 'custom'
        ? []
        : items.map(({ lineItemId, productId, quantity, unitPrice }) => ({
            key: lineItemId,
            productId,
            quantity: String(quantity),
            price: typedPrice(unitPrice),
          })),
    shownProductId: linkType === 'custom' ? (items[0]?.productId ?? '') : '',
    feeModel: link.feeModel === 2 ? 2 : 1,
    isEmailRequired: link.payerEmailRequired === 1,
    ...typedPolicy(link.exceptionPolicy),
  };
}

/**
 * The draft with a wallet, and with a token that this wallet takes. Where there is one alone, a new link begins with it;
 * among several a person chooses, also where the wallet of a link was removed.
 */
export function withWallet(draft: LinkDraft, accounts: readonly Account[]): LinkDraft {
  const own = accounts.find(({ accountId }) => accountId === draft.accountId);
  const account = draft.accountId === '' && accounts.length === 1 ? accounts[0] : own;
  const taken = account?.settlementCurrencies ?? [];
  const only = taken.length === 1 ? taken[0] : undefined;
  const settlementToken = taken.includes(draft.settlementToken) ? draft.settlementToken : (only ?? '');
  return { ...draft, accountId: account?.accountId ?? '', settlementToken };
}

/** The name of a link for which none was typed. */
export function suggestedName(
  { linkType, items, shownProductId }: LinkDraft,
  names: ReadonlyMap<string, string>,
) {
  const [first, ...others] = items;
  if (linkType === 'custom') return names.get(shownProductId) ?? 'Payment of any amount';
  const name = names.get(first?.productId ?? '') ?? '';
  return others.length === 0 || name === '' ? name : `${name} and ${others.length} more`;
}

/** The operator's setting, as far as it is known: a web process of the version before does not have it. */
export type OperatorsPolicy = ReplyTo<'GET /token/list'>['depositPolicy'] | undefined;

/** What becomes of money that comes after the end of a payment. */
export const lateTexts: Readonly<Record<LinkDraft['latePayment'], string>> = {
  '': 'As the operator chose',
  return: 'It goes back to the payer',
  ask: 'You decide on each',
  accept: 'It counts as the payment',
};

/** The operator's choice about late money, with what it is where that is known. */
export function operatorsLate(operators: OperatorsPolicy): string {
  if (operators == null) return lateTexts[''];
  const chosen = lateTexts[operators.latePayment];
  return `${lateTexts['']}: ${chosen.charAt(0).toLowerCase()}${chosen.slice(1)}`;
}

/**
 * A policy for short and late transfers in words, each part by the name that it has in the form. What it leaves open is the
 * operator's, as far as that is known.
 */
export function policyTexts(
  policy: LinkCreateBody['exceptionPolicy'],
  operators?: OperatorsPolicy,
): readonly (readonly [name: string, text: string])[] {
  const { latePayment, lateHours, underpaidPpm, underpaidAmount } = { ...operators, ...policy };
  const late = policy?.latePayment === undefined ? operatorsLate(operators) : lateTexts[latePayment ?? ''];
  // What goes back does so at once.
  const isKept = lateHours !== undefined && latePayment !== 'return';
  const hours = !isKept ? '' : `, within ${lateHours} ${lateHours === 1 ? 'hour' : 'hours'}`;
  const isShortTheirs = policy?.underpaidPpm === undefined && policy?.underpaidAmount === undefined;
  const short = [
    ...(underpaidPpm === undefined ? [] : [formatPpm(underpaidPpm)]),
    ...(underpaidAmount === undefined ? [] : [formatUsd(underpaidAmount)]),
  ].join(', and by no more than ');
  return [
    ['Money that comes late', `${late}${hours}`],
    [
      'May be short by',
      [...(isShortTheirs ? [lateTexts['']] : []), ...(short === '' ? [] : [short])].join(': '),
    ],
  ];
}

/** A percentage in parts per million. */
const ppmOfPercent = 10_000;

function typedPolicy(policy: LinkCreateBody['exceptionPolicy']): Pick<LinkDraft, keyof typeof noPolicy> {
  const { latePayment = '', lateHours, underpaidPpm, underpaidAmount } = policy ?? {};
  return {
    latePayment,
    lateHours: lateHours === undefined ? '' : String(lateHours),
    underpaidPercent: underpaidPpm === undefined ? '' : percentOf(underpaidPpm),
    underpaidAmount: underpaidAmount === 0 ? '0' : typedPrice(underpaidAmount),
  };
}

/** The policy of a draft without faults; undefined where all of it is the operator's. */
function policyOf(draft: LinkDraft): LinkCreateBody['exceptionPolicy'] {
  const { latePayment, lateHours, underpaidPercent, underpaidAmount } = draft;
  const policy = {
    ...(latePayment === '' ? {} : { latePayment }),
    ...(lateHours.trim() === '' ? {} : { lateHours: Number(lateHours) }),
    ...(underpaidPercent.trim() === '' ? {} : { underpaidPpm: ppmOf(underpaidPercent) ?? 0 }),
    ...(underpaidAmount.trim() === '' ? {} : { underpaidAmount: parseUsd(underpaidAmount) ?? 0 }),
  };
  return Object.keys(policy).length === 0 ? undefined : policy;
}

/** Parts per million as a percentage to type. */
export function percentOf(ppm: number): string {
  return String(ppm / ppmOfPercent);
}

/** Parts per million of a typed percentage; undefined when it is none. */
function ppmOf(typed: string): number | undefined {
  const percent = /^\d{1,2}(?:[.,]\d{1,4})?$/.exec(typed.trim())?.[0];
  return percent === undefined ? undefined : Math.round(Number(percent.replace(',', '.')) * ppmOfPercent);
}

/** A typed quantity; 0 when it is none. */
export function quantityOf(typed: string): number {
  return /^\d{1,5}$/.test(typed.trim()) ? Number(typed) : 0;
}

/** Unix seconds as a field for local times shows them; empty for none. */
function localTimeOf(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  const time = new Date(seconds * 1000);
  // The field shows no offset: shift the time, so that UTC spells the local one.
  const shown = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString();
  return seconds % 60 === 0 ? shown.slice(0, 16) : shown.slice(0, 19);
}

/** Unix seconds of a typed local time; undefined when nothing was typed, NaN when it is no time. */
function secondsOf(localTime: string): number | undefined {
  return localTime === '' ? undefined : Math.floor(new Date(localTime).getTime() / 1000);
}

function policyFaults({ lateHours, underpaidPercent, underpaidAmount }: LinkDraft): Record<string, string> {
  const faults: Record<string, string> = {};
  const hours = lateHours.trim() === '' ? 1 : quantityOf(lateHours);
  if (hours < 1 || hours > maxLateHours) faults['lateHours'] = `Write whole hours from 1 to ${maxLateHours}.`;
  const ppm = underpaidPercent.trim() === '' ? 0 : ppmOf(underpaidPercent);
  if (ppm === undefined || ppm > maxUnderpaidPpm)
    faults['underpaidPercent'] = `Write a percentage from 0 to ${maxUnderpaidPpm / ppmOfPercent}.`;
  // Zero is a choice here: no cent may be missing.
  const fault = ['', '0'].includes(underpaidAmount.trim()) ? undefined : usdFault(underpaidAmount);
  if (fault !== undefined) faults['underpaidAmount'] = fault;
  return faults;
}

/** What is wrong before anything is sent, by the row's key and the field. */
export function linkFaults(draft: LinkDraft): Readonly<Record<string, string>> {
  const { linkType, items, maxPayments, activeUntil, accountId, settlementToken } = draft;
  const faults: Record<string, string> = {};
  if (accountId === '') faults['accountId'] = 'Choose the wallet that receives the money.';
  else if (settlementToken === '') faults['settlementToken'] = 'Choose what you receive.';
  if (maxPayments.trim() !== '' && !/^[1-9]\d{0,6}$/.test(maxPayments.trim()))
    faults['maxPayments'] = 'Write a whole number, or leave it empty.';
  if (Number.isNaN(secondsOf(activeUntil))) faults['activeUntil'] = 'Choose a day and a time.';
  Object.assign(faults, policyFaults(draft));
  if (linkType === 'custom') return faults;
  for (const { key, productId, quantity, price } of items) {
    if (productId === '') faults[`${key}.productId`] = 'Choose a product.';
    if (quantityOf(quantity) < 1) faults[`${key}.quantity`] = 'Write a whole number.';
    const fault = usdFault(price);
    if (fault !== undefined) faults[`${key}.unitPrice`] = fault;
  }
  return faults;
}

/** The sum of a fixed link in Micro-USD; undefined while a row is not filled in. */
export function totalOf({ items }: LinkDraft): number | undefined {
  const sums = items.map(({ quantity, price }) => quantityOf(quantity) * (parseUsd(price) ?? 0));
  if (sums.some((sum) => sum === 0)) return undefined;
  return sums.reduce((total, sum) => total + sum, 0);
}

/** The request body of a draft without faults. */
export function linkBodyOf(draft: LinkDraft, name: string): LinkCreateBody {
  const { linkType, accountId, settlementToken, feeModel } = draft;
  const exceptionPolicy = policyOf(draft);
  const maxPayments = draft.maxPayments.trim();
  const activeUntil = secondsOf(draft.activeUntil);
  return {
    ...{ linkType, accountId, settlementToken, feeModel },
    linkName: name,
    lineItems:
      linkType === 'custom'
        ? [{ itemType: 'user_priced', productId: draft.shownProductId }]
        : draft.items.map(({ productId, quantity, price }) => ({
            itemType: 'product',
            productId,
            quantity: quantityOf(quantity),
            unitPrice: parseUsd(price) ?? 0,
          })),
    payerEmailRequired: draft.isEmailRequired ? 1 : 0,
    successUrl: draft.successUrl.trim(),
    ...withoutDefaults({ cancelUrl: draft.cancelUrl.trim(), autoReturn: draft.autoReturn }),
    customSuccessText: draft.customSuccessText.trim(),
    customDisabledText: draft.customDisabledText.trim(),
    ...(exceptionPolicy === undefined ? {} : { exceptionPolicy }),
    ...(maxPayments === '' ? {} : { maxPayments: Number(maxPayments) }),
    ...(activeUntil === undefined ? {} : { activeUntil }),
  };
}

/** The body that saves a link as it is, but for what `changed` names. */
export function linkUpdateOf(link: LinkDetail, changed: Partial<LinkDraft>) {
  const draft = { ...linkDraftOf(link), ...changed };
  return { ...linkBodyOf(draft, draft.linkName), linkId: link.linkId };
}
