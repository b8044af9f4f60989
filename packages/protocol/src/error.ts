/**
 * The one catalogue of errors: every non-zero `code` that Florin answers, with its HTTP status, text and
 * whether the same request may succeed later. The specification leaves the numbers open; they are fixed here.
 */
export interface ErrorEntry {
  readonly code: number;
  readonly http: number;
  /** The text before the colon of `Text: detail`. */
  readonly text: string;
  readonly retryable: boolean;
  /** Reserved: no operation of this version answers it. */
  readonly reserved?: true;
}

function entry(code: number, text: string, http = 200, retryable = false): ErrorEntry {
  return { code, http, text, retryable };
}

function reserved(code: number, text: string): ErrorEntry {
  return { ...entry(code, text), reserved: true };
}

export const errorCatalogue = {
  link_not_found: entry(100101, 'Payment link not found'),
  link_archived: entry(100102, 'Payment link archived'),
  link_not_active: entry(100103, 'Payment link not active'),
  link_version_invalid: entry(100104, 'Invalid payment link version'),
  link_items_mismatch: entry(100105, 'Link type does not match line items'),
  session_not_found: entry(100201, 'Session not found'),
  client_code_invalid: entry(100202, 'Client code invalid'),
  session_expired: entry(100203, 'Session expired'),
  session_paid: entry(100204, 'Session already paid'),
  session_cancelled: entry(100205, 'Session cancelled'),
  payer_mismatch: entry(100206, 'Payer mismatch'),
  session_already_signed: entry(100207, 'Payment already signed'),
  expiration_out_of_range: entry(100208, 'Expiration time out of range'),
  amount_out_of_range: entry(100209, 'Amount out of range'),
  product_not_found: entry(100301, 'Product not found'),
  products_missing: entry(100302, 'Some products not found'),
  products_not_active: entry(100303, 'Some products not active'),
  product_not_active: entry(100304, 'Product not active'),
  product_used: entry(100305, 'Product has been used by a payment link'),
  product_removed: entry(100306, 'Product removed'),
  product_changed: entry(100307, 'Product changed'),
  branding_changed: entry(100308, 'Branding changed'),
  account_not_found: entry(100401, 'Account not found'),
  account_removed: entry(100402, 'Account removed'),
  account_version_changed: entry(100403, 'Account version changed'),
  settlement_token_not_enabled: entry(100404, 'Settlement token not enabled on the account'),
  account_limit: entry(100405, 'Account limit reached'),
  webhook_not_found: entry(100501, 'Webhook not found'),
  webhook_limit: entry(100502, 'Webhook limit reached'),
  webhook_url_not_allowed: entry(100503, 'Webhook URL not allowed'),
  event_type_unknown: entry(100504, 'Unknown event type'),
  delivery_not_found: entry(100505, 'Delivery not found'),
  event_not_found: entry(100506, 'Event not found'),
  webhook_changed: entry(100507, 'Webhook changed'),
  signature_invalid: entry(100601, 'Invalid signature'),
  authorization_expired: entry(100602, 'Authorization expired'),
  authorization_too_far: entry(100603, 'Authorization expires too far ahead'),
  nonce_used: entry(100604, 'Nonce already used'),
  domain_chain_mismatch: reserved(100605, 'Domain chain does not match paymentChainId'),
  purpose_mismatch: entry(100606, 'Purpose mismatch'),
  merchant_mismatch: entry(100607, 'Merchant mismatch'),
  payment_token_unsupported: entry(100608, 'Payment token not supported'),
  amount_mismatch: entry(100609, 'Amount mismatch'),
  payer_email_required: entry(100610, 'Payer email required'),
  payer_not_served: entry(100611, 'Payer cannot be served'),
  method_not_available: entry(100612, 'Payment method not available'),
  order_already_paid: entry(100613, 'Order already paid'),
  refund_exceeds: entry(100701, 'Refund exceeds the refundable amount'),
  refund_not_possible: entry(100702, 'Not refundable in this state'),
  refund_not_found: entry(100703, 'Refund not found'),
  exception_not_found: entry(100704, 'Exception not found'),
  exception_decided: entry(100705, 'Exception already decided'),
  exception_not_acceptable: entry(100706, 'Exception cannot be decided'),
  exception_undecided: entry(100707, 'Exception waits for a decision'),
  report_not_found: entry(100709, 'Report not found'),
  refund_being_signed: entry(100710, 'Refund is being signed'),
  refund_not_cancellable: entry(100711, 'Refund cannot be cancelled'),
  member_not_found: entry(100801, 'Member not found'),
  last_owner: entry(100802, 'The last owner cannot go'),
  invitation_invalid: entry(100803, 'Invalid invitation'),
  invitation_not_found: entry(100804, 'Invitation not found'),
  member_exists: entry(100805, 'Already a member'),
  api_key_not_found: entry(100806, 'API key not found'),
  account_change_not_found: entry(100807, 'Account change not found'),
  merchant_not_found: entry(100808, 'Merchant not found'),
  merchant_suspended: entry(100809, 'Merchant suspended'),
  member_changed: entry(100810, 'Member changed'),
  merchant_changed: entry(100811, 'Merchant changed'),
  authorization_header_malformed: entry(200101, 'Missing or malformed Authorization header', 401),
  api_key_invalid: entry(200102, 'Invalid, expired or revoked API key', 401),
  api_key_forbidden: entry(200103, 'API key lacks permission', 403),
  sign_in_required: entry(200201, 'Sign-in required', 401),
  sign_in_failed: entry(200202, 'Sign-in failed', 401),
  second_factor_required: entry(200203, 'Second factor required', 403),
  fresh_proof_required: entry(200204, 'Sign in again to confirm', 403),
  role_forbidden: entry(200205, 'Role lacks permission', 403),
  origin_forbidden: entry(200206, 'Origin not allowed', 403),
  json_malformed: entry(400100, 'Malformed JSON', 400),
  field_invalid: entry(400101, 'Invalid field'),
  body_too_large: entry(400110, 'Request body too large', 413),
  media_type_unsupported: entry(400111, 'Unsupported media type', 415),
  currency_unsupported: entry(400201, 'Unsupported currency'),
  channel_unsupported: entry(400202, 'Unsupported chain'),
  route_unavailable: reserved(400203, 'No settlement route'),
  stat_not_found: reserved(400301, 'Statistic not found'),
  idempotency_key_reused: entry(400401, 'Idempotency key reused with another body', 422),
  idempotency_in_flight: entry(400402, 'A request with this idempotency key is in flight', 409, true),
  route_unknown: entry(404000, 'Unknown route', 404),
  method_not_allowed: entry(405000, 'Method not allowed', 405),
  rate_limited: entry(900101, 'Too many requests', 429, true),
  create_failed: entry(900201, 'Creating the record failed', 200, true),
  update_failed: entry(900202, 'Updating the record failed', 200, true),
  query_failed: entry(900203, 'Querying the record failed', 200, true),
  image_store_unavailable: entry(900301, 'Image store unavailable', 200, true),
  chain_unavailable: entry(900401, 'Chain temporarily unavailable', 503, true),
  internal: entry(999999, 'Internal error', 500, true),
} as const satisfies Record<string, ErrorEntry>;

