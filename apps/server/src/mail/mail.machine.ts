import type { mailStatuses } from '@florin/protocol/mail-api.ts';

/**
 * pending: waits for its next attempt. sent: the mail server has it. failed: given up. bounced: the mail server knows no such
 * address. suppressed: not sent, because the address had bounced before, its member no longer wants it, or it was one too many.
 */
export type MailStatus = (typeof mailStatuses)[number];

export const mailTriggers = [
  /** The mail server took it. */
  'accepted',
  /** An attempt failed, and the schedule has another one. */
  'attempt_failed',
  'attempts_exhausted',
  /** The mail server refused this e-mail for good, but not its address. */
  'refused',
  /** The mail server refused the address for good. */
  'address_refused',
  /** The address bounced before this e-mail was sent. */
  'address_bounced_before',
  /** The member ended such e-mails after this one was stored. */
  'unwanted',
  /** Its payer's address, its wallet or its merchant had as many e-mails to payers as a day allows. */
  'too_many',
] as const;
export type MailTrigger = (typeof mailTriggers)[number];

/** Every move of an e-mail; all begin at pending. */
export const mailMoves: Readonly<Record<MailTrigger, MailStatus>> = {
  accepted: 'sent',
  attempt_failed: 'pending',
  attempts_exhausted: 'failed',
  refused: 'failed',
  address_refused: 'bounced',
  address_bounced_before: 'suppressed',
  unwanted: 'suppressed',
  too_many: 'suppressed',
};
