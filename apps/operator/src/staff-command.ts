import { mandatory, optional, table } from '@florin/cli';
import {
  dashboardOriginOf,
  invitationUrl,
  invite,
  listStaff,
  mailInvitation,
  operator,
  recordAct,
  recordEnded,
  removeStaff,
} from '@florin/server/operator';
import { type Command, withDatabase } from './command.ts';
import { mailedText, telling } from './member-command.ts';

export const addStaffCommand: Command = {
  does: 'invites a person to the operator’s staff, by a link that works once within a week',
  options: [optional('--email <address>', 'whose account alone may accept it')],
  run: (options, machine) =>
    withDatabase(machine, async (db, config, outside) => {
      const email = options.optional('email') ?? '';
      const deps = { ...outside, ...telling(outside, config) };
      const { invitation, url, isMailed } = await db.transaction(async (transaction) => {
        const request = { merchantId: undefined, role: 'staff', email, invitedBy: '' } as const;
        const made = await invite(transaction, outside, request);
        const { invitationId: subject } = made.invitation;
        const act = { action: 'inviteStaff', subject, after: JSON.stringify({ email }) };
        await recordAct(transaction, deps, { merchantId: undefined, actor: operator, act });
        const url = invitationUrl(`${dashboardOriginOf(config)}/dashboard`, made.token);
        const isMailed = await mailInvitation(transaction, deps, { invitation: made.invitation, url });
        return { invitation: made.invitation, url, isMailed };
      });
      const { invitationId, expiresAt } = invitation;
      return {
        text:
          `${url}\nGive this link to the new member of the staff alone. It works once, until ${expiresAt.toISOString()}.` +
          mailedText(email, isMailed),
        json: { invitationId, url, expiresAt: expiresAt.toISOString(), isMailed },
      };
    }),
};

export const listStaffCommand: Command = {
  does: 'lists the operator’s staff, oldest first',
  options: [],
  run: (_options, outside) =>
    withDatabase(outside, async (db) => {
      const staff = await listStaff(db);
      const rows = staff.map(({ userId, email, name, since }) => [userId, email, since.toISOString(), name]);
      return { text: table(['PERSON', 'E-MAIL', 'SINCE', 'NAME'], rows), json: staff };
    }),
};

export const removeStaffCommand: Command = {
  does: 'takes a person from the operator’s staff, at once',
  options: [mandatory('--user <id>', 'the person, as staff list shows it')],
  run: (options, machine) =>
    withDatabase(machine, async (db, _config, outside) => {
      const userId = options.required('user');
      await db.transaction(async (transaction) => {
        const ended = await removeStaff(transaction, outside, userId);
        const act = { action: 'removeStaff', subject: userId };
        await recordAct(transaction, outside, { merchantId: undefined, actor: operator, act });
        await recordEnded(transaction, outside, { actor: operator, ended });
      });
      return { text: `${userId} is no longer staff`, json: { userId } };
    }),
};
