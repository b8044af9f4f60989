import { visibleText } from '@florin/protocol/visible-text.ts';

/** The operator's mail server, and the address that e-mails come from. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** `starttls` refuses a server that offers no TLS; `none` is for the local world. */
  readonly security: 'starttls' | 'tls' | 'none';
  /** Absent: the server asks for no password. */
  readonly login?: { readonly user: string; readonly password: string } | undefined;
  /** The address in From, and the envelope's sender. */
  readonly from: string;
  /** The operator's name in From, for e-mails to members. */
  readonly fromName: string;
  /** Certificate authorities in PEM for the server, instead of the system's. */
  readonly certificateAuthority?: string | undefined;
  /** The most e-mails to payers of one merchant in 24 hours; absent: the service's own number. */
  readonly payerMailsPerDay?: number | undefined;
}

/** An e-mail, ready to be written as MIME. All texts are single lines of visible characters, except the two parts. */
export interface MailMessage {
  /** The sender's shown name. */
  readonly fromName: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Without angle brackets. The same for each attempt, so that a mailbox can recognise a repetition. */
  readonly messageId: string;
  readonly date: Date;
  /** Where one POST ends e-mails of this kind (RFC 8058). */
  readonly unsubscribeUrl?: string | undefined;
}

/** What became of one attempt. `reason` may quote the recipient's address, so it is for the database and not for the log. */
export type SendOutcome =
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'attempt_failed' | 'refused' | 'address_refused';
      readonly reason: string;
      /** Without addresses. */
      readonly code: string;
    };

/** Sends e-mails over the operator's mail server. */
export interface MailTransport {
  send(message: MailMessage): Promise<SendOutcome>;
  /** Connects and signs in, and sends nothing. Throws what keeps it from working. */
  verify(): Promise<void>;
}

const connectTimeoutMs = 10_000;
/** Between two answers of the server. */
const answerTimeoutMs = 30_000;
const maxReason = 500;

/** A transport with a connection for each e-mail. TLS is at least 1.2, with the server's certificate checked. */
export function smtpTransport(settings: SmtpSettings): MailTransport {
  const { host, port, security, login, from, certificateAuthority: ca } = settings;
  // Loaded by the first e-mail.
  const transport = once(async () =>
    (await import('nodemailer')).createTransport({
      host,
      port,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
      ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password } }),
      connectionTimeout: connectTimeoutMs,
      greetingTimeout: connectTimeoutMs,
      socketTimeout: answerTimeoutMs,
      // Nothing in an e-mail may be read from files or fetched.
      disableFileAccess: true,
      disableUrlAccess: true,
    }),
  );
  return {
    async send(message) {
      try {
        await (await transport()).sendMail(mimeOf(from, message));
        return { kind: 'accepted' };
      } catch (error) {
        return outcomeOf(error);
      }
    },
    async verify() {
      await (await transport()).verify();
    },
  };
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open();
    return opened;
  };
}

/**
 * One line for a header, whatever was stored as a name. Mailboxes decode `=?utf-8?B?...?=` wherever it stands (RFC 2047), so
 * such a name would show another text. An equals sign of full width begins no encoded word.
 */
function headerText(text: string): string {
  return visibleText(text).replaceAll('=?', '\uff1d?');
}

function mimeOf(from: string, message: MailMessage) {
  const { fromName, to, subject, text, html, messageId, date, unsubscribeUrl } = message;
  return {
    // Addresses as objects: a text would be parsed, and a name could smuggle in another recipient.
    from: { name: headerText(fromName), address: from },
    to: { name: '', address: to },
    ...{ subject: headerText(subject), text, html, date },
    messageId: `<${messageId}>`,
    // The boundary follows from the e-mail, so that a repetition has the same bytes.
    baseBoundary: messageId.replace(/[^A-Za-z0-9]/g, '').slice(0, 32),
    headers: {
      // RFC 3834: no mailbox answers it by itself.
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl === undefined
        ? {}
        : {
            'List-Unsubscribe': `<${unsubscribeUrl}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }),
    },
  };
}

/**
 * Only a 5xx answer to the recipient condemns the address. One with the enhanced status 5.7 is about policy or relaying
 * (RFC 3463), so it condemns the e-mail alone. A refused login or sender is the operator's to mend: the attempt is repeated.
 */
function outcomeOf(error: unknown): SendOutcome {
  if (!(error instanceof Error)) throw error;
  const { responseCode, command, code, response } = error as Error & {
    readonly responseCode?: number;
    readonly command?: string;
    readonly code?: string;
    readonly response?: string;
  };
  const reason = (response ?? error.message).replace(/\s+/g, ' ').slice(0, maxReason);
  const short = [code ?? 'failed', command, responseCode].filter((part) => part !== undefined).join(' ');
  const isFinal = responseCode !== undefined && responseCode >= 500;
  if (isFinal && command === 'RCPT TO')
    return { kind: /^\d{3}[ -]5\.7\./.test(reason) ? 'refused' : 'address_refused', reason, code: short };
  if (isFinal && command === 'DATA') return { kind: 'refused', reason, code: short };
  return { kind: 'attempt_failed', reason, code: short };
}
