import { relative } from 'node:path';
import { Transform } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';
import { usedSeconds } from './processor-time.ts';

/** What the reporter says of one test or of one file, as a message to the process of the run. */
export type Result =
  | { readonly kind: 'passed' }
  | { readonly kind: 'skipped' }
  /** A test begins; with its place. */
  | { readonly kind: 'begun'; readonly name: string }
  | { readonly kind: 'failed'; readonly name: string }
  | {
      readonly kind: 'file';
      readonly file: string;
      /** Of this process, and of those that it has started and that have ended. */
      readonly processorSeconds: number;
    };

type Ended = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;

let testsInFile = 0;
let earlierSeconds = 0;

/** A reporter of Node's test runner for `file-runner.ts`: counts tests, and fails a file that has none. */
export default new Transform({
  writableObjectMode: true,
  transform(event: TestEvent, _encoding, done) {
    if (event.type === 'test:dequeue' && event.data.nesting > 0)
      tell({ kind: 'begun', name: `${placeOf(event.data)}${event.data.name}` });
    if (event.type === 'test:pass' || event.type === 'test:fail') report(event);
    done();
  },
});

function report(event: Ended): void {
  const isSuite = event.data.details.type === 'suite';
  const results = resultsOf(event, isSuite);
  if (!isSuite) testsInFile += results.filter(({ kind }) => kind !== 'skipped').length;
  for (const result of results) tell(result);
  if (!isSuite || event.data.nesting > 0) return;
  const file = event.data.name;
  if (testsInFile === 0 && results.length === 0) tell({ kind: 'failed', name: `${file}: no test ran` });
  const seconds = usedSeconds();
  tell({ kind: 'file', file, processorSeconds: seconds - earlierSeconds });
  testsInFile = 0;
  earlierSeconds = seconds;
}

function tell(result: Result): void {
  process.send?.(result);
}

function resultsOf(event: Ended, isSuite: boolean): Result[] {
  const { data, type } = event;
  if (type === 'test:pass') {
    if (isSuite) return [];
    // A test that is still to be written proves nothing, so it counts as skipped.
    return [{ kind: data.skip === undefined && data.todo === undefined ? 'passed' : 'skipped' }];
  }
  // A suite fails with its tests, which are named themselves; or alone, when it cannot be loaded.
  const { cause, failureType } = Object(data.details.error) as { cause?: unknown; failureType?: string };
  if (isSuite && failureType === 'subtestsFailed') return [];
  const [reason] = String(Object(cause).message ?? cause).split('\n', 1);
  // The suite of a file that cannot be loaded has the file's name, and the runner's place.
  const place = isSuite && data.nesting === 0 ? '' : placeOf(data);
  return [{ kind: 'failed', name: `${place}${data.name} (${reason})` }];
}

function placeOf({
  file,
  line,
}: {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}): string {
  return file === undefined ? '' : `${relative(process.cwd(), file)}:${line}: `;
}
