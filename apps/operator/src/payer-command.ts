import { mandatory } from '@florin/cli';
import { erasePayer, operator, recordAct } from '@florin/server/operator';
import { type Commands, withDatabase } from './command.ts';

export const payerCommands: Commands = {
  'payer erase': {
    does: "erases a payer's e-mail address wherever the service has it",
    examples: ['payer erase --email payer@example.com'],
    options: [mandatory('--email <address>', 'in any spelling: upper and lower case are the same')],
    run: withDatabase(async ({ options, db, outside }) => {
      const sessions = await erasePayer(db, options.required('email'));
      // Without the address, which would stay in the log for ever.
      const act = { action: 'erasePayer', subject: '', after: JSON.stringify({ sessions }) };
      await db.transaction((transaction) =>
        recordAct(transaction, outside, { merchantId: undefined, actor: operator, act }),
      );
      return {
        text: `erased from ${sessions} sessions. Backups and what webhooks delivered still have it, and no chain has it.`,
        json: { sessions },
      };
    }),
  },
};
