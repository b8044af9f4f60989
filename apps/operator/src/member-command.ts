import { type CommandResult, mandatory, optional, table } from '@florin/cli';
import type { Database, Transaction } from '@florin/pg';
import { memberRoles } from '@florin/protocol/member-role.ts';
import {
  type Act,
  bytesOf,
  type Config,
  cancelRecovery,
  dashboardOriginOf,
  invitationUrl,
  invite,
  invitedTeller,
  listMembers,
  mailInvitation,
  mailNotifier,
  operator,
  ownerTeller,
  personTeller,
  recordAct,
  recoverByOperator,
  recoveryUrl,
  secretBox,
} from '@florin/server/operator';
import {
  type CommandContext,
  type Commands,
  merchantOption,
  requiredMerchant,
  withDatabase,
} from './command.ts';

export const memberCommands: Commands = {
  invite: {
    does: 'invites a person to act for a merchant, by a link that works once within a week',
    examples: ['invite --merchant mer_… --role owner --email ada@shop.example'],
    options: [
      merchantOption,
      mandatory('--role <role>', 'what the person may do').choices(memberRoles),
      optional('--email <address>', 'whose account alone may accept it'),
    ],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const role = options.choice('role', memberRoles) ?? 'viewer';
      const email = options.optional('email') ?? '';
      const { merchantId } = await requiredMerchant(db, options);
      const request = { merchantId, role, email, invitedBy: '' };
      return inviteByLink(db, config, outside, {
        request,
        who: role,
        action: 'inviteMember',
        shown: { role },
      });
    }),
  },
  'member list': {
    does: 'lists the people who act for a merchant, oldest first',
    examples: ['member list --merchant mer_…'],
    options: [merchantOption],
    run: withDatabase(async ({ options, db }) => {
      const { merchantId } = await requiredMerchant(db, options);
      const members = await listMembers(db, merchantId);
      const rows = members.map(({ userId, role, email, name, since }) => [
        ...[userId, role, email, since.toISOString(), name],
      ]);
      return { text: table(['MEMBER', 'ROLE', 'E-MAIL', 'SINCE', 'NAME'], rows), json: members };
    }),
  },
  'member recover': {
    does: 'makes a link with which a person who lost every way to sign in sets a new password, after a delay',
    examples: ['member recover --user usr_…'],
    options: [mandatory('--user <id>', 'the person, as member list shows it')],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const userId = options.required('user');
      const recoveryDelayMs = config.walletDelaySeconds * 1_000;
      const deps = { ...outside, ...telling(outside, config), recoveryDelayMs };
      const { effectiveAt, token = '' } = await db.transaction((transaction) =>
        recoverByOperator(transaction, deps, { userId, actor: operator }),
      );
      const url = recoveryUrl(`${dashboardOriginOf(config)}/dashboard`, token);
      const from = effectiveAt?.toISOString() ?? '';
      const text =
        `${url}\nMake sure who asked you, and give this link to that person alone. It works once, from ${from} on. Until then ` +
        'the person and the owners can cancel it, and you can by: florin member cancel-recovery';
      return { text, json: { userId, url, effectiveAt: from } };
    }),
  },
  'member cancel-recovery': {
    does: 'cancels the recovery of a person',
    examples: ['member cancel-recovery --user usr_…'],
    options: [mandatory('--user <id>', 'the person, as member list shows it')],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const userId = options.required('user');
      const isCancelled = await db.transaction((transaction) =>
        cancelRecovery(transaction, { ...outside, ...telling(outside, config) }, { userId, actor: operator }),
      );
      const text = isCancelled
        ? `the recovery of ${userId} is cancelled, and its link does not work`
        : `no recovery of ${userId} was open`;
      return { text, json: { userId, isCancelled } };
    }),
  },
};

/** Invites a person, records it, and sends the link by e-mail as well, where the service sends any. */
export async function inviteByLink(
  db: Database,
  config: Config,
  outside: CommandContext,
  invited: {
    readonly request: Parameters<typeof invite>[2];
    /** What the person becomes, as the text calls it. */
    readonly who: string;
    readonly action: string;
    /** What the log and `--json` say beside the invitation. */
    readonly shown: Readonly<Record<string, string>>;
  },
): Promise<CommandResult> {
  const { request, who, action, shown } = invited;
  const { merchantId, email } = request;
  const deps = { ...outside, ...telling(outside, config) };
  const { invitation, url, isMailed } = await db.transaction(async (transaction) => {
    const made = await invite(transaction, outside, request);
    const subject = made.invitation.invitationId;
    const act = { action, subject, after: JSON.stringify({ ...shown, email }) };
    await recordAct(transaction, deps, { merchantId, actor: operator, act });
    const link = invitationUrl(`${dashboardOriginOf(config)}/dashboard`, made.token);
    const isSent = await mailInvitation(transaction, deps, { invitation: made.invitation, url: link });
    return { invitation: made.invitation, url: link, isMailed: isSent };
  });
  const { invitationId } = invitation;
  const expiresAt = invitation.expiresAt.toISOString();
  const mailed = isMailed ? `\nIt goes to ${email} by e-mail as well.` : '';
  return {
    text: `${url}\nGive this link to the new ${who} alone. It works once, until ${expiresAt}.${mailed}`,
    json: { invitationId, ...shown, url, expiresAt, isMailed },
  };
}

/** People are told by e-mail where the service sends any. */
export function telling({ random }: CommandContext, { smtp, masterKeys: [newest, ...older] }: Config) {
  if (smtp === undefined) return {};
  const secrets = secretBox([bytesOf(newest), ...older.map(bytesOf)]);
  const deps = { random, secrets };
  return {
    tellPerson: personTeller(deps),
    tellOwners: ownerTeller(deps),
    tellInvited: invitedTeller(deps),
    notify: mailNotifier(deps),
  };
}

/** Records what a command did: in the log of its merchant, or in the installation's without one. */
export function recordCommand(
  transaction: Transaction,
  outside: CommandContext,
  config: Config,
  done: { readonly merchantId: string | undefined; readonly act: Act },
): Promise<void> {
  const deps = { ...outside, ...telling(outside, config) };
  return recordAct(transaction, deps, { ...done, actor: operator });
}
