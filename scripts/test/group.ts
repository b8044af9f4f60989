import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Runs test files in this one process, each as a suite of its name. Starting Node and loading the rooms costs a processor
 * second per process, which is longer than most files take.
 */
for (const file of process.argv.slice(2)) {
  // One import after another: files that load at once would register tests in each other's suites.
  await new Promise<void>((resolve) => {
    describe(file, async () => {
      try {
        await import(pathToFileURL(file).href);
      } finally {
        resolve();
      }
    });
  });
}
