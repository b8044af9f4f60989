import { fieldRefusal, type Refusal } from '@florin/protocol/error.ts';
import { isVisibleLine, visibleLineRule } from '@florin/protocol/visible-text.ts';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { type AddressPolicy, isPlainHttpAllowed, urlFlaw } from '#outside/address.ts';

/** Whether a text can be stored and sent as UTF-8: no NUL, no lone surrogate. */
function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * Whether a text is an absolute https URL without credentials as browsers parse it (WHATWG), in every context. Browsers
 * drop tabs and line ends, and read `https:shop.example` on our page as a path of ours. Both would lead to another
 * place, and a line end would break a Location header.
 */
function isHttpsUrl(text: string, policy: AddressPolicy): boolean {
  const url = isStorableText(text) && urlFlaw(text) === undefined ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || isPlainHttpAllowed(url, policy);
}

/** Everywhere except in the local environment. */
const publicOnly: AddressPolicy = { allowLoopback: false };

// A local installation has no https and hosts its images here.
const localImage = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?\/images\/[0-9A-Za-z]+-\d+\.webp$/;

/** Whether a text may be the image of a product: an https URL, or a hosted one as a read returned it. */
function isImageUrl(text: string): boolean {
  return isHttpsUrl(text, publicOnly) || localImage.test(text);
}

/** Where a value stands in the object or list around it. */
interface Place {
  readonly parentData: Record<string | number, unknown>;
  readonly parentDataProperty: string | number;
}

// `verbose` gives the message its failing schema; `ownProperties` keeps inherited names from counting as members.
function ajvFor(policy: AddressPolicy): Ajv {
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    verbose: true,
    ownProperties: true,
    formats: {
      text: isStorableText,
      name: isVisibleLine,
      'https-url': (text: string) => isHttpsUrl(text, policy),
      'image-url': isImageUrl,
    },
  });
  return ajv.addKeyword({
    keyword: 'trimmed',
    type: 'string',
    modifying: true,
    validate: (_schema: unknown, text: string, _parent?: unknown, place?: Place) => {
      if (place !== undefined) place.parentData[place.parentDataProperty] = text.trim();
      return true;
    },
  });
}
const publicAjv = ajvFor(publicOnly);
const localAjv = ajvFor({ allowLoopback: true, allowPlainLoopback: true });

/** Checks a value and returns its first problem, or undefined. Names in it lose the spaces around them. */
export type SchemaCheck = (value: unknown) => Refusal | undefined;

/**
 * Compiles a schema once, for the first value: a process starts with hundreds of schemas, of which it uses some. Its refusals are field_invalid (400101), with the field's path, such as
 * `lineItems[0].unitPrice`, and what it must be. `root` names the value itself, such as `body`. In the local
 * environment, https URLs may also be plain http to loopback.
 */
export function compileCheck(
  schema: TSchema,
  root: string,
  { allowPlainLoopback }: Pick<AddressPolicy, 'allowPlainLoopback'> = {},
): SchemaCheck {
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= (allowPlainLoopback === true ? localAjv : publicAjv).compile(schema);
    const validate = compiled;
    if (validate(value)) return undefined;
    const error = mostTelling(validate.errors ?? []);
    if (error === undefined) throw new Error('a failed check has no error');
    return refusalOf(error, root, allowPlainLoopback === true ? localUrlText : publicUrlText);
  };
}

/**
 * A union's error follows those of its branches and says more, unless a branch failed deeper inside the value: then the
 * sender meant that branch.
 */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const depthOf = (error: ErrorObject) => error.instancePath.split('/').length;
  const deepest = Math.max(...errors.map(depthOf));
  return errors.findLast((error) => depthOf(error) === deepest);
}

function refusalOf(error: ErrorObject, root: string, urlText: string): Refusal {
  const parameters: Record<string, unknown> = error.params;
  const path = fieldPath(error.instancePath);
  if (error.keyword === 'additionalProperties') {
    return fieldRefusal(member(path, String(parameters['additionalProperty'])), 'is not a known field');
  }
  if (error.keyword === 'required') {
    const missing = member(path, String(parameters['missingProperty']));
    const unknown = unknownMember(error);
    // One of another name is often the one that is missing: `price` for `commonPrices`.
    const other = unknown === undefined ? '' : `, and ${member(path, unknown)} is not a known field`;
    return fieldRefusal(missing, `is required${other}`);
  }
  return fieldRefusal(path === '' ? root : path, requirement(error, parameters, urlText));
}

/** The first member that an object may not have, where it also lacks one. */
function unknownMember({ data, parentSchema }: ErrorObject): string | undefined {
  if (parentSchema?.['additionalProperties'] !== false) return undefined;
  const known = Object(parentSchema['properties']) as object;
  return Object.keys(Object(data)).find((name) => !Object.hasOwn(known, name));
}

