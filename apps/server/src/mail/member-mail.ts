import { formatTime } from '@florin/checkout';
import type { Queryable } from '@florin/pg';
import type { Account } from '@florin/protocol/account.ts';
import type { AccountChange } from '@florin/protocol/account-change.ts';
import { deviceName } from '@florin/protocol/device-name.ts';
import { isoTimestamp } from '@florin/protocol/timestamp.ts';
import { visibleText } from '@florin/protocol/visible-text.ts';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findShownMerchant } from '#catalog/branding.ts';
import type { PersonalAct } from '#members/context.ts';
import { findEmail } from '#members/user.ts';
import type { Doer } from '#webhooks/outbox.ts';
import { layOut, type MailContent, type MailRow } from './layout.ts';
import type { ComposeMail, OpenedMail } from './opened-mail.ts';

export interface MemberMailContext {
  readonly db: Queryable;
  /** The operator's name. */
  readonly fromName: string;
  /** The origin of the dashboard's pages. */
  readonly dashboardOrigin: string;
}

type Notice = readonly [title: string, meaning: string];

/** Changes of where a merchant's money goes, by event. `{merchant}` and `{effectiveAt}` are placeholders. */
const walletNotices: Readonly<Record<string, Notice>> = {
  'account.change_planned': [
    'A wallet of {merchant} is about to change',
    'From {effectiveAt} on, settlements may go to this address.',
  ],
  'account.change_cancelled': [
    'A planned change of a wallet was cancelled',
    'Settlements of {merchant} do not go to this address.',
  ],
  'account.created': ['{merchant} has a new wallet', 'Settlements may go to this address now.'],
  'account.updated': ['A wallet of {merchant} was changed', 'It has these details now.'],
  'account.removed': ['A wallet of {merchant} was removed', 'New payments no longer go to this address.'],
};

/** Acts about a person, by name. */
const personalNotices: Readonly<Record<string, Notice>> = {
  signInOnNewDevice: ['Sign-in on a new device', 'Your account was used on a device for the first time.'],
  signInWithRecoveryCode: [
    'Sign-in with a recovery code',
    'One of your recovery codes opened your account. That code works no more.',
  ],
  lockSecondFactor: [
    'Too many wrong codes at your sign-in',
    'Your password was entered, and then too many wrong codes of the authenticator app. So for 15 minutes no new device can sign in with a code. The devices that you used before still can, and so can passkeys and wallets.',
  ],
  exhaustCodesOfDevice: [
    'Too many wrong codes on a device of yours',
    'On a device that you used before, your password was entered, and then too many wrong codes of the authenticator app. So this device must wait some minutes before each further code. It locks no other device, and passkeys and wallets still sign in.',
  ],
  guessProofs: [
    'Wrong passwords or codes in a session of yours',
    'A wrong password or code was entered five times within an hour where your open session asks who acts. If it was not you, that session is in other hands: sign in on a device that you trust, which counts as a proof, and end your other sessions in My account.',
  ],
  askRecovery: [
    'An owner asks to recover your account',
    'Once a second owner agrees, a link will set a new password after a delay.',
  ],
  startRecovery: [
    'The recovery of your account has begun',
    'From {effectiveAt} on, a link sets a new password and ends every other way to sign in.',
  ],
  cancelRecovery: ['The recovery of your account was cancelled', 'Its link does not work.'],
  completeRecovery: [
    'Your account was recovered',
    'A link set a new password, and ended every other way to sign in and all sessions.',
  ],
  changePassword: [
    'Your password was changed',
    'Your account has a new password. All other sessions were ended.',
  ],
  addPasskey: ['A passkey was added', 'A new passkey signs in to your account.'],
  removePasskey: [
    'A passkey was removed',
    'That passkey no longer signs in to your account. All other sessions were ended.',
  ],
  confirmSecondFactor: [
    'The second factor is on',
    'Your password now needs a code of your authenticator app. All other sessions were ended.',
  ],
  removeSecondFactor: [
    'The second factor is off',
    'Your password now needs no code. All other sessions were ended.',
  ],
  addWallet: ['A wallet was added to your account', 'This wallet now signs in to your account.'],
  removeWallet: [
    'A wallet was removed from your account',
    'This wallet no longer signs in to your account. All other sessions were ended.',
  ],
  renewRecoveryCodes: ['You have new recovery codes', 'The earlier codes work no more.'],
};

