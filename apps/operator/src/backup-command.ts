import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { CommandError, mandatory, optional, table } from '@florin/cli';
import { ArchiveError, backUp, readConfig, reportRestoration, restore } from '@florin/server/operator';
import { ageVersion, parseRecipient, sealFor } from './age.ts';
import { type Commands, withDatabase } from './command.ts';

/** Rows of all merchants: only the operator may read them. */
const fileMode = 0o600;

export const backupCommands: Commands = {
  backup: {
    does: 'writes a consistent copy of the whole database into one compressed archive, while the service runs',
    examples: ['backup --out /backups/florin.gz'],
    options: [
      mandatory('--out <file>', 'the archive to write; it must not exist'),
      optional(
        '--recipient <age1…>',
        'encrypts the archive for the secret key of age that belongs to this public key, which is kept on another machine',
      ),
    ],
    async run(options, { environment, clock }) {
      const file = options.required('out');
      const draft = `${file}.part`;
      // Never overwrites an older backup: the new one may fail.
      if (existsSync(file)) throw new CommandError(`${file} already exists`);
      const recipient = recipientOf(options.optional('recipient'));
      const url = readConfig(environment).databaseUrl.reveal();
      const gzip = createGzip();
      const target = createWriteStream(draft, { mode: fileMode, flush: true });
      const stored =
        recipient === undefined ? pipeline(gzip, target) : pipeline(gzip, sealFor(recipient), target);
      // Reported to the next write, or at the end.
      stored.catch(() => undefined);
      const write = async (bytes: Buffer) => {
        if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), stored]);
      };
      const summary = await backUp(url, { now: clock.now(), write }).catch(async (error: unknown) => {
        gzip.destroy();
        await rm(draft, { force: true });
        throw error;
      });
      gzip.end();
      await stored;
      await rename(draft, file);
      const rows = summary.tables.reduce((sum, { rows: some }) => sum + some, 0);
      const text = `wrote ${rows} rows of ${summary.tables.length} tables to ${file}; sha256 of the archive ${summary.sha256}`;
      return { text, json: { file, ...summary } };
    },
  },
  restore: {
    does: 'fills the configured database, which must be empty or missing, from an archive; settlement waits until books and chains agree',
    // Required, but not by `restore report`: commander passes mandatory options on to subcommands.
    examples: ['restore --from /backups/florin.gz'],
    options: [optional('--from <file>', 'the archive to read')],
    async run(options, { environment, clock }) {
      const file = options.required('from');
      if (!existsSync(file)) throw new CommandError(`there is no backup ${file}`);
      if (await isSealed(file))
        throw new CommandError(
          `${file} is encrypted: decrypt it where its secret key is, with age --decrypt --identity KEY --output FILE.gz`,
        );
      const gunzip = createGunzip();
      const input = createReadStream(file);
      input.once('error', (error) => gunzip.destroy(error));
      const source = input.pipe(gunzip);
      try {
        const url = readConfig(environment).databaseUrl.reveal();
        const summary = await restore(url, { now: clock.now(), source });
        const rows = summary.tables.reduce((sum, { rows: some }) => sum + some, 0);
        const text = [
          `restored ${rows} rows of ${summary.tables.length} tables, as of ${summary.takenAt.toISOString()}`,
          'start the service; then florin restore report shows what the chains restored and what is lost',
        ].join('\n');
        return { text, json: summary };
      } catch (error) {
        if (error instanceof ArchiveError) throw new CommandError(error.message);
        if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
          throw new CommandError(`${file} is not a complete archive: ${error.message}`);
        throw error;
      } finally {
        input.destroy();
        gunzip.destroy();
        await finished(gunzip).catch(() => undefined);
      }
    },
  },
  'restore report': {
    does: 'reports what was recovered after the last restore, and what is lost',
    examples: ['restore report'],
    options: [],
    run: withDatabase(async ({ db, config: { chains } }) => {
      const report = await reportRestoration(db);
      if (report === undefined) throw new CommandError('this database was never restored from a backup');
      const nameOf = (chainId: number) => chains.byId(chainId)?.name ?? String(chainId);
      const { rebuilt } = report;
      const text = [
        `backup of ${report.takenAt.toISOString()}, restored ${report.restoredAt.toISOString()}`,
        '',
        table(
          ['CHAIN', 'AT BACKUP', 'HEAD', 'FINAL', 'SETTLEMENT'],
          report.chains.map((chain) => [
            nameOf(chain.chainId),
            String(chain.headAtBackup ?? '-'),
            String(chain.head),
            String(chain.final),
            chain.stopped === '' ? 'running' : `stopped: ${chain.stopped}`,
          ]),
        ),
        '',
        `restored from the chains: ${rebuilt.events} events; ${rebuilt.paid} sessions paid, ${rebuilt.completed} completed`,
        `waiting deliveries: ${report.waitingDeliveries}`,
        `unmatched payments: ${report.unmatched.length}`,
        ...report.unmatched.map(
          (payment) =>
            `  ${nameOf(payment.chainId)} ${payment.orderId} ${payment.total} of ${payment.token} from ${payment.payer} to ${payment.recipient}, ${payment.status}, ${payment.txHash}`,
        ),
        '',
        'lost:',
        ...report.lost.map((sentence) => `  ${sentence}`),
      ].join('\n');
      return { text, json: report };
    }),
  },
};

async function isSealed(file: string): Promise<boolean> {
  const opened = await open(file);
  try {
    const { buffer } = await opened.read(Buffer.alloc(ageVersion.length), 0, ageVersion.length, 0);
    return buffer.toString('latin1') === ageVersion;
  } finally {
    await opened.close();
  }
}

function recipientOf(text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined;
  const recipient = parseRecipient(text);
  if ('problem' in recipient) throw new CommandError(`--recipient: ${recipient.problem}`);
  return recipient.key;
}
