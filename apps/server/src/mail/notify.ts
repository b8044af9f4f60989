import type { Transaction } from '@florin/pg';
import type { Session } from '@florin/protocol/session.ts';
import type { PaymentTransaction } from '@florin/protocol/transaction.ts';
import { parseEmail } from '#members/email.ts';
import type { Fact, Notify } from '#webhooks/outbox.ts';
import { type MailContext, storePayerMail } from './mail.ts';

/** Stores the e-mails that tell facts, in the facts' transaction. Only a service with a mail server has it. */
export function mailNotifier(deps: MailContext): Notify {
  return async (transaction, facts) => {
    for (const fact of facts) {
      if (fact.type === 'session.paid' || fact.type === 'session.refunded')
        await tellPayer(transaction, deps, fact);
    }
  };
}

/** A payer who gave no address, or one that no mail server takes, is not told. */
async function tellPayer(transaction: Transaction, deps: MailContext, fact: Fact): Promise<void> {
  const { ownerId: merchantId, objectId, dataJson: data, at } = fact;
  const view = JSON.parse(data) as { readonly session: Session; readonly transaction?: PaymentTransaction };
  const recipient = parseEmail(view.session.payerEmail);
  if (recipient === undefined || view.transaction === undefined) return;
  const { orderId } = view.transaction;
  // Each refunded amount is a fact of its own.
  const isPaid = fact.type === 'session.paid';
  const what = isPaid ? '' : `:${view.session.refundedAmount}`;
  await storePayerMail(transaction, deps, {
    ...{ merchantId, recipient, orderId, data, at },
    fact: `${fact.type}:${objectId}${what}`,
    kind: isPaid ? 'receipt' : 'refund',
  });
}
