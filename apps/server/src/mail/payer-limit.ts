import type { Queryable } from '@florin/pg';
import { daysBefore } from '#outside/clock.ts';
import * as sql from './mail.sql.ts';

/**
 * The most e-mails to payers within 24 hours: to one address, for the payments of one wallet, and of one merchant unless the
 * operator sets another number. A payment costs little and names any address, so without limits it would be a way to send
 * advertisements, or to fill a mailbox.
 */
export const payerMailLimits = { toAddress: 20, byWallet: 20, ofMerchant: 1_000 } as const;

/**
 * Payments and returns of at least this many Micro-USD are told beyond the limit of their merchant. Otherwise a stranger who makes
 * very small payments from many wallets would cost all other payers of the merchant their receipts.
 */
const unlimitedValue = 5_000_000;

/**
 * Why an e-mail is one too many for its payer; undefined: it is not. E-mails to members have no such limit.
 *
 * @param data What the e-mail tells of, as JSON.
 */
export async function excessOf(
  db: Queryable,
  mail: sql.LeasedMail,
  { data, ofMerchant = payerMailLimits.ofMerchant }: { data: string; ofMerchant: number | undefined },
): Promise<string | undefined> {
  const { mail_id: mailId, kind, recipient, payer, merchant_id: merchantId, created_at: at } = mail;
  if (kind !== 'receipt' && kind !== 'refund') return undefined;
  const [row] = await db.query(sql.countPayerMails, {
    ...{ mailId, recipient, payer, merchantId: merchantId ?? '', since: daysBefore(at, 1) },
  });
  const { toAddress, byWallet } = payerMailLimits;
  const { session, returned } = JSON.parse(data) as {
    readonly session: { readonly amount: number };
    readonly returned?: { readonly value: number };
  };
  // Money that went back has not paid the price of its session.
  const moved = returned === undefined ? session.amount : returned.value;
  const tooMany = (sent: bigint | undefined, most: number, whose: string) =>
    Number(sent ?? 0n) >= most ? `${whose} had ${most} e-mails to payers in 24 hours` : undefined;
  return (
    tooMany(row?.to_address, toAddress, 'its address') ??
    (payer === '' ? undefined : tooMany(row?.by_wallet, byWallet, 'its wallet')) ??
    (moved >= unlimitedValue ? undefined : tooMany(row?.of_merchant, ofMerchant, 'its merchant'))
  );
}