export const walletKinds: readonly string[] = Object.keys(walletNotices);
export const personalKinds: readonly string[] = Object.keys(personalNotices);

export function isWalletNotice(type: string): boolean {
  return walletKinds.includes(type);
}

export function isPersonalNotice(action: string): boolean {
  return personalKinds.includes(action);
}

/** Writes an invitation, or a notice of security. Nothing turns these off, because an attacker would do that first. */
export async function composeMemberMail(deps: MemberMailContext, mail: OpenedMail): ReturnType<ComposeMail> {
  const notice = await noticeOf(deps, mail);
  return { fromName: deps.fromName, subject: notice.title, ...layOut(notice) };
}

async function noticeOf(deps: MemberMailContext, mail: OpenedMail): Promise<MailContent> {
  if (mail.kind === 'invitation') return invitation(deps, mail);
  return mail.merchantId === undefined
    ? personalNotice(deps, mail)
    : walletNotice(deps, mail, mail.merchantId);
}

async function invitation({ db, fromName }: MemberMailContext, mail: OpenedMail): Promise<MailContent> {
  const { url, expiresAt, role, invitedBy } = JSON.parse(mail.data) as {
    readonly url: string;
    readonly expiresAt: string;
    /** Absent in e-mails from before the last release, as the next one. */
    readonly role?: string;
    readonly invitedBy?: string;
  };
  const inviter = invitedBy === undefined ? undefined : await findEmail(db, invitedBy);
  const shown = mail.merchantId === undefined ? undefined : await findShownMerchant(db, mail.merchantId);
  const name = shown === undefined ? fromName : merchantText(shown.merchantName, merchantTextLimits.linkName);
  return {
    ...english(fromName, `You are invited to ${name}`),
    paragraphs: [
      'The link makes you a member, and works once.',
      'If you do not know who invited you, ignore this e-mail.',
    ],
    rows: [
      ...(role === undefined ? [] : [['Role', `${role.charAt(0).toUpperCase()}${role.slice(1)}`] as const]),
      ...(inviter === undefined ? [] : [['Invited by', visibleText(inviter)] as const]),
      ['Works until', timeText(expiresAt)],
    ],
    button: { text: 'Open the invitation', url },
    footer: ['You get this e-mail because this address was given to invite you.'],
  };
}

async function walletNotice(
  { db, fromName, dashboardOrigin }: MemberMailContext,
  mail: OpenedMail,
  merchantId: string,
): Promise<MailContent> {
  const { account, accountChange, doneBy, askedBy, previousAddress } = JSON.parse(mail.data) as {
    readonly account?: Account;
    readonly accountChange?: AccountChange;
    readonly doneBy?: Doer;
    /** Of the change that has taken effect by itself. */
    readonly askedBy?: Doer;
    readonly previousAddress?: string;
  };
  const wallet = accountChange ?? account;
  if (wallet === undefined) throw new Error(`the event ${mail.kind} has no account`);
  const shown = await findShownMerchant(db, merchantId);
  const merchant = merchantText(shown.merchantName, merchantTextLimits.linkName);
  const effectiveAt = accountChange === undefined ? '' : timeText(accountChange.effectiveAt);
  const [title, meaning] = filled(walletNotices[mail.kind], { merchant, effectiveAt });
  const oldAddress = accountChange?.previousAddress ?? previousAddress ?? '';
  const isPlanned = mail.kind === 'account.change_planned';
  return {
    ...english(fromName, title),
    paragraphs: [
      meaning,
      isPlanned
        ? 'If your team did not ask for this, cancel the change in the dashboard before then.'
        : 'If your team did not do this, open the dashboard and see who did it in the audit log.',
    ],
    rows: [
      ['Merchant', merchant],
      ['Wallet', merchantText(wallet.accountName, merchantTextLimits.linkName)],
      [oldAddress === '' ? 'Address' : 'New address', wallet.accountAddress],
      ...(oldAddress === '' ? [] : [['Old address', oldAddress] as const]),
      ...(isPlanned ? [['Takes effect', effectiveAt] as const] : []),
      ...(accountChange === undefined
        ? []
        : [['Proof', accountChange.isProven ? 'Signed by the wallet' : 'Not proven'] as const]),
      ['Time', timeText(mail.at.toISOString())],
      ...doerRows('Done by', doneBy),
      ...doerRows('Asked for by', askedBy),
    ],
    button: { text: 'Open wallets', url: `${dashboardOrigin}/dashboard/${merchantId}/wallets` },
    footer: [`You get this e-mail because you are a member of ${merchant}. Owners and admins always get it.`],
  };
}

