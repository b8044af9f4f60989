import { lockChain, resumeChain } from '@florin/server/src/chains/watcher/cursor.ts';
import { type Command, withDatabase } from './command.ts';
import { CommandError } from './command-error.ts';

export const resumeChainCommand: Command = {
  usage: '--chain NAME',
  does: 'lets a chain move again after its breaker has tripped and a person has looked',
  options: ['chain'],
  run: (options, outside) =>
    withDatabase(outside, async (db, { chains }) => {
      const name = options.required('chain');
      const chain = chains.byName(name);
      if (chain === undefined) {
        const names = chains.all.map((known) => known.name).join(', ');
        throw new CommandError(`the configuration has no chain ${name}: it has ${names}`);
      }
      const reason = await db.transaction(async (transaction) => {
        const cursor = await lockChain(transaction, chain.chainId);
        if (cursor === undefined)
          throw new CommandError(`the service has not followed the chain ${name} yet`);
        if (cursor.haltedReason !== '') await resumeChain(transaction, outside.clock, chain.chainId);
        return cursor.haltedReason;
      });
      const text =
        reason === ''
          ? `the chain ${name} was not halted`
          : `the chain ${name} goes on; it was halted: ${reason}`;
      return { text, json: { chain: name, wasHalted: reason !== '', reason } };
    }),
};