/** The slug of one entry of the catalogue, as `error.slug` carries it. */
export type ErrorName = keyof typeof errorCatalogue;

export interface RefusalDetails {
  /** The text after the colon; public, never with secrets. */
  readonly detail?: string;
  /** The field path that the error is about, as `lineItems[0].unitPrice`. */
  readonly param?: string | undefined;
  /** Machine-readable help answered as `data`, such as the current quote. */
  readonly data?: unknown;
  readonly retryAfterSeconds?: number;
}

/** An expected failure from the catalogue. Any other thrown error is a bug or an outage. */
export class Refusal extends Error {
  readonly slug: ErrorName;
  readonly details: RefusalDetails;

  constructor(slug: ErrorName, details: RefusalDetails | string = {}) {
    const full = typeof details === 'string' ? { detail: details } : details;
    const text = errorCatalogue[slug].text;
    super(full.detail === undefined ? text : `${text}: ${full.detail}`);
    this.name = 'Refusal';
    this.slug = slug;
    this.details = full;
  }
}

/** Whether a chain could not be asked (900401): a retry may succeed, and other chains are not affected. */
export function isChainUnavailable(error: unknown): error is Refusal {
  return error instanceof Refusal && error.slug === 'chain_unavailable';
}

/** Refuses one field: code 400101 with `path reason`. */
export function fieldRefusal(path: string, reason: string): Refusal {
  return new Refusal('field_invalid', { param: path, detail: `${path} ${reason}` });
}
