import { mandatory, optional, table } from '@florin/cli';
import type { Queryable, Transaction } from '@florin/pg';
import type { PaymentException } from '@florin/protocol/exception.ts';
import { type Config, decide, findException, listExceptions, markResolved } from '@florin/server/operator';
import { formatUnits } from 'viem';
import {
  type Command,
  type CommandContext,
  type Commands,
  merchantOption,
  requiredMerchant,
  withDatabase,
} from './command.ts';
import { recordCommand } from './member-command.ts';

/** The most that are shown at once, the newest first. */
const maxShown = 200;
/** The most pages that are searched for exceptions of a status. */
const maxPages = 100;

const statuses = ['open', 'resolved'] as const;
const exceptionOption = mandatory('--exception <id>', 'the exception');

export const exceptionCommands: Commands = {
  'exception list': {
    does: `lists a merchant's newest ${maxShown} payments that need attention`,
    examples: ['exception list --merchant mer_… --status open'],
    options: [
      merchantOption,
      optional('--status <status>', 'only exceptions of this status').choices(statuses),
    ],
    run: withDatabase(async ({ options, db, config: { chains } }) => {
      const status = options.choice('status', statuses);
      const { merchantId } = await requiredMerchant(db, options);
      const { total, unseen, exceptions } = await findNewest(db.inScope(merchantId), merchantId, status);
      const rows = exceptions.map((each) => [
        each.exceptionId,
        each.kind,
        amountOf(each, chains.token(each.tokenId)?.decimals),
        each.status,
        each.decision === '' ? '-' : each.decision,
        each.decideBy === '' ? '-' : each.decideBy,
        each.sessionId,
        each.createAt,
      ]);
      const headings = [
        'EXCEPTION',
        'KIND',
        'AMOUNT',
        'STATUS',
        'DECISION',
        'DECIDE BY',
        'SESSION',
        'CREATED',
      ];
      const more = unseen > 0 ? `\n${unseen} older ones were not searched` : '';
      const text = rows.length === 0 ? 'there are no exceptions' : table(headings, rows);
      return { text: text + more, json: { total, exceptions } };
    }),
  },
  'exception show': {
    does: 'shows one exception in full',
    examples: ['exception show --merchant mer_… --exception exc_…'],
    options: [merchantOption, exceptionOption],
    run: withDatabase(async ({ options, db }) => {
      const exceptionId = options.required('exception');
      const { merchantId } = await requiredMerchant(db, options);
      const found = await findException(db.inScope(merchantId), { merchantId, exceptionId });
      const rows = Object.entries(found).map(([name, value]) => [name, value === '' ? '-' : String(value)]);
      return { text: table(['FIELD', 'VALUE'], rows), json: found };
    }),
  },
  'exception accept': changing({
    action: 'acceptException',
    does: 'accepts a late or short deposit as the payment on behalf of its merchant; this is final',
    example: 'exception accept --merchant mer_… --exception exc_…',
    said: 'is accepted, and is paid once the chain confirms it',
    change: decideAs('accept'),
  }),
  'exception refund': changing({
    action: 'refundException',
    does: 'sends a late or short deposit back to its payer on behalf of its merchant; this is final',
    example: 'exception refund --merchant mer_… --exception exc_…',
    said: 'goes back to its payer as soon as the contract releases it',
    change: decideAs('refund'),
  }),
  'exception resolve': changing({
    action: 'resolveException',
    does: 'marks an exception as resolved that waits for no decision; moves no money',
    example: 'exception resolve --merchant mer_… --exception exc_…',
    said: 'is resolved',
    change: markResolved,
  }),
};

/** The newest exceptions of a status, or of any. `unseen`: how many older ones were not searched. */
async function findNewest(
  queryable: Queryable,
  merchantId: string,
  status: PaymentException['status'] | undefined,
): Promise<{ total: number; unseen: number; exceptions: PaymentException[] }> {
  const exceptions: PaymentException[] = [];
  for (let page = 1; ; page += 1) {
    const request = { merchantId, page, size: maxShown };
    const { place, exceptions: found } = await listExceptions(queryable, request);
    const { total } = place;
    for (const [index, each] of found.entries()) {
      if (status !== undefined && each.status !== status) continue;
      exceptions.push(each);
      const seen = (page - 1) * maxShown + index + 1;
      if (exceptions.length === maxShown) return { total, unseen: total - seen, exceptions };
    }
    const unseen = Math.max(0, total - page * maxShown);
    if (unseen === 0 || page === maxPages) return { total, unseen, exceptions };
  }
}

function amountOf({ tokenId, amountInToken }: PaymentException, decimals: number | undefined): string {
  const amount = decimals === undefined ? amountInToken : formatUnits(BigInt(amountInToken), decimals);
  return `${amount} ${tokenId}`;
}

type Change = (
  transaction: Transaction,
  deps: { readonly clock: CommandContext['clock']; readonly config: Config },
  request: { merchantId: string; exceptionId: string },
) => Promise<unknown>;

interface Changing {
  /** As the audit log names it. */
  readonly action: string;
  readonly does: string;
  readonly example: string;
  readonly said: string;
  readonly change: Change;
}

/** A change to one exception in its merchant's scope, by the rules of the merchant API; shows the result. */
function changing({ action, does, example, said, change }: Changing): Command {
  return {
    does,
    examples: [example],
    options: [merchantOption, exceptionOption],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const exceptionId = options.required('exception');
      const { merchantId } = await requiredMerchant(db, options);
      const request = { merchantId, exceptionId };
      const changed = await db.inScope(merchantId).transaction(async (transaction) => {
        const before = JSON.stringify(await findException(transaction, request));
        await change(transaction, { clock: outside.clock, config }, request);
        const found = await findException(transaction, request);
        const act = { action, subject: exceptionId, before, after: JSON.stringify(found) };
        // The same again changes nothing.
        if (act.after !== before) await recordCommand(transaction, outside, config, { merchantId, act });
        return found;
      });
      return { text: `${exceptionId} ${said}`, json: changed };
    }),
  };
}

function decideAs(decision: 'accept' | 'refund'): Change {
  return (transaction, { clock, config }, request) =>
    decide(transaction, { clock, deposits: config.gasless?.deposits }, { ...request, decision });
}
