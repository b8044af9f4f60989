import { randomBytes } from 'node:crypto';
import { type Mailbox, type MailboxMail, startMailbox } from '@florin/world';
import { findChosenRecipients } from '#mail/chosen-mail.ts';
import { mailComposer } from '#mail/compose.ts';
import { type MailWorker, sendDue } from '#mail/mail.ts';
import { invitedTeller, mailNotifier, ownerTeller, personTeller } from '#mail/notify.ts';
import { receiptSender, type SendReceipt } from '#mail/receipt-again.ts';
import { smtpTransport } from '#mail/smtp.ts';
import { unsubscribeLinks } from '#mail/unsubscribe.ts';
import type { TellInvited, TellOwners, TellPerson } from '#members/context.ts';
import { systemRandom } from '#outside/random.ts';
import { secretBox } from '#outside/secret-box.ts';
import { silentLog } from '#telemetry/log.ts';
import type { Notify } from '#webhooks/outbox.ts';
import type { MerchantWorld } from './merchant-fixture.ts';

const origin = 'https://pay.example.com';

/** A mailbox beside a world whose facts are told by e-mail. */
export class MailWorld {
  readonly mailbox: Mailbox;
  readonly links: ReturnType<typeof unsubscribeLinks>;
  readonly tellers: {
    readonly notify: Notify;
    readonly tellPerson: TellPerson;
    readonly tellInvited: TellInvited;
    readonly sendReceipt: SendReceipt;
    readonly tellOwners: TellOwners;
  };
  readonly #merchants: MerchantWorld;
  readonly #lastSeen = new Map<string, number>();
  readonly #secrets: MailWorker['secrets'];

  private constructor(merchants: MerchantWorld, mailbox: Mailbox) {
    const masterKeys = [randomBytes(32)] as const;
    this.mailbox = mailbox;
    this.links = unsubscribeLinks(origin, masterKeys);
    this.#merchants = merchants;
    this.#secrets = secretBox(masterKeys);
    const deps = { random: systemRandom, secrets: this.#secrets };
    this.tellers = {
      notify: mailNotifier(deps),
      tellPerson: personTeller(deps),
      tellInvited: invitedTeller(deps),
      sendReceipt: receiptSender(deps, origin),
      tellOwners: ownerTeller(deps),
    };
    Object.assign(merchants.deps, this.tellers);
  }

  static async open(merchants: MerchantWorld): Promise<MailWorld> {
    return new MailWorld(merchants, await startMailbox({ port: 0, now: merchants.clock.now }));
  }

  /** A worker as the service has it. */
  worker(change: Partial<MailWorker> = {}, port = this.mailbox.port): MailWorker {
    const { database, clock, deps } = this.#merchants;
    const { db } = database;
    const from = { from: 'pay@florin.test', fromName: 'Florin' };
    return {
      ...{ db, clock, log: silentLog, random: systemRandom, secrets: this.#secrets, domain: 'florin.test' },
      transport: smtpTransport({ host: '127.0.0.1', port, security: 'none', ...from }),
      recipientsOf: findChosenRecipients,
      compose: mailComposer({
        ...{ db, chains: deps.chains, fromName: 'Florin', dashboardOrigin: origin, unsubscribe: this.links },
      }),
      ...change,
    };
  }

  /** Sends what is due. The second round sends the e-mails that the first one made of rows for all members. */
  async sendAll(): Promise<void> {
    while (await sendDue(this.worker()));
    while (await sendDue(this.worker()));
  }

  /** Sends what waits some minutes for more of its kind, too. */
  async sendGathered(): Promise<void> {
    await this.sendAll();
    const { clock } = this.#merchants;
    const later = { ...clock, now: () => new Date(clock.now().getTime() + 11 * 60_000) };
    while (await sendDue(this.worker({ clock: later })));
  }

  /** The e-mails to an address that were sent since the last look, oldest first. */
  newMailsTo(address: string): MailboxMail[] {
    const last = this.#lastSeen.get(address) ?? 0;
    const mails = this.mailsTo(address).filter(({ number }) => number > last);
    this.#lastSeen.set(address, this.mailbox.mails()[0]?.number ?? 0);
    return mails.toReversed();
  }

  /** Newest first. */
  mailsTo(address: string): MailboxMail[] {
    return this.mailbox.mails().filter(({ to }) => to.includes(address));
  }

  close(): Promise<void> {
    return this.mailbox.close();
  }
}