/** Turns `/lineItems/0/unitPrice` into `lineItems[0].unitPrice`. */
function fieldPath(pointer: string): string {
  let path = '';
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path = /^\d+$/.test(name) ? `${path}[${name}]` : member(path, name);
  }
  return path;
}

/** The longest part of a client's own key in a message, in characters. */
const maxNameLength = 64;

/** A client's own text for a message, shortened where it is long. */
export function shownPart(text: string): string {
  return text.length > maxNameLength
    ? `${text.slice(0, maxNameLength).toWellFormed()}...`
    : text.toWellFormed();
}

function member(path: string, name: string): string {
  const shown = shownPart(name);
  return path === '' ? shown : `${path}.${shown}`;
}

const publicUrlText = 'an https URL without credentials';
const localUrlText = `${publicUrlText}, or an http URL of this machine`;

const formatTexts: Record<string, string> = {
  text: 'must be text without NUL and unpaired surrogates',
  name: visibleLineRule,
  'image-url': `must be ${publicUrlText}`,
};

/** The words of every pattern that a request can fail. */
export const patternTexts: Readonly<Record<string, string>> = {
  '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$': 'a time of the form YYYY-MM-DD HH:MM:SS',
  '^(#[0-9a-fA-F]{6})?$': '# and six hexadecimal digits, or empty',
  '^[a-z]+://[A-Za-z0-9.-]+(:[0-9]{1,5})?$': 'an origin such as https://shop.example, without a path',
  '^(0|[1-9][0-9]*)$': 'a whole number in digits, without leading zeros',
  '^(0|[1-9][0-9]{0,9})(\\.[0-9]{1,6})?$': 'an amount such as 12.50, with at most six decimals',
  '^[1-9][0-9]{0,13}$': 'a whole number from 1 to 99999999999999',
  '^(0|[1-9][0-9]{0,10})$': 'a whole number of at most eleven digits, without leading zeros',
  '^[0-9a-fA-F]{4}$': 'four hexadecimal digits',
  '^0x[0-9a-fA-F]{40}$': '0x and 40 hexadecimal digits',
  '^0x[0-9a-fA-F]{64}$': '0x and 64 hexadecimal digits',
  '^0x[0-9a-f]{64}$': '0x and 64 hexadecimal digits in lower case',
  '^0x([0-9a-fA-F]{2})*$': '0x and two hexadecimal digits for each byte',
  '^[^\\s@]+@[^\\s@]+$': 'an e-mail address',
  '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$': 'an e-mail address with a dot after the @',
  '^[0-9a-f-]{36}$': 'a UUID in lower case',
  '^eip155:[1-9][0-9]{0,14}$': 'eip155: and a chain id',
};

const typeTexts: Record<string, string> = {
  integer: 'an integer',
  object: 'an object',
  array: 'an array',
  string: 'a string',
};

function requirement(error: ErrorObject, parameters: Record<string, unknown>, urlText: string): string {
  const limit = String(parameters['limit']);
  switch (error.keyword) {
    case 'type':
      return `must be ${typeTexts[String(parameters['type'])] ?? String(parameters['type'])}`;
    case 'anyOf':
      return `must be ${unionText(error.schema, urlText)}`;
    case 'format':
      if (parameters['format'] === 'https-url') return `must be ${urlText}`;
      return formatTexts[String(parameters['format'])] ?? `must be a valid ${String(parameters['format'])}`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return `must have at least ${limit} ${limit === '1' ? 'entry' : 'entries'}`;
    case 'maxItems':
      return `must have at most ${limit} entries`;
    case 'pattern':
      return `must be ${patternTexts[String(parameters['pattern'])] ?? 'of the documented form'}`;
    case 'const':
      return `must be ${JSON.stringify(parameters['allowedValue'])}`;
    case 'enum':
      return `must be ${choiceText(parameters['allowedValues'])}`;
    default:
      return error.message ?? 'is invalid';
  }
}

/** Longer lists are left to the documents. */
const maxNamedChoices = 12;

function choiceText(allowed: unknown): string {
  if (!Array.isArray(allowed) || allowed.length > maxNamedChoices) return 'one of the documented values';
  return allowed.map((value) => JSON.stringify(value)).join(' or ');
}

interface Branch {
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly type?: string;
}

function unionText(branches: unknown, urlText: string): string {
  if (!Array.isArray(branches)) return 'one of the documented forms';
  const texts = branches.map((branch: TSchema & Branch) => {
    if ('const' in branch) return JSON.stringify(branch.const);
    if (branch.format === 'https-url') return urlText;
    if (branch.format === 'image-url') return publicUrlText;
    return (
      patternTexts[branch.pattern ?? ''] ??
      typeTexts[branch.type ?? ''] ??
      branch.type ??
      'another documented form'
    );
  });
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}
