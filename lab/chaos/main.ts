import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type ChaosReport, runChaos } from './chaos.ts';

const page = new URL('../../docs/reliability.md', import.meta.url);
const begin = '<!-- chaos: written by npm run chaos -- --report -->';
const end = '<!-- chaos ends -->';
const maxSeconds = 3_600;

/** A run as lines of a table. */
function tableOf(report: ChaosReport): string {
  const { harm } = report;
  const rows: readonly (readonly [string, number | string])[] = [
    ['seconds of the stress run', report.seconds],
    ['processes killed (SIGKILL)', harm.kills],
    ['processes paused (SIGSTOP)', harm.pauses],
    ['database crashes (kill -9 of PostgreSQL)', harm.databaseCrashes],
    ['times that the disk was full', report.hasSmallDisk ? harm.fullDisks : 'skipped: no right to mount'],
    ['reorganisations, 1 to 4 blocks deep', harm.reorgs],
    ['faults of nodes', harm.nodeFaults],
    ['starts by the supervisor', harm.restarts],
    ['sessions acknowledged', report.sessions],
    ['payments, of which across chains', `${report.payments}, ${report.crossChain}`],
    ['requests to the webhook receiver', report.deliveries],
    ['seconds until everything was completed and delivered', report.secondsToHeal],
    ['violations: chains, ledger, sessions, webhooks', report.violations.length],
  ];
  return ['| | |', '|---|---:|', ...rows.map(([what, count]) => `| ${what} | ${count} |`)].join('\n');
}

async function writeReport(text: string): Promise<void> {
  const before = await readFile(page, 'utf8');
  const [start, stop] = [before.indexOf(begin), before.indexOf(end)];
  if (start < 0 || stop < start) throw new Error('docs/reliability.md has no section for chaos');
  await writeFile(page, `${before.slice(0, start + begin.length)}\n\n${text}\n\n${before.slice(stop)}`);
}

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '120' }, report: { type: 'boolean', default: false } },
});
const seconds = Number(values.seconds);
if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxSeconds) {
  process.stderr.write(`--seconds is a number from 1 to ${maxSeconds}\n`);
  process.exit(2);
}
const report = await runChaos(seconds, (sentence) => process.stdout.write(`${sentence}\n`));
const text = tableOf(report);
process.stdout.write(`\n${text}\n`);
for (const violation of report.violations) process.stderr.write(`${violation}\n`);
if (values.report) await writeReport(text);
process.exitCode = report.violations.length === 0 ? 0 : 1;
