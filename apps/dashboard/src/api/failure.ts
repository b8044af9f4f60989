import type { ErrorName } from '@florin/protocol/error.ts';

/** `no_connection`: no answer came. `proof_declined`: the person closed the dialog that asked who they are. */
export type FailureSlug = ErrorName | 'no_connection' | 'proof_declined';

/** A refusal of the service, or no answer at all. */
export class ApiFailure extends Error {
  readonly code: number;
  readonly slug: FailureSlug;
  /** The path of the field that the failure is about, as `lineItems[0].unitPrice`; empty for none. */
  readonly param: string;
  readonly requestId: string;
  readonly retryable: boolean;
  /** After how many seconds the service takes the request again; 0: it does not say. */
  readonly retryAfterSeconds: number;

  constructor(failure: {
    readonly code?: number;
    readonly slug: FailureSlug;
    readonly message: string;
    readonly param?: string;
    readonly requestId?: string;
    readonly retryable?: boolean;
    readonly retryAfterSeconds?: number;
  }) {
    super(failure.message);
    this.name = 'ApiFailure';
    this.code = failure.code ?? 0;
    this.slug = failure.slug;
    this.param = failure.param ?? '';
    this.requestId = failure.requestId ?? '';
    this.retryable = failure.retryable ?? false;
    this.retryAfterSeconds = failure.retryAfterSeconds ?? 0;
  }
}

/** What a person reads of a failure: the words after the catalogue's text, as a sentence. */
export function sayFailure(error: unknown): string {
  if (!(error instanceof ApiFailure)) return 'This page has a fault. Reload it.';
  if (error.slug === 'rate_limited') return sayLimit(error.retryAfterSeconds);
  const own = sentences[error.slug];
  if (own !== undefined) return own;
  const [title = '', ...rest] = error.message.split(': ');
  const detail = rest.join(': ').trim();
  const isId = /^[a-z]+_[0-9A-Za-z]+$/.test(detail);
  const text = detail === '' || isId || error.slug.endsWith('_not_found') ? title : detail;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** A wait of a few seconds is a moment. */
const momentSeconds = 10;

function sayLimit(seconds: number): string {
  if (seconds < momentSeconds) return 'Too many requests. Wait a moment, then try again.';
  const [count, unit] =
    seconds < 60
      ? [seconds, 'second']
      : seconds < 2 * 3_600
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3_600), 'hour'];
  return `Too many attempts. Try again in ${count} ${unit}${count === 1 ? '' : 's'}.`;
}

const sentences: Partial<Record<FailureSlug, string>> = {
  no_connection: 'No connection to the service. What you typed is still here; try again.',
  internal: 'The service failed. Try again in a moment.',
  role_forbidden: 'Your role does not allow this. Ask an owner or an admin.',
  account_not_found: 'There is no such wallet.',
  account_removed: 'This wallet was removed.',
  account_version_changed: 'This wallet was changed meanwhile. Look at it again.',
  account_change_not_found: 'It waits no more: it has taken effect, or was cancelled.',
  product_changed: 'This product was changed meanwhile.',
  link_version_invalid: 'This link was changed meanwhile.',
  webhook_changed: 'This webhook was changed meanwhile.',
  branding_changed: 'The branding was changed meanwhile.',
  member_changed: 'This member’s role was changed meanwhile. Close this form and look at it again.',
  merchant_changed: 'The name was changed meanwhile. Close this form and look at it again.',
  account_limit: 'A merchant has at most 20 wallets, with those that wait. Remove one first.',
  sign_in_required: 'You are signed out. Sign in again.',
};

/** The words for one field of a form, or undefined when the failure is about another field or none. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiFailure) || error.param === '') return undefined;
  const isOfField =
    error.param === field || error.param.startsWith(`${field}.`) || error.param.startsWith(`${field}[`);
  if (!isOfField) return undefined;
  const reason = error.message.split(`${error.param} `).at(-1) ?? error.message;
  if (reason.includes('an https URL without credentials')) {
    const isLocal = reason.includes('an http URL of this machine');
    return `Write a whole address that begins with https://${isLocal ? ' or http://localhost' : ''}, without a name or password in it.`;
  }
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
}
