import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { memberRoles } from '@florin/protocol/member-role.ts';
import {
  isAlwaysNotified,
  isNotifiedByDefault,
  type NotificationKind,
  notificationKinds,
} from '@florin/protocol/notification.ts';
import { accessKinds } from './access-mail.ts';
import { personalKinds, walletKinds } from './member-mail.ts';

const runbook = await readFile(new URL('../../../../docs/runbook/e-mail.md', import.meta.url), 'utf8');

/** The rows of the table with this head, cell by cell. */
function rowsBelow(head: string): string[][] {
  const [, after = ''] = runbook.split(`| ${head} |\n`);
  const lines = after.split('\n').slice(1);
  const rows = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('|')),
  );
  return rows.map((row) => row.slice(2, -2).split(' | '));
}

/** What the words of the runbook about a notice stand for, in its order. */
const meanings: readonly (readonly [words: string, ...kinds: string[]])[][] = [
  [
    ['a wallet that was added, changed or removed', 'account.created', 'account.updated', 'account.removed'],
    [
      'a change of a wallet that waits, with its time, or that was cancelled',
      ...['account.change_planned', 'account.change_cancelled'],
    ],
  ],
  [
    [
      'a new member, another role or a removed member',
      'acceptInvitation',
      'changeMemberRole',
      'removeMember',
    ],
    ['a new API key', 'createApiKey'],
    ['a new webhook, or one with another address or other events', 'createWebhook', 'updateWebhook'],
    ['a new place to which payers are sent', 'sendPayers'],
    ['another name or legal name of the shop', 'renameMerchant', 'changeLegalName'],
    ['a suspension by the operator, with the reason, and its end', 'suspendMerchant', 'resumeMerchant'],
    [
      'a recovery of a member that was asked for, begun, cancelled or used',
      ...['askRecovery', 'startRecovery', 'cancelRecovery', 'completeRecovery'],
    ],
  ],
  [
    ['a sign-in on a new device or with a recovery code', 'signInOnNewDevice', 'signInWithRecoveryCode'],
    [
      'too many wrong codes after the right password, on new devices or on a known one',
      ...['lockSecondFactor', 'exhaustCodesOfDevice'],
    ],
    ['five wrong passwords or codes within an hour in an open session', 'guessProofs'],
    ['a changed password', 'changePassword'],
    [
      'an added or removed passkey or wallet',
      ...['addPasskey', 'removePasskey', 'addWallet', 'removeWallet'],
    ],
    ['a second factor that was set up or removed', 'confirmSecondFactor', 'removeSecondFactor'],
    ['new recovery codes', 'renewRecoveryCodes'],
    [
      'a recovery that was asked for, begun, cancelled or used',
      ...['askRecovery', 'startRecovery', 'cancelRecovery', 'completeRecovery'],
    ],
  ],
];

test('the runbook lists every notice that nothing turns off, to whom it goes, and no other', () => {
  assert.deepEqual(
    rowsBelow('To | About').map(([to, about = '']) => [to, about.split('; ')]),
    ['owners and admins of a merchant', 'owners and admins of a merchant', 'the person'].map((to, row) => [
      to,
      meanings[row]?.map(([words]) => words),
    ]),
  );
  assert.deepEqual(
    meanings.map((row) => row.flatMap(([, ...kinds]) => kinds).sort()),
    [walletKinds, accessKinds, personalKinds].map((kinds) => kinds.toSorted()),
  );
});

const choices: Readonly<Record<NotificationKind, string>> = {
  payment: 'a payment that is final',
  exception: 'an exception that is open',
  settlement_delayed: 'a settlement that is delayed for a quarter of an hour',
  refund_waiting: 'a refund that waits for a wallet for a quarter of an hour',
  webhook_failing: 'a webhook that fails for a quarter of an hour',
  webhook_paused: 'a webhook that was paused',
  wallet_changed: 'a changed wallet',
  access_changed: 'members, keys, webhooks, and what payers see, as above',
  weekly_summary: 'the week, as a summary',
};

test('the runbook lists every e-mail that members choose, and who gets it without a choice', () => {
  const names = { owner: 'owners', admin: 'admins', developer: 'developers' };
  const namesOf = (kind: NotificationKind) =>
    memberRoles
      .filter((role) => isNotifiedByDefault(kind, role))
      .map((role) => (role in names ? names[role as keyof typeof names] : role));
  const listOf = (roles: readonly string[]) =>
    roles.length === 0 ? 'no member' : [roles.slice(0, -1).join(', '), roles.at(-1)].join(' and ');
  assert.deepEqual(
    rowsBelow('About | Without a choice it goes to'),
    notificationKinds.map((kind) => [
      choices[kind],
      listOf(namesOf(kind)) + (isAlwaysNotified(kind, 'owner') ? ', who cannot turn it off' : ''),
    ]),
  );
});
