import type { ErrorName } from './error.ts';

/** The meaning of an error, and what its reader should do. */
export interface ErrorAdvice {
  readonly meaning: string;
  readonly remedy: string;
}

function advice(meaning: string, remedy: string): ErrorAdvice {
  return { meaning, remedy };
}

const again = 'Send the same request again; on a POST with the same Idempotency-Key. Nothing was changed.';

/** Advice for every error of the catalogue: the pages of the documentation, and `remedy` of every failed answer. */
export const errorAdvice: Readonly<Record<ErrorName, ErrorAdvice>> = {
  link_not_found: advice(
    'No payment link of this merchant has this id.',
    'Check the id; ids are case-sensitive and belong to one merchant.',
  ),
  link_archived: advice(
    'The payment link was deleted.',
    'Use another link. A deleted link cannot be restored.',
  ),
  link_not_active: advice(
    'The payment link is disabled and starts no sessions. `limit_reached` and `ended` say that its limit disabled it.',
    'Enable it with POST /payment/link/enable, after a change of a limit that is reached; or show the payer its customDisabledText.',
  ),
  link_version_invalid: advice(
    'The link was edited after the payer had read it: linkVersion is not its current version. Or it was edited since the merchant read it: ifUpdateAt is not its updateAt.',
    '`data.latest` holds the current view. Check the new terms, sign a new message and send it. A merchant reads the link again, and repeats the update with its new updateAt if it still applies.',
  ),
  link_items_mismatch: advice(
    'The line items do not fit the type of the link.',
    'A `fixed` link takes `product` items with a price, a `custom` link exactly one `user_priced` item.',
  ),
  session_not_found: advice('No session has this id for this caller.', 'Check the id.'),
  client_code_invalid: advice(
    'The secret of the hosted page is wrong.',
    'Open the whole paymentUrl, with the part after `#`.',
  ),
  session_expired: advice(
    'The session was not paid in time and is closed.',
    'Create a new session. A payment sent before the deadline still counts, by its chain’s time.',
  ),
  session_paid: advice(
    'The session is already paid, settling or completed.',
    'Read the session; do not pay again.',
  ),
  session_cancelled: advice('The merchant cancelled the session.', 'Create a new session.'),
  payer_mismatch: advice(
    'The session belongs to another payer.',
    'Sign with the wallet that the session was created for, or create a session for this one.',
  ),
  session_already_signed: advice(
    'An order was signed for a payer, who may be paying now.',
    'Wait for the payment, or until the session expires. You can cancel earlier, once a final block of each chain is later than every order’s deadline.',
  ),
  expiration_out_of_range: advice(
    'expirationTime is less than 1800 seconds ahead, with 5 seconds of tolerance, or more than 30 days.',
    'Send Unix seconds within that range, or leave it out: 30 minutes is the default.',
  ),
  amount_out_of_range: advice(
    'The total is over ten million dollars, over a limit of the API key, or too small or too large for every route.',
    'The message names the limit. Where it is a token’s, GET /capabilities/all lists those of every route; where it is the key’s, a key with another limit replaces it.',
  ),
  product_not_found: advice('None of the named products exists.', 'Check the ids.'),
  products_missing: advice('Some of the named products do not exist.', 'Check the ids in the message.'),
  products_not_active: advice(
    'Some of the named products are archived.',
    'Unarchive them with POST /product/unarchive, or leave them out.',
  ),
  product_not_active: advice(
    'All of the named products are archived.',
    'Unarchive it with POST /product/unarchive.',
  ),
  product_used: advice(
    'A payment link has used the product, so it cannot be removed any more.',
    'Archive it instead.',
  ),
  product_removed: advice('The product was removed.', 'Create a new one.'),
  product_changed: advice(
    'The product was changed since it was read: ifUpdateAt is not its updateAt.',
    'Read the product again, and repeat the update with its new updateAt if it still applies.',
  ),
  branding_changed: advice(
    'The branding was changed since it was read: ifUpdateAt is not its updateAt.',
    'Read the branding again, and repeat the update with its new updateAt if it still applies.',
  ),
  account_not_found: advice(
    'No collection account of this merchant has this id.',
    'Take accountId from GET /account/list.',
  ),
  account_removed: advice(
    'The collection account was removed.',
    'Choose another account. If the same address is added again, it has a new accountId.',
  ),
  account_version_changed: advice(
    'The account has changed since it was read.',
    'Read the account again, and repeat the request with its new updateAt if it still applies.',
  ),
  settlement_token_not_enabled: advice(
    'The account does not take settlements in this token.',
    'Choose one of its settlementCurrencies.',
  ),
  account_limit: advice('The merchant has 20 accounts.', 'Remove one that is no longer used.'),
  webhook_not_found: advice(
    'No webhook of this merchant has this id.',
    'Take webhookId from GET /webhook/list.',
  ),
  webhook_limit: advice('The merchant has 10 webhooks.', 'Remove or change one.'),
  webhook_url_not_allowed: advice(
    'The URL is not https, carries credentials, or leads to a private address.',
    'Use a public https address without a user name in it.',
  ),
  event_type_unknown: advice(
    'No event has this type.',
    'Use a name or a pattern from the page about event types; the message names the unknown one.',
  ),
  delivery_not_found: advice(
    'No delivery of this merchant has this id.',
    'Take deliveryId from GET /webhook/delivery/list/:webhookId/:page/:size.',
  ),
  event_not_found: advice(
    'No event of this merchant has this id, or it is older than 90 days.',
    'Check the id.',
  ),
  webhook_changed: advice(
    'The webhook was changed since it was read: ifUpdateAt is not its updateAt.',
    'Read the webhook again, and repeat the update with its new updateAt if it still applies.',
  ),
  signature_invalid: advice(
    'The signature is not that of the payer over exactly this message.',
    'Sign the typed data of the previous answer, with domain.chainId = paymentChainId, and send the message as signed.',
  ),
  authorization_expired: advice(
    'authorizationExpiresAt has passed.',
    'Read the link or the session again and sign the new messageTemplate.',
  ),
  authorization_too_far: advice(
    'authorizationExpiresAt is more than 3900 seconds ahead.',
    'Sign with an earlier expiry; templates use 900 seconds.',
  ),
  nonce_used: advice(
    'The payer has used this nonce for another request.',
    'Use a new random nonce. Sending exactly the same message and signature again is safe and gets the same answer.',
  ),
  domain_chain_mismatch: advice(
    'The chain of the signing domain is not paymentChainId.',
    'Use the same chain in both.',
  ),
  purpose_mismatch: advice(
    'The message is meant for another operation.',
    'Sign `create_payment_session` or `prepare_payment`, as the previous answer says.',
  ),
  merchant_mismatch: advice(
    'merchantId is not that of the link or the session.',
    'Copy merchantId from the view.',
  ),
  payment_token_unsupported: advice(
    'This token does not pay for this link or session on this chain.',
    'Choose one of supportedPaymentTokens.',
  ),
  amount_mismatch: advice(
    'The signed amount differs from the quote.',
    '`data` holds the current quote. Sign its amount.',
  ),
  payer_email_required: advice(
    'The merchant asks for an e-mail address.',
    'Put it into payerEmail and sign.',
  ),
  payer_not_served: advice('This installation does not serve this payer.', 'Pay from another wallet.'),
  method_not_available: advice(
    'This way of paying is not available here. Or an order is signed that pays the merchant directly: then no other chain gets an order for this session, because both could be paid.',
    'Choose another of the offered methods. Pay on the first chosen chain, or start a new session.',
  ),
  order_already_paid: advice(
    'A payment for this session is already on its chain, or the session was paid in another way.',
    'Read the session; do not pay again.',
  ),
  refund_exceeds: advice(
    'The refund is larger than what is left of the payment. Refunds that wait for a signature count.',
    'Request a smaller refund, or cancel one that waits: `POST /refund/cancel`.',
  ),
  refund_not_possible: advice(
    'Nothing can be refunded now: the session is not paid, is being settled, or is refunded already. Or the exception is resolved, or no second payment that was settled to you.',
    'Read the session, its refunds and its exceptions.',
  ),
  refund_not_found: advice('No refund of this merchant has this id.', 'Check the id.'),
  report_not_found: advice(
    'No report of this merchant has this id, or it is older than 24 hours.',
    'Order the report again.',
  ),
  refund_being_signed: advice(
    'Another member’s wallet was asked to sign a refund of this payment, and may have sent it.',
    'Ask that member. If the wallet sent nothing, sign again in its place; the signing ends when that wallet declines, and then the refund can be cancelled.',
  ),
  refund_not_cancellable: advice(
    'The refund waits for no wallet: the platform sends it, it is completed, or it failed. Or the chain shows its return, which is not final yet.',
    'Read the refund again in a minute: the message names its status, or the transaction.',
  ),
  exception_not_found: advice('No exception of this merchant has this id.', 'Check the id.'),
  exception_decided: advice(
    'You or the link’s policy have already made the other decision about this exception.',
    'Read the exception: `decision` holds the decision that counts.',
  ),
  exception_not_acceptable: advice(
    'The exception is resolved, needs no decision, or its `decideBy` has passed. Or the deposit lacks more than the operator adds now.',
    'Nothing to do: the deposit can only go back to its payer. The service sends it back when it is worth a transaction.',
  ),
  exception_undecided: advice(
    'The exception waits for your decision, so it cannot be marked as resolved. Its money lies at the deposit address, and goes back to the payer when `decideBy` has passed.',
    'Decide: `POST /exception/accept` or `POST /exception/refund`. Or wait until `decideBy`.',
  ),
  member_not_found: advice('The merchant has no such member.', 'Read the list of members again.'),
  last_owner: advice('Every merchant keeps at least one owner.', 'Make another member an owner first.'),
  invitation_invalid: advice(
    'The link is unknown, was used or revoked, is older than a week, or is for another e-mail address than that of the account.',
    'Sign in with the account of the address that was invited, or ask for a new link.',
  ),
  invitation_not_found: advice(
    'The merchant has no open invitation with this id.',
    'Read the list of invitations again.',
  ),
  member_exists: advice(
    'The person is already a member of the merchant.',
    'Change the role of the member instead.',
  ),
  account_change_not_found: advice(
    'The merchant adds no such wallet, or it took effect or was cancelled meanwhile.',
    'Read the list of account changes again.',
  ),
  merchant_not_found: advice('The installation has no such merchant.', 'Read the list of merchants again.'),
  merchant_suspended: advice(
    'The operator of the installation has suspended the merchant: it gets no new sessions. Open ones go on.',
    'Ask the operator.',
  ),
  member_changed: advice(
    'The member has another role since it was read: ifRole is not the role.',
    'Read the members again, and repeat the change with the new role if it still applies.',
  ),
  merchant_changed: advice(
    'The merchant has another name since it was read: ifMerchantName is not the name.',
    'Read the name again, and repeat the change with it if it still applies.',
  ),
  api_key_not_found: advice('The merchant has no API key with this id.', 'Read the list of keys again.'),
  authorization_header_malformed: advice(
    'The header Authorization is missing or is not `Bearer`, one space and a key.',
    'Send `Authorization: Bearer sk_live_…` with exactly one space.',
  ),
  api_key_invalid: advice(
    'The key is unknown, expired or revoked. The answer does not say which.',
    'Use another key, and check it for typing errors: keys carry a checksum.',
  ),
  api_key_forbidden: advice(
    'The key may not do this; the message names the permission.',
    'Use a key that has the permission.',
  ),
  sign_in_required: advice(
    'The request has no session of the dashboard, or its session has ended or was revoked.',
    'Sign in.',
  ),
  sign_in_failed: advice(
    'The name and the proof do not belong together. The answer does not say which of them is wrong.',
    'Check both, or use a recovery code.',
  ),
  second_factor_required: advice(
    'In production a password alone opens only the page on which a passkey or a second factor is added.',
    'Add a passkey or a second factor, or sign in with one.',
  ),
  fresh_proof_required: advice(
    'The act is sensitive, and the last proof of who acts is older than five minutes.',
    'Sign in again with the passkey, or with password and second factor, and repeat the request.',
  ),
  role_forbidden: advice(
    "The member's role may not do this; the message names what is missing.",
    'Ask an owner or an admin of the merchant.',
  ),
  origin_forbidden: advice(
    'A page of another origin sent a request to the dashboard.',
    'Use the dashboard itself. Programs use the merchant API with an API key.',
  ),
  json_malformed: advice(
    'The body is missing, is not JSON, is not UTF-8 or is nested deeper than 16 levels, or the request is not HTTP.',
    'Send one JSON object in UTF-8.',
  ),
  field_invalid: advice(
    'A field of the path, the query or the body breaks its rule or is unknown.',
    '`error.param` is the path of the field and the message its rule. Unknown fields are refused so that a typo never resets a field.',
  ),
  body_too_large: advice('The body has more than 256 KiB.', 'Send less; metadata takes at most 16 KiB.'),
  media_type_unsupported: advice(
    'The body is not declared as JSON, or it is compressed.',
    'Send `Content-Type: application/json` and no Content-Encoding.',
  ),
  currency_unsupported: advice(
    'This installation has no such token.',
    'Choose a tokenId of GET /capabilities/all.',
  ),
  channel_unsupported: advice(
    'This installation has no such chain.',
    'Choose a chain of GET /capabilities/all.',
  ),
  route_unavailable: advice(
    'No route leads from one of these tokens to the other.',
    'Choose a pair of tokens from GET /capabilities/all.',
  ),
  stat_not_found: advice('There is no such statistic.', 'Check the name.'),
  idempotency_key_reused: advice(
    'Another body was sent with this Idempotency-Key within the last 30 days.',
    'Use a new key for a new request, and the same body for a retry.',
  ),
  idempotency_in_flight: advice(
    'The first request with this Idempotency-Key is still running.',
    'Wait for Retry-After and send the same request again.',
  ),
  route_unknown: advice(
    'There is nothing at this path.',
    'Check the path. The merchant API begins with `/payment/v1`, the AI protocol with `/aipay/api/v1`.',
  ),
  method_not_allowed: advice('The path exists, with another method.', 'The header Allow names the methods.'),
  rate_limited: advice(
    'The caller sends too many requests, or the payer has too many open sessions.',
    'Wait for Retry-After, then send the same request again.',
  ),
  create_failed: advice('The database could not store the record now.', again),
  update_failed: advice('The database could not change the record now.', again),
  query_failed: advice('The database did not answer.', 'Send the same request again.'),
  image_store_unavailable: advice(
    'The image could not be stored now. The image itself is not the cause.',
    again,
  ),
  chain_unavailable: advice(
    'No node of the chain answers, or the chain is halted or not verified, so it takes no new payments.',
    'Choose a token of another chain, or wait for Retry-After, then send the same request again with the same nonce.',
  ),
  internal: advice(
    'An unexpected error occurred. The log has its details.',
    'Try again. If it happens again, tell the operator the requestId.',
  ),
};
