import { isAct } from '@florin/protocol/act-title.ts';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findShownMerchant } from '#catalog/branding.ts';
import type { Act, NamedActor } from '#members/context.ts';
import { urlWithoutValues } from '#webhooks/webhook.ts';
import { layOut, type MailRow } from './layout.ts';
import { doerRows, english, type MemberMailContext, timeText } from './member-mail.ts';
import type { ComposeMail, OpenedMail } from './opened-mail.ts';

interface AccessNotice {
  readonly title: string;
  readonly meaning: string;
  /** Where it is changed back, below the merchant's pages in the dashboard. */
  readonly path: string;
  /** What to do, where it is not to undo it. */
  readonly advice?: string;
  /** Each is told at once: it is about another person, and can be cancelled. Many of the other kinds become one e-mail. */
  readonly isToldAlone?: true;
  /** Who did it for the operator, and where, is not for merchants. */
  readonly isByOperator?: true;
}

const usualAdvice = 'If your team did not do this, undo it in the dashboard and look into the audit log.';
const keyAdvice = 'If your programs did not do this, revoke the key in the dashboard and undo the change.';
const lastWebhookAdvice =
  'An API key changed webhooks very often today. Further changes by this key are not told for a day, so look at the webhooks in the dashboard now.';
const lastPayerAdvice =
  'An API key changed very often today where payers are sent. Further changes by this key are not told for a day, so look at the links and the branding in the dashboard now.';
const cancelAdvice =
  'If the member did not lose access, an owner or an admin cancels it in the dashboard, on the page of the team.';

/** Acts on who and what may act for a merchant, by name. `{merchant}`, `{effectiveAt}`, `{kind}` and `{power}` are placeholders. */
const notices: Readonly<Record<string, AccessNotice>> = {
  acceptInvitation: {
    title: '{merchant} has a new member',
    meaning: 'An invitation was accepted. The person acts for {merchant} now.',
    path: 'team',
  },
  changeMemberRole: {
    title: 'The role of a member of {merchant} was changed',
    meaning: 'The member may do other things than before.',
    path: 'team',
  },
  removeMember: {
    title: 'A member of {merchant} was removed',
    meaning: 'The person no longer acts for {merchant}.',
    path: 'team',
  },
  createApiKey: {
    title: '{merchant} has a new {kind} key',
    meaning: 'A program with this key may do {power}.',
    path: 'keys',
  },
  createWebhook: {
    title: '{merchant} has a new webhook',
    meaning: 'Events of {merchant} are sent to this address.',
    path: 'webhooks',
  },
  updateWebhook: {
    title: 'A webhook of {merchant} was redirected',
    meaning: 'Events of {merchant} are sent to this address, or other events than before.',
    path: 'webhooks',
  },
  sendPayers: {
    title: '{merchant} sends payers to a new place',
    meaning:
      'A payment link or the checkout page leads payers to a place to which it led none before, or lets its pages show the checkout.',
    path: 'links',
  },
  renameMerchant: {
    title: 'The name of {merchant} was changed',
    meaning: 'Payers see this name before they pay, and wallets show it when they sign.',
    path: 'branding',
  },
  changeLegalName: {
    title: 'The legal name of {merchant} was changed',
    meaning: 'Payers see this name below the payment and on receipts.',
    path: 'branding',
  },
  suspendMerchant: {
    title: '{merchant} was suspended by the operator',
    meaning:
      '{merchant} takes no new payments, and its links show as disabled. Open payments, settlements and refunds go on.',
    path: '',
    isToldAlone: true,
    isByOperator: true,
    advice: 'Ask the operator what has to change. You get an e-mail when the suspension ends.',
  },
  resumeMerchant: {
    title: 'The suspension of {merchant} has ended',
    meaning: '{merchant} takes payments again, and its links work.',
    path: '',
    isToldAlone: true,
    isByOperator: true,
    advice: 'There is nothing to do.',
  },
  askRecovery: {
    title: 'An owner asks to recover the account of a member of {merchant}',
    meaning: 'Once a second owner agrees, a link will set a new password for the member after a delay.',
    path: 'team',
    isToldAlone: true,
    advice: cancelAdvice,
  },
  startRecovery: {
    title: 'The recovery of a member of {merchant} has begun',
    meaning:
      'From {effectiveAt} on, a link sets a new password for the member and ends every other way to sign in.',
    path: 'team',
    isToldAlone: true,
    advice: cancelAdvice,
  },
  cancelRecovery: {
    title: 'The recovery of a member of {merchant} was cancelled',
    meaning: 'Its link does not work.',
    path: 'team',
    isToldAlone: true,
    advice: 'If your team did not do this, ask the member, and look into the audit log.',
  },
  completeRecovery: {
    title: 'The account of a member of {merchant} was recovered',
    meaning:
      'A link set a new password for the member, and ended every other way to sign in and all sessions.',
    path: 'team',
    isToldAlone: true,
    advice:
      'If the member did not do this, remove the member in the dashboard, and tell the operator at once.',
  },
};

