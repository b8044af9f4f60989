import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Address, type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** An e-mail as it arrived, with its parts decoded. */
export interface MailboxMail {
  /** 1 for the first one. */
  readonly number: number;
  /** The recipients that the sender named to the server. */
  readonly to: readonly string[];
  readonly fromName: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAt: Date;
}

/** An SMTP server on loopback that keeps what it gets. */
export interface Mailbox {
  readonly port: number;
  /** Newest first; the last few hundred. */
  mails(): readonly MailboxMail[];
  /** The answer to a recipient, such as `550 5.1.1 no such user`; undefined takes it. */
  answerRecipient: (address: string) => string | undefined;
  close(): Promise<void>;
}

const maxMails = 300;
const maxBytes = 2 ** 20;

/** Starts a mailbox on a port of 127.0.0.1; 0 takes a free one. */
export async function startMailbox(options: {
  readonly port: number;
  readonly now: () => Date;
}): Promise<Mailbox> {
  const mails: MailboxMail[] = [];
  let count = 0;
  const server = new SMTPServer({
    authOptional: true,
    // The local world has no certificate, and the connection does not leave the machine.
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    size: maxBytes,
    onRcptTo({ address }, _session, callback) {
      const answer = mailbox.answerRecipient(address);
      if (answer === undefined) return callback();
      const [code = '550', ...words] = answer.split(' ');
      callback(Object.assign(new Error(words.join(' ')), { responseCode: Number(code) }));
    },
    onData(stream, { envelope }, callback) {
      const to = envelope.rcptTo.map(({ address }) => address);
      keep(stream, to).then(() => callback(), callback);
    },
  });
  server.listen(options.port, '127.0.0.1');
  await once(server.server, 'listening');

  async function keep(stream: NodeJS.ReadableStream, to: readonly string[]): Promise<void> {
    const email = await PostalMime.parse(await buffer(stream));
    count += 1;
    mails.unshift(mailOf(email, { to, number: count, receivedAt: options.now() }));
    mails.length = Math.min(mails.length, maxMails);
  }

  const mailbox: Mailbox = {
    port: (server.server.address() as AddressInfo).port,
    mails: () => mails,
    answerRecipient: () => undefined,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mailbox;
}

function mailOf(email: Email, known: Pick<MailboxMail, 'to' | 'number' | 'receivedAt'>): MailboxMail {
  const from: Address | undefined = email.from;
  return {
    ...known,
    fromName: from?.name ?? '',
    from: from?.address ?? '',
    subject: email.subject ?? '',
    text: email.text ?? '',
    html: email.html ?? '',
    headers: Object.fromEntries(email.headers.map(({ key, value }) => [key, value])),
  };
}
