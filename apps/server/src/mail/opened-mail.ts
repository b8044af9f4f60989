import type { MailMessage } from './smtp.ts';

/** An e-mail that a worker has leased. */
export interface OpenedMail {
  readonly kind: string;
  /** Undefined: it is about a person and no merchant. */
  readonly merchantId: string | undefined;
  readonly recipient: string;
  readonly language: string;
  /** The JSON that was stored with the fact. */
  readonly data: string;
  readonly at: Date;
  /** What else this e-mail tells, later and of the same kind. */
  readonly others?: readonly { readonly data: string; readonly at: Date }[];
}

/** Writes the texts of an e-mail. Undefined: its recipient no longer wants it. */
export type ComposeMail = (
  mail: OpenedMail,
) => Promise<Omit<MailMessage, 'to' | 'messageId' | 'date'> | undefined>;
