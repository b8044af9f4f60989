import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import type { Figures, LoadProfile, Measured } from './measure.ts';

/** The product's figures divided by the limit's. */
export interface Ratio {
  readonly name: string;
  /** By requests per second. */
  readonly value: number;
  /** By the processor time of server and PostgreSQL per request. It is steadier on a shared machine. */
  readonly byProcessorTime: number;
  readonly wanted: number;
}

/** Figures at half of the product's maximum rate. */
export interface HalfLoad extends Figures {
  readonly name: string;
}

/** The result of a subject. */
export interface BenchResult {
  readonly subject: string;
  readonly title: string;
  readonly effort: LoadProfile;
  readonly measured: readonly Measured[];
  readonly ratios: readonly Ratio[];
  readonly halfLoads: readonly HalfLoad[];
  /** The table of a subject without requests, each row by column. */
  readonly rows?: readonly Readonly<Record<string, string | number>>[];
  /** Explanations that a reader of the figures needs. */
  readonly notes: readonly string[];
}

const readmePath = new URL('./README.md', import.meta.url);
const resultsFolder = new URL('./results/', import.meta.url);

const toTwoDigits = (value: number) => Math.round(value * 100) / 100;

/** The share of a limit that the product reaches. */
export function ratioOf(
  measured: readonly Measured[],
  ratio: { product: string; limit: string; wanted: number },
): Ratio {
  const find = (name: string) => {
    const found = measured.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`${name} was not measured`);
    const { perSecond, serverMicroseconds, postgresMicroseconds } = found.median;
    return { perSecond, microseconds: serverMicroseconds + postgresMicroseconds };
  };
  const [product, limit] = [find(ratio.product), find(ratio.limit)];
  return {
    name: `${ratio.product} / ${ratio.limit}`,
    value: toTwoDigits(product.perSecond / limit.perSecond),
    byProcessorTime: toTwoDigits(limit.microseconds / Math.max(1, product.microseconds)),
    wanted: ratio.wanted,
  };
}

function machine() {
  const processors = cpus();
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return {
    processors: processors.length,
    model: processors[0]?.model.trim() ?? '',
    memoryGiB,
    system: `${type()} ${release()}`,
    node: process.versions.node,
  };
}

/** A Markdown table with padded columns, as the formatter requires. */
function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const widths = head.map((name, column) =>
    Math.max(3, name.length, ...rows.map((row) => String(row[column] ?? '').length)),
  );
  const line = (row: readonly (string | number)[], filler = ' ') =>
    `| ${widths.map((width, column) => String(row[column] ?? '').padEnd(width, filler)).join(' | ')} |`;
  return [line(head), line([], '-'), ...rows.map((row) => line(row))];
}

function cells({ perSecond, p50Ms, p99Ms, serverMicroseconds, postgresMicroseconds }: Figures) {
  return [perSecond, p50Ms, p99Ms, serverMicroseconds, postgresMicroseconds];
}

const figureHeads = ['requests/s', 'p50 ms', 'p99 ms', 'server µs', 'PostgreSQL µs'];

/** The subject's section of lab/bench/README.md. */
export function composeSection(result: BenchResult, at: Date, loadBefore: number): string {
  const { processors, model, memoryGiB, system, node } = machine();
  const { effort } = result;
  const how =
    `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${processors} × ${model}, ${memoryGiB} GiB, ${system}, ` +
    `Node ${node}, load average before ${loadBefore}`;
  const runs = `; ${effort.connections} connections, medians of ${effort.rounds} runs of ${effort.seconds} s in turn.`;
  const measured = result.measured.map((row) => [
    row.name,
    ...cells(row.median),
    `${row.requestBytes} → ${row.replyBytes}`,
  ]);
  const ratios = result.ratios.map(({ name, value, byProcessorTime, wanted }) => [
    name,
    `**${value}**`,
    byProcessorTime,
    wanted === 0 ? '' : `≥ ${wanted}`,
  ]);
  const lines =
    result.rows === undefined
      ? [`## ${result.title}`, '', `${how}${runs}`, '', ...table(['', ...figureHeads, 'bytes'], measured)]
      : [
          `## ${result.title}`,
          '',
          `${how}.`,
          '',
          ...table(
            Object.keys(result.rows[0] ?? {}),
            result.rows.map((row) => Object.values(row)),
          ),
        ];
  if (ratios.length > 0)
    lines.push('', ...table(['ratio', 'of requests/s', 'of processor time', 'wanted'], ratios));
  if (result.halfLoads.length > 0) {
    const rows = result.halfLoads.map((half) => [half.name, ...cells(half)]);
    lines.push('', 'At half of that load, paced:', '', ...table(['', ...figureHeads], rows));
  }
  if (result.notes.length > 0) lines.push('', ...result.notes.map((note) => `- ${note}`));
  return lines.join('\n');
}

/** Replaces a subject's section between its marks, or appends it. */
export function replaceSection(readme: string, subject: string, section: string): string {
  const [begin, end] = [`<!-- ${subject} -->`, `<!-- end of ${subject} -->`];
  const block = `${begin}\n${section}\n${end}`;
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from === -1 || to === -1) return `${readme.trimEnd()}\n\n${block}\n`;
  return readme.slice(0, from) + block + readme.slice(to + end.length);
}

/**
 * Writes `results/<subject>.json` and the subject's section of the README, with the load average from before the
 * runs.
 */
export function writeResult(result: BenchResult, loadBefore: number): void {
  const at = new Date();
  mkdirSync(resultsFolder, { recursive: true });
  const content = { at: at.toISOString(), machine: machine(), loadBefore, ...result };
  writeFileSync(
    new URL(`${result.subject}.json`, resultsFolder),
    `${JSON.stringify(content, undefined, 2)}\n`,
  );
  const readme = readFileSync(readmePath, 'utf8');
  writeFileSync(readmePath, replaceSection(readme, result.subject, composeSection(result, at, loadBefore)));
}
