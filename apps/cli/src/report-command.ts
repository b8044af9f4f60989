import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Florin, Report } from '@florin/sdk';
import { callOptionsOf, idempotencyOption, secondsOf } from './body.ts';
import { type CliOutside, mandatory, optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { apiCommand, type MerchantCommands, retrieveCommand } from './resource.ts';

const types = ['settlements', 'payments', 'fees', 'refunds'] as const;
const formats = ['csv', 'json'] as const;
const pollMs = 1_000;
/** An hour: reports of large shops take minutes. */
const polls = 3_600;

/** `florin reports …` */
export const reportCommands: MerchantCommands = {
  'reports create': apiCommand({
    does: 'orders a report of a time, waits for it, and writes its file or prints its address',
    examples: [
      'reports create --type settlements --from 2030-01-01T00:00:00Z --to 2030-02-01T00:00:00Z --output january.csv',
    ],
    options: [
      mandatory('--type <type>', 'what it lists').choices(types),
      mandatory('--from <time>', 'its first second'),
      mandatory('--to <time>', 'the second behind its last one'),
      optional('--account <id>', 'of this account alone (default: every account)'),
      optional('--format <format>', 'of the file (default: csv)').choices(formats),
      optional('--output <file>', 'writes the file here (default: prints its address, good for 24 hours)'),
      idempotencyOption,
    ],
    async run(florin, options, outside) {
      const type = options.choice('type', types);
      if (type === undefined) throw new UsageError('--type is missing');
      const { reportId } = await florin.reports.create(
        {
          type,
          from: secondsOf('from', options.required('from')),
          to: secondsOf('to', options.required('to')),
          accountId: options.optional('account'),
          format: options.choice('format', formats) ?? 'csv',
        },
        callOptionsOf(options),
      );
      const report = await finished(florin, reportId, outside);
      const output = options.optional('output');
      const rows = `${report.rows} rows`;
      if (output === undefined) return { text: `${rows}: ${report.url}`, json: report };
      await download(report, resolve(outside.folder, output));
      return { text: `${rows} in ${output}`, json: report };
    },
  }),
  'reports retrieve': retrieveCommand('a report', 'reports retrieve rpt_…', (florin, id) =>
    florin.reports.retrieve(id),
  ),
};

async function finished(florin: Florin, reportId: string, { clock, tell }: CliOutside): Promise<Report> {
  for (let count = 0; count < polls; count += 1) {
    const report = await florin.reports.retrieve(reportId);
    if (report.status === 'ready') return report;
    if (report.status === 'failed') throw new CommandError(`${reportId} failed: ${report.reason}`);
    if (count === 0) tell(`making ${reportId}`);
    await clock.sleep(pollMs);
  }
  throw new CommandError(
    `${reportId} is not ready after an hour: florin reports retrieve ${reportId} shows it`,
  );
}

async function download({ url, reportId }: Report, path: string): Promise<void> {
  const reply = await fetch(url);
  if (!reply.ok) throw new CommandError(`the file of ${reportId} answers ${reply.status}`);
  const bytes = Buffer.from(await reply.arrayBuffer());
  try {
    // Only the owner may read it: it names payers.
    writeFileSync(path, bytes, { mode: 0o600 });
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}
