import { exactTime, formatUsd, parseTime } from '../ui/format.ts';

/** What an act changed of its subject, in words; undefined where it was not there. */
export interface ChangeInWords {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Fields that change with every act, or say what the entry says already. */
const unsaid = new Set([
  ...['versionCode', 'version', 'updateAt', 'updatedAt', 'createAt', 'createdAt', 'createdBy', 'lineItemId'],
  ...['clientCode', 'lastUsedAt', 'key', 'ifUpdateAt', 'ifMerchantName', 'imageStatus'],
]);

// Maps here and below: an entry may hold the caller's own names, as of a session's metadata, and every object has a
// `constructor`.
/** Fields whose own name would say less. */
const names = mapOf({
  ...{
    linkName: 'Name',
    merchantName: 'Name of the shop',
    accountName: 'Name of the wallet',
    webhookName: 'Name',
    productName: 'product',
  },
  ...{
    accountAddress: 'Address',
    accountId: 'Wallet',
    sessionId: 'Payment',
    tokenId: 'Token',
    settlementCurrencies: 'Tokens',
    webhookUrl: 'Address',
  },
  ...{
    successUrl: 'Page after payment',
    cancelUrl: 'Page for payers who do not pay',
    autoReturn: 'Goes there',
  },
  ...{ settlementToken: 'You receive', feeModel: 'The fee', payerEmailRequired: 'Payer’s e-mail required' },
  ...{
    customSuccessText: 'Text after payment',
    customDisabledText: 'Text while disabled',
    unitPrice: 'price',
  },
  ...{ commonPrices: 'Prices', activeUntil: 'Ends on', maxPayments: 'Payments in all', imageUrl: 'Image' },
  ...{
    webhookDescription: 'Description',
    subscribedEvents: 'Events',
    last4: 'Ends with',
    permissions: 'May',
  },
  ...{ ipAllowList: 'IP addresses', origins: 'Browser origins', maxSessionAmount: 'Largest session' },
  ...{ maxDayAmount: 'Sessions of a day', expiresAt: 'Works until', embedOrigins: 'May show the checkout' },
  ...{
    underpaidPpm: 'Short by at most, in millionths',
    underpaidAmount: 'Short by at most',
    proof: 'Proven by',
  },
});

const money = new Set([
  ...['amount', 'unitPrice', 'commonPrices', 'maxSessionAmount', 'maxDayAmount', 'underpaidAmount'],
]);
const times = new Set([
  'activeUntil',
  'expiresAt',
  'effectiveAt',
  'revokedAt',
  'decideBy',
  'expirationTime',
  'from',
  'to',
]);
const flags = new Set(['payerEmailRequired']);

/** Values of fields that are words of the API. */
const values = mapOf({
  feeModel: mapOf({ 1: 'The merchant pays it', 2: 'The payer pays it' }),
  autoReturn: mapOf({ paid: 'By itself', never: 'With a click' }),
  proof: mapOf({
    ...{ password: 'Password', second_factor: 'Password and code', passkey: 'Passkey' },
    ...{ wallet: 'Wallet', recovery: 'Recovery code' },
  }),
});

function mapOf<Value>(entries: Readonly<Record<string, Value>>): ReadonlyMap<string, Value> {
  return new Map(Object.entries(entries));
}

/**
 * The fields that differ between two JSON texts, in words and in the order of the later one. Left out is what changes with
 * every act, what names the subject itself, and what is as good as absent on both sides.
 */
export function changesOf(before: string, after: string, subject = ''): ChangeInWords[] {
  const [earlier, later] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...later.keys(), ...earlier.keys()])]
    .map((name) => ({ name, before: earlier.get(name), after: later.get(name) }))
    .filter((field) => (field.before ?? '') !== (field.after ?? ''))
    .filter((field) => subject === '' || (field.before ?? field.after) !== subject);
}

// A link's entry has the name of its wallet, too.
const nameFields = ['linkName', 'webhookName', 'accountName', 'merchantName', 'name'] as const;

/** What people call the subject, as an entry with an unchanged name would leave out; empty where it has none. */
export function subjectName(before: string, after: string): string {
  const known = [after, before].map((text): unknown => (text === '' ? undefined : JSON.parse(text)));
  for (const value of known) {
    if (typeof value !== 'object' || value === null) continue;
    const fields = new Map<string, unknown>(Object.entries(value));
    const name = nameFields
      .map((field) => fields.get(field))
      .find((each) => typeof each === 'string' && each !== '');
    if (typeof name === 'string') return name;
  }
  return '';
}

/** The changes in one line, for lists. */
export function changesLine(changes: readonly ChangeInWords[]): string {
  return changes
    .map(({ name, before, after }) => {
      if (before === undefined || before === '') return `${name}: ${after}`;
      return after === undefined || after === '' ? `${name}: removed` : `${name}: ${before} → ${after}`;
    })
    .join(' · ');
}

function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  if (text !== '') collect(fields, [], JSON.parse(text));
  return fields;
}

function collect(fields: Map<string, string>, place: readonly string[], value: unknown): void {
  const name = place.at(-1) ?? '';
  if (unsaid.has(name)) return;
  if (Array.isArray(value)) {
    const plain = value.every((member) => typeof member !== 'object' || member === null);
    if (plain) fields.set(wordsOf(place), value.map((member) => valueText(name, member)).join(', '));
    else
      for (const [index, member] of value.entries()) collect(fields, [...place, String(index + 1)], member);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) collect(fields, [...place, key], member);
  } else fields.set(wordsOf(place), valueText(name, value));
}

/** Parts of an object that people know by their members alone. */
const frames = new Set(['lineItems', 'productData', 'exceptionPolicy']);

/** `lineItems.items.1.unitPrice` as “Item 1, price”. */
function wordsOf(place: readonly string[]): string {
  const parts: string[] = [];
  for (const part of place) {
    if (frames.has(part)) continue;
    const isNumber = /^\d+$/.test(part);
    const last = parts.at(-1) ?? '';
    if (isNumber) parts[parts.length - 1] = `${last.replace(/s$/, '')} ${part}`;
    else parts.push(names.get(part) ?? spaced(part));
  }
  const text = parts.map((part, index) => (index === 0 ? part : part.toLowerCase())).join(', ');
  return text === '' ? 'Value' : text.charAt(0).toUpperCase() + text.slice(1);
}

/** `supportUrl` as “support URL”. */
function spaced(name: string): string {
  const words = name.replaceAll(
    /([a-z0-9])([A-Z])/g,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
  );
  return words
    .replace(/\burl\b/, 'URL')
    .replace(/\bid\b/, 'id')
    .replaceAll('_', ' ');
}

function valueText(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const known = values.get(name)?.get(text);
  if (known !== undefined) return known;
  if (typeof value === 'boolean' || flags.has(name)) return value === true || value === 1 ? 'Yes' : 'No';
  // Under the caller's names there may be numbers that are no Micro-USD and no time.
  if (money.has(name) && Number.isSafeInteger(value)) return value === 0 ? '' : formatUsd(text);
  const time = times.has(name) ? timeOf(value) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) ? text : exactTime(time);
}

function timeOf(value: unknown): Date | undefined {
  return typeof value === 'string' || typeof value === 'number' ? parseTime(value) : undefined;
}
