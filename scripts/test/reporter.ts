import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** What the reporter says of one test or of one file, as one line of JSON. */
export type Result =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly name: string }
  | { readonly kind: 'file'; readonly file: string; readonly seconds: number };

type Ended = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;

/** A reporter of Node's test runner for `group.ts`: counts tests, and fails a file that has none. */
export default async function* results(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let testsInFile = 0;
  for await (const event of source) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const isSuite = event.data.details.type === 'suite';
    if (!isSuite) testsInFile += 1;
    for (const result of resultsOf(event, isSuite)) yield `${JSON.stringify(result)}\n`;
    if (!isSuite || event.data.nesting > 0) continue;
    const { name, details } = event.data;
    if (testsInFile === 0) yield `${JSON.stringify({ kind: 'failed', name: `${name}: no test ran` })}\n`;
    yield `${JSON.stringify({ kind: 'file', file: name, seconds: details.duration_ms / 1_000 })}\n`;
    testsInFile = 0;
  }
}

function resultsOf(event: Ended, isSuite: boolean): Result[] {
  const { data, type } = event;
  if (type === 'test:pass') return isSuite || data.skip !== undefined ? [] : [{ kind: 'passed' }];
  // A suite fails with its tests, which are named themselves; or alone, when it cannot be loaded.
  const { cause, failureType } = Object(data.details.error) as { cause?: unknown; failureType?: string };
  if (isSuite && failureType === 'subtestsFailed') return [];
  const place = data.file === undefined ? '' : `${relative(process.cwd(), data.file)}:${data.line}: `;
  const [reason] = String(Object(cause).message ?? cause).split('\n', 1);
  return [{ kind: 'failed', name: `${place}${data.name} (${reason})` }];
}
