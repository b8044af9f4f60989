import type { TestEvent } from 'node:test/reporters';

/** Files that are named at the end. */
const named = 10;

/** A reporter of Node's test runner that names the files that took longest, in seconds, once all have run. */
export default async function* slowFiles(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { readonly file: string; readonly seconds: number }[] = [];
  for await (const { type, data } of source) {
    if (type !== 'test:summary' || data.file === undefined) continue;
    files.push({ file: data.file, seconds: data.duration_ms / 1_000 });
  }
  const slowest = files.toSorted((first, second) => second.seconds - first.seconds).slice(0, named);
  yield `\nslowest files, in seconds:\n`;
  for (const { file, seconds } of slowest) yield `${seconds.toFixed(1).padStart(7)} ${file}\n`;
}
