import { formatMoney } from '@florin/checkout';
import { keyWarningDays } from '@florin/protocol/permission.ts';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findShownMerchant } from '#catalog/branding.ts';
import { listRecipients } from '#members/notification.ts';
import { layOut, type MailContent, type MailRow } from './layout.ts';
import { choiceLink, english, type MemberMailContext } from './member-mail.ts';
import type { ComposeMail, OpenedMail } from './opened-mail.ts';
import type { UnsubscribeLinks } from './unsubscribe.ts';
import type { Sum, WeekFigures, WeekMailData } from './weekly-summary.ts';

export interface WeeklyMailContext extends MemberMailContext {
  readonly unsubscribe: UnsubscribeLinks;
}

/** Writes the summary of a week; undefined when its member no longer wants it. */
export async function composeWeeklyMail(
  { db, fromName, dashboardOrigin, unsubscribe }: WeeklyMailContext,
  mail: OpenedMail,
): ReturnType<ComposeMail> {
  const { userId, figures } = JSON.parse(mail.data) as WeekMailData;
  const merchantId = mail.merchantId ?? '';
  const members = await listRecipients(db, merchantId, 'weekly_summary');
  if (!members.some((member) => member.userId === userId)) return undefined;
  const shown = await findShownMerchant(db, merchantId);
  const merchant = merchantText(shown.merchantName, merchantTextLimits.linkName);
  const { received, settled } = figures;
  const title = `${merchant} received ${received.count === 0 ? 'nothing' : money(received)} last week`;
  const unsubscribeUrl = unsubscribe.urlOf({ merchantId, userId });
  const attention = attentionRows(figures);
  const content: MailContent = {
    ...english(fromName, title),
    paragraphs: [`From ${day(figures.from)} to ${day(figures.to)}, in UTC.`],
    rows: [
      ['Received', sumText(received, 'payment')],
      ['Received the week before', sumText(figures.receivedBefore, 'payment')],
      ['Settled to your wallets', sumText(settled, 'payment')],
      ...(settled.count === 0 ? [] : [['Fees of what was settled', money(figures.fees)] as const]),
      ['Refunded', sumText(figures.refunded, 'refund')],
    ],
    ...(attention.length === 0 ? {} : { more: { title: 'Needs attention now', rows: attention } }),
    button: { text: 'Open the dashboard', url: `${dashboardOrigin}/dashboard/${merchantId}` },
    footer: [`You get this e-mail because you chose the weekly summary of ${merchant}.`],
    footerLinks: [{ text: 'Stop this weekly summary', url: unsubscribeUrl }, choiceLink(dashboardOrigin)],
  };
  return { fromName, subject: title, ...layOut(content), unsubscribeUrl };
}

function attentionRows(figures: WeekFigures): MailRow[] {
  const { exceptions, pausedWebhooks, delayedSettlements, expiringKeys } = figures;
  const rows = [
    ['Open exceptions', exceptions],
    ['Delayed settlements', delayedSettlements],
    ['Paused webhooks', pausedWebhooks],
    [`API keys that end within ${keyWarningDays} days`, expiringKeys],
  ] as const;
  return rows.filter(([, count]) => count > 0).map(([label, count]) => [label, number.format(count)]);
}

const number = new Intl.NumberFormat('en');

function money({ value }: Sum): string {
  return formatMoney('en', value);
}

function sumText(sum: Sum, one: string): string {
  if (sum.count === 0) return 'nothing';
  return `${money(sum)} in ${number.format(sum.count)} ${one}${sum.count === 1 ? '' : 's'}`;
}

const dayFormat = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' });

function day(iso: string): string {
  return dayFormat.format(new Date(iso));
}