/** What the audit log keeps of these acts' subjects. */
interface Subject {
  readonly email?: string;
  readonly role?: string;
  readonly kind?: string;
  readonly last4?: string;
  readonly name?: string;
  readonly permissions?: readonly string[];
  readonly expiresAt?: string;
  readonly webhookUrl?: string;
  readonly subscribedEvents?: readonly string[];
  readonly effectiveAt?: string;
  /** Why the operator suspended the merchant, as the operator wrote it. */
  readonly reason?: string;
  readonly merchantName?: string;
  readonly legalName?: string;
  /** Only of the act `sendPayers`. */
  readonly places?: readonly string[];
  readonly linkName?: string;
}

function subjectOf(json: string | undefined): Subject {
  return JSON.parse(json ?? '{}') as Subject;
}

export const accessKinds: readonly string[] = Object.keys(notices);

export function isAccessKind(kind: string): boolean {
  return accessKinds.includes(kind);
}

/** Whether many e-mails of the kind become one. */
export function isGatheredKind(kind: string): boolean {
  return isAccessKind(kind) && notices[kind]?.isToldAlone === undefined;
}

/** Whether the act is on what payers see of a merchant, rather than on who may act for it. */
export function isPayerNotice(kind: string): boolean {
  return kind === 'sendPayers' || kind === 'changeLegalName';
}

/** Whether owners and admins are told of the act. Another name of a webhook gives no power. */
export function isAccessNotice({ action, before, after }: Act): boolean {
  if (!isAccessKind(action)) return false;
  const [earlier, later] = [subjectOf(before), subjectOf(after)];
  if (action === 'changeMemberRole') return earlier.role !== later.role;
  if (action === 'renameMerchant') return earlier.merchantName !== later.merchantName;
  return action !== 'updateWebhook' || targetOf(earlier) !== targetOf(later);
}

function targetOf({ webhookUrl, subscribedEvents = [] }: Subject): string {
  return `${webhookUrl} ${subscribedEvents.toSorted().join()}`;
}

/** Writes the e-mail about an act on who may act for a merchant. */
export async function composeAccessMail(
  { db, fromName, dashboardOrigin }: MemberMailContext,
  mail: OpenedMail,
): ReturnType<ComposeMail> {
  const notice = notices[mail.kind];
  if (notice === undefined || mail.merchantId === undefined)
    throw new Error('an e-mail of this kind has no text');
  const first: Told = JSON.parse(mail.data);
  const others = (mail.others ?? []).map(({ data, at }) => ({ ...(JSON.parse(data) as Told), at }));
  const told = [{ ...first, at: mail.at }, ...others].toSorted(
    (one, other) => weightOf(other) - weightOf(one),
  );
  const isCut = told.length > maxShown;
  const isRestOnRecord = isCut && told.slice(maxShown).every(({ actor }) => actor.kind !== 'key');
  const whereMore = isRestOnRecord
    ? 'which the audit log lists'
    : 'some of them by API keys: check your keys, webhooks and links';
  const shown = await findShownMerchant(db, mail.merchantId);
  const merchant = merchantText(shown.merchantName, merchantTextLimits.linkName);
  const fill = filler(merchant, told);
  const title = `${fill(notice.title)}${told.length === 1 ? '' : ` (${told.length} times)`}`;
  const lastAdvice = isPayerNotice(mail.kind) ? lastPayerAdvice : lastWebhookAdvice;
  const rows: readonly MailRow[] = [
    ['Merchant', merchant],
    ...told
      .slice(0, maxShown)
      .flatMap(({ act, actor, at }): readonly MailRow[] => [
        ...subjectRows(act),
        ['Time', timeText(at.toISOString())],
        ...(notice.isByOperator === true ? [] : doerRows('Done by', actor)),
      ]),
    ['And', isCut ? `${told.length - maxShown} more, ${whereMore}` : ''],
  ];
  return {
    fromName,
    subject: title,
    ...layOut({
      ...english(fromName, title),
      paragraphs: [
        fill(notice.meaning),
        ...(told.length === 1 ? [] : [`This happened ${told.length} times within some minutes.`]),
        notice.advice ?? (told.some(({ actor }) => actor.kind === 'key') ? keyAdvice : usualAdvice),
        ...(told.some(({ isLast }) => isLast === true) ? [lastAdvice] : []),
      ],
      rows: rows.filter(([, value]) => value !== ''),
      button: {
        text: isRestOnRecord ? 'Open the audit log' : 'Open the dashboard',
        url: `${dashboardOrigin}/dashboard/${mail.merchantId}/${isRestOnRecord ? auditPath(mail.kind, told) : notice.path}`,
      },
      footer: [
        `You get this e-mail because you are a member of ${merchant}. Owners and admins always get it.`,
      ],
    }),
  };
}

