import { CommandError, mandatory, type Options, table } from '@florin/cli';
import { backfillChain, findCursor, lockChain, resumeChain } from '@florin/evm';
import { type Chain, type Chains, findDroppedEvents } from '@florin/server/operator';
import { type Commands, chainOption, withDatabase } from './command.ts';
import { recordCommand } from './member-command.ts';

function requiredChain(chains: Chains, options: Options): Chain {
  const name = options.required('chain');
  const chain = chains.byName(name);
  if (chain !== undefined) return chain;
  const names = chains.all.map((known) => known.name).join(', ');
  throw new CommandError(`the configuration has no chain ${name}: it has ${names}`);
}

function notFollowed(name: string): CommandError {
  return new CommandError(`the service has not followed the chain ${name} yet`);
}

export const chainCommands: Commands = {
  'chain resume': {
    does: 'resumes a halted chain after an operator has checked it',
    examples: ['chain resume --chain base'],
    options: [chainOption],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const { chainId, name } = requiredChain(config.chains, options);
      const reason = await db.transaction(async (transaction) => {
        const cursor = await lockChain(transaction, chainId);
        if (cursor === undefined) throw notFollowed(name);
        const { haltedReason } = cursor;
        if (haltedReason === '') return '';
        await resumeChain(transaction, outside.clock, chainId);
        const act = {
          ...{ action: 'resumeChain', subject: name, before: JSON.stringify({ haltedReason }) },
          after: JSON.stringify({ haltedReason: '' }),
        };
        await recordCommand(transaction, outside, config, { merchantId: undefined, act });
        return haltedReason;
      });
      const text =
        reason === ''
          ? `the chain ${name} was not halted`
          : [
              `the chain ${name} is resumed; it was halted: ${reason}`,
              'the watcher continues from the last stored block that the chain still has',
              `to see the events that it reverts, run florin chain dropped --chain ${name}`,
            ].join('\n');
      return { text, json: { chain: name, wasHalted: reason !== '', reason } };
    }),
  },
  'chain dropped': {
    does: 'lists the final events that a resumed chain reverted, and those that are still missing',
    examples: ['chain dropped --chain base'],
    options: [chainOption],
    run: withDatabase(async ({ options, db, config: { chains } }) => {
      const { chainId, name } = requiredChain(chains, options);
      const events = await findDroppedEvents(db, chainId, shownEvents);
      const missing = events.filter((event) => event.returnedAt === undefined).length;
      const rows = events.map((event) => [
        event.returnedAt === undefined ? 'MISSING' : 'returned',
        event.name,
        event.orderId,
        event.session === undefined ? 'unknown' : `${event.session.sessionId} ${event.session.status}`,
        String(event.blockNumber),
        event.txHash,
      ]);
      const verdict = `${missing} of ${events.length} reverted events of ${name} have not returned`;
      const text =
        events.length === 0
          ? `no final event was reverted on ${name}`
          : `${table(['', 'event', 'order', 'session', 'was in block', 'transaction'], rows)}\n${verdict}`;
      return { text, json: { chain: name, missing, events }, isBad: missing > 0 };
    }),
  },
  'chain backfill': {
    does: 'makes the watcher read final blocks again and add missing events',
    examples: ['chain backfill --chain base --from 123456'],
    options: [chainOption, mandatory('--from <block>', 'the first block to read again')],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const { chainId, name } = requiredChain(config.chains, options);
      const text = options.required('from');
      if (!/^(0|[1-9]\d{0,14})$/.test(text)) {
        throw new CommandError(`--from is ${text}: give a block number`);
      }
      const from = BigInt(text);
      const cursor = await findCursor(db, chainId);
      if (cursor === undefined) throw notFollowed(name);
      const last = await db.transaction(async (transaction) => {
        const to = await backfillChain(transaction, outside.clock, { chainId, from });
        const after = JSON.stringify({ from: String(from), to: String(to) });
        const act = { action: 'backfillChain', subject: name, after };
        if (to !== undefined)
          await recordCommand(transaction, outside, config, { merchantId: undefined, act });
        return to;
      });
      if (last === undefined) {
        throw new CommandError(
          `block ${from} of ${name} is not final yet: the last final block is ${cursor.finalNumber}, and later ones are read anyway`,
        );
      }
      return {
        text: `the watcher reads ${name} again from block ${from} to ${last}; florin doctor shows its progress`,
        json: { chain: name, from, to: last },
      };
    }),
  },
};

const shownEvents = 1_000;
