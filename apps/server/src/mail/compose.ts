import type { Chains } from '#chains/chain.ts';
import { composeAccessMail, isAccessKind } from './access-mail.ts';
import { composeChosenMail, isChosenKind } from './chosen-mail.ts';
import { composeMemberMail } from './member-mail.ts';
import type { ComposeMail } from './opened-mail.ts';
import { composePayerMail } from './payer-mail.ts';
import { composeWeeklyMail, type WeeklyMailContext } from './weekly-mail.ts';

/** Writes e-mails of every kind. */
export function mailComposer(deps: WeeklyMailContext & { readonly chains: Chains }): ComposeMail {
  return (mail) => {
    const { kind, merchantId } = mail;
    if (kind === 'receipt' || kind === 'refund') return composePayerMail(deps, mail);
    if (kind === 'weekly_summary') return composeWeeklyMail(deps, mail);
    // A recovery is told to the person, and to the owners of a merchant.
    if (merchantId !== undefined && isAccessKind(kind)) return composeAccessMail(deps, mail);
    return isChosenKind(kind) ? composeChosenMail(deps, { ...mail, kind }) : composeMemberMail(deps, mail);
  };
}
