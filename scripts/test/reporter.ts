import { relative } from 'node:path';
import { Transform } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';
import { usedSeconds } from './processor-time.ts';

/** What the reporter says of one test or of one file, as a message to the process of the run. */
export type Result =
  | { readonly kind: 'passed' }
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
    if (event.type === 'test:pass' || event.type === 'test:fail') report(event);
    done();
  },
});

function report(event: Ended): void {
  const isSuite = event.data.details.type === 'suite';
  if (!isSuite) testsInFile += 1;
  for (const result of resultsOf(event, isSuite)) tell(result);
  if (!isSuite || event.data.nesting > 0) return;
  const file = event.data.name;
  if (testsInFile === 0) tell({ kind: 'failed', name: `${file}: no test ran` });
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
  if (type === 'test:pass') return isSuite || data.skip !== undefined ? [] : [{ kind: 'passed' }];
  // A suite fails with its tests, which are named themselves; or alone, when it cannot be loaded.
  const { cause, failureType } = Object(data.details.error) as { cause?: unknown; failureType?: string };
  if (isSuite && failureType === 'subtestsFailed') return [];
  const place = data.file === undefined ? '' : `${relative(process.cwd(), data.file)}:${data.line}: `;
  const [reason] = String(Object(cause).message ?? cause).split('\n', 1);
  return [{ kind: 'failed', name: `${place}${data.name} (${reason})` }];
}
