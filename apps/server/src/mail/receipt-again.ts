import type { Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { randomBase62 } from '@florin/protocol/id.ts';
import { parseEmail } from '#members/email.ts';
import { daysBefore } from '#outside/clock.ts';
import { fullView, type StoredSessionView, sessionViewJson } from '#sessions/session-json.ts';
import { countReceiptsAgain } from './mail.sql.ts';
import { type MailContext, storeMail } from './mail.ts';
import { withoutSecret } from './notify.ts';

/** Sends the receipt of a payment to its payer once more. */
export type SendReceipt = (
  transaction: Transaction,
  request: { readonly merchantId: string; readonly view: StoredSessionView; readonly at: Date },
) => Promise<void>;

/** Receipts that a shop has sent again for one payment within a day. More would be a way to fill a mailbox. */
const maxOfDay = 3;

/**
 * Stores the receipt's e-mail, to the address that the payer gave. Refuses a session that has no payment or no address (400101),
 * and more than three of one payment within a day (900101). The limits of all e-mails to payers hold, too.
 */
export function receiptSender(deps: MailContext, origin: string): SendReceipt {
  return async (transaction, { merchantId, view, at }) => {
    const { session, order } = view;
    const { sessionId } = session;
    const recipient = parseEmail(session.payerEmail);
    if (recipient === undefined || order === undefined || session.paymentSucceededAt === undefined)
      throw fieldRefusal('sessionId', 'names no payment whose payer gave an e-mail address');
    const fact = `session.paid:${sessionId}:`;
    const range = { from: fact, to: `session.paid:${sessionId};`, since: daysBefore(at, 1) };
    const [row] = await transaction.query(countReceiptsAgain, range);
    if (Number(row?.sent ?? 0n) >= maxOfDay)
      throw new Refusal('rate_limited', {
        detail: `the receipt was sent ${maxOfDay} times again within a day`,
        retryAfterSeconds: 86_400,
      });
    await storeMail(transaction, deps, {
      ...{ merchantId, recipient, orderId: order.orderId, at, kind: 'receipt' },
      payer: order.order.payer.toLowerCase(),
      data: withoutSecret(JSON.parse(sessionViewJson(view, fullView(origin)))),
      fact: `${fact}${randomBase62(deps.random.bytes)}`,
    });
  };
}