/** What an e-mail tells of one act. */
interface Told {
  readonly actor: NamedActor;
  readonly act: Act;
  /** The last one that a day tells of a key's changes. */
  readonly isLast?: boolean;
}

/** Acts that an e-mail shows one by one. */
const maxShown = 20;

/** First the keys that may do most, then what API keys did: the audit log has only the acts of members. */
function weightOf({ act, actor }: Told): number {
  if (subjectOf(act.after).kind === 'secret') return 2;
  return actor.kind === 'key' ? 1 : 0;
}

/** The audit log with these acts, as far as it knows the kind, on their days in every time zone. */
function auditPath(kind: string, told: readonly { readonly at: Date }[]): string {
  const times = told.map(({ at }) => at.getTime());
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const query = new URLSearchParams({
    from: dayOf(Math.min(...times) - widestOffsetMs),
    to: dayOf(Math.max(...times) + widestOffsetMs),
  });
  if (isAct(kind)) query.set('action', kind);
  return `audit?${query}`;
}

/** Of a time zone from UTC. */
const widestOffsetMs = 14 * 3_600_000;

const everything = 'everything that the merchant API offers';

/** Fills the placeholders of a notice. Keys of several kinds are keys, with what each may do below. */
function filler(merchant: string, told: readonly Told[]): (text: string) => string {
  const subjects = told.map(({ act }) => subjectOf(act.after));
  const [{ effectiveAt = '', kind = '' } = {}] = subjects;
  const isOneKind = subjects.every((subject) => subject.kind === kind);
  const isSecret = isOneKind && kind === 'secret';
  return (text) =>
    text
      .replaceAll('{effectiveAt}', effectiveAt === '' ? '' : timeText(effectiveAt))
      .replaceAll('{kind}', isOneKind ? kind : 'API')
      .replaceAll('{power}', isSecret ? everything : 'what is listed below')
      .replaceAll('{merchant}', () => merchant);
}

// Mailboxes keep e-mails for long, and the values of a query may be secrets of the receiver: the dashboard shows them.
function subjectRows({ before, after }: Act): readonly MailRow[] {
  const [earlier, later] = [subjectOf(before), subjectOf(after)];
  const { kind, last4 = '', expiresAt = '' } = later;
  return [
    ['Reason', later.reason ?? ''],
    ['Member', later.email ?? earlier.email ?? ''],
    ['Role', later.role ?? ''],
    ['Role before', earlier.role ?? ''],
    ['Key', kind === undefined ? '' : `${kind === 'secret' ? 'sk' : 'rk'}_live_…${last4}`],
    ['For', later.name ?? ''],
    [
      'May',
      kind === 'secret' ? everything : kind === 'restricted' ? (later.permissions ?? []).join(', ') : '',
    ],
    ['Works until', expiresAt === '' ? '' : timeText(expiresAt)],
    ['Address', urlWithoutValues(later.webhookUrl ?? '')],
    ['Address before', urlWithoutValues(earlier.webhookUrl ?? '')],
    ['Payment link', merchantText(later.linkName ?? '', merchantTextLimits.linkName)],
    ...(later.places ?? []).map((place) => ['New place', urlWithoutValues(place)] as const),
    ['Name', later.merchantName ?? later.legalName ?? ''],
    ['Name before', earlier.merchantName ?? earlier.legalName ?? ''],
    ['Events', (later.subscribedEvents ?? []).join(', ')],
  ];
}