function personalNotice({ fromName, dashboardOrigin }: MemberMailContext, mail: OpenedMail): MailContent {
  const { userId, actor, act } = JSON.parse(mail.data) as PersonalAct;
  const { effectiveAt = '' } = JSON.parse(act.after ?? '{}') as { readonly effectiveAt?: string };
  const [title, meaning] = filled(personalNotices[mail.kind], {
    effectiveAt: effectiveAt === '' ? '' : timeText(effectiveAt),
  });
  const isPending = mail.kind === 'askRecovery' || mail.kind === 'startRecovery';
  const isLost = mail.kind === 'completeRecovery';
  const isWallet = mail.kind === 'addWallet' || mail.kind === 'removeWallet';
  const rows: readonly MailRow[] = [
    ...(isWallet ? [['Wallet', act.subject] as const] : []),
    ['Time', timeText(mail.at.toISOString())],
    ...doerRows('Done by', actor.id === userId ? { ...actor, name: '' } : actor),
  ];
  return {
    ...english(fromName, title),
    paragraphs: [
      meaning,
      ...(isPending
        ? ['If you did not ask for this, sign in now and cancel it in My account.']
        : isLost
          ? ['If this was not you, tell an owner or the operator at once.']
          : [
              'If this was not you, sign in and open My account. Remove every passkey, wallet and second factor that you do not know, change your password, and end your other sessions.',
              'If you can no longer sign in, ask an owner or the operator to recover your account.',
            ]),
    ],
    rows,
    button: { text: 'Open My account', url: `${dashboardOrigin}/dashboard/my-account` },
    footer: ['You get this e-mail because it is about the security of your account.'],
  };
}

/** Who acted, and from where; without what is not known. */
export function doerRows(label: string, doer: Doer | undefined): readonly MailRow[] {
  if (doer === undefined) return [];
  const { name, clientAddress, userAgent } = doer;
  const rows: readonly MailRow[] = [
    [label, visibleText(name)],
    ['IP address', clientAddress],
    ['Device', userAgent === '' ? '' : visibleText(deviceName(userAgent))],
  ];
  return rows.filter(([, value]) => value !== '');
}

/** Where members choose their e-mails. */
export function choiceLink(dashboardOrigin: string) {
  return {
    text: 'Choose what you get by e-mail',
    url: `${dashboardOrigin}/dashboard/my-account#notifications`,
  } as const;
}

export function english(brandName: string, title: string) {
  return { ...{ brandName, title, language: 'en', brandColor: '' }, direction: 'ltr' } as const;
}

function filled(notice: Notice | undefined, values: Readonly<Record<string, string>>): Notice {
  if (notice === undefined) throw new Error('an e-mail of this kind has no text');
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  return [fill(notice[0]), fill(notice[1])];
}

/** The time of an event, or one in ISO 8601. */
export function timeText(time: string): string {
  return formatTime('en', time.includes('T') ? time : isoTimestamp(time), 'UTC');
}
