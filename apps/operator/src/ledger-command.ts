import { CommandError, optional, table, UsageError } from '@florin/cli';
import { lockChain } from '@florin/evm';
import { acceptDifferences, readStatus, releaseStopped, verifyLedger } from '@florin/server/operator';
import { type Commands, chainOption, withDatabase } from './command.ts';
import { recordCommand } from './member-command.ts';

export const ledgerCommands: Commands = {
  'ledger verify': {
    does: 'recomputes the hash chain over the ledger; an earlier head, given as anchor, must be in it',
    examples: ['ledger verify', 'ledger verify --anchor 5f2c…'],
    options: [optional('--anchor <hash>', 'a head from an earlier verification')],
    run: withDatabase(async ({ options, db }) => {
      const anchor = options.optional('anchor')?.toLowerCase();
      if (anchor !== undefined && !/^[0-9a-f]{64}$/.test(anchor))
        throw new UsageError('--anchor is 64 hex digits, as florin ledger verify prints them');
      const proof = await verifyLedger(db, anchor);
      const text = [
        proof.problems.length === 0 ? 'the ledger is complete and unchanged' : 'the ledger has problems:',
        ...proof.problems.map((problem) => `  ${problem}`),
        `sealed entries: ${proof.sealed}; not sealed yet: ${proof.unsealed}`,
        `head: ${proof.head}`,
      ].join('\n');
      return { text, json: proof, isBad: proof.problems.length > 0 };
    }),
  },
  'reconcile status': {
    does: 'shows whether books and chains agreed at the last check',
    examples: ['reconcile status'],
    options: [],
    run: withDatabase(async ({ db, config: { chains } }) => {
      const status = await readStatus(db, chains);
      const rows = status.chains.flatMap((chain) =>
        chain.balances.map(({ holder, token, ledger, chain: onChain, difference }) => [
          chain.chain,
          holder,
          token,
          ledger,
          onChain,
          difference,
        ]),
      );
      const text = [
        table(['CHAIN', 'HOLDER', 'TOKEN', 'LEDGER', 'CHAIN HOLDS', 'DIFFERENCE'], rows),
        ...status.chains.map(
          ({ chain, reconciledBlock, settlement, reason }) =>
            `${chain}: agreed at block ${reconciledBlock ?? '-'}; settlement ${settlement} ${reason}`,
        ),
      ].join('\n');
      return { text: text.trimEnd(), json: status, isBad: !status.isBalanced };
    }),
  },
  'reconcile release': {
    does: 'resumes settlement on a chain after differences or a restore stopped it',
    examples: ['reconcile release --chain base'],
    options: [
      chainOption,
      optional('--differences <decision>', '"accept" books the differences').choices(['accept']),
    ],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const name = options.required('chain');
      const accepts = options.choice('differences', ['accept']) === 'accept';
      const chain = config.chains.byName(name);
      if (chain === undefined) throw new CommandError(`the configuration has no chain ${name}`);
      const reason = await db.transaction(async (transaction) => {
        // The chain before its checks, in the order in which a check locks them.
        await lockChain(transaction, chain.chainId);
        if (accepts) await acceptDifferences(transaction, chain.chainId);
        const stopped = await releaseStopped(transaction, chain.chainId);
        const after = JSON.stringify({ stopped: stopped ?? '', accepts });
        const act = { action: 'releaseChain', subject: name, after };
        if (accepts || stopped !== undefined)
          await recordCommand(transaction, outside, config, { merchantId: undefined, act });
        return stopped;
      });
      const text =
        reason === undefined
          ? `settlement on ${name} was not stopped`
          : `settlement on ${name} is resumed; it was stopped: ${reason}`;
      return { text, json: { chain: name, wasStopped: reason !== undefined, reason: reason ?? '', accepts } };
    }),
  },
};
