import { mandatory, optional, table } from '@florin/cli';
import { listStaff, operator, recordAct, recordEnded, removeStaff } from '@florin/server/operator';
import { type Commands, withDatabase } from './command.ts';
import { inviteByLink } from './member-command.ts';

export const staffCommands: Commands = {
  'staff add': {
    does: 'invites a person to the operator’s staff, by a link that works once within a week',
    examples: ['staff add --email ops@pay.example'],
    options: [optional('--email <address>', 'whose account alone may accept it')],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const email = options.optional('email') ?? '';
      const request = { merchantId: undefined, role: 'staff', email, invitedBy: '' } as const;
      const who = 'member of the staff';
      return inviteByLink(db, config, outside, { request, who, action: 'inviteStaff', shown: {} });
    }),
  },
  'staff list': {
    does: 'lists the operator’s staff, oldest first',
    examples: ['staff list'],
    options: [],
    run: withDatabase(async ({ db }) => {
      const staff = await listStaff(db);
      const rows = staff.map(({ userId, email, name, since }) => [userId, email, since.toISOString(), name]);
      return { text: table(['PERSON', 'E-MAIL', 'SINCE', 'NAME'], rows), json: staff };
    }),
  },
  'staff remove': {
    does: 'takes a person from the operator’s staff, at once',
    examples: ['staff remove --user usr_…'],
    options: [mandatory('--user <id>', 'the person, as staff list shows it')],
    run: withDatabase(async ({ options, db, outside }) => {
      const userId = options.required('user');
      await db.transaction(async (transaction) => {
        const ended = await removeStaff(transaction, outside, userId);
        const act = { action: 'removeStaff', subject: userId };
        await recordAct(transaction, outside, { merchantId: undefined, actor: operator, act });
        await recordEnded(transaction, outside, { actor: operator, ended });
      });
      return { text: `${userId} is no longer staff`, json: { userId } };
    }),
  },
};
