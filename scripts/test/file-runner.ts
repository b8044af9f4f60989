import { pathToFileURL } from 'node:url';
import { fileVariable } from './run-folder.ts';
import { describe } from './untracked-test.ts';

/**
 * Runs test files in this one process, as the run asks for them, each as a suite of its name. Starting Node and loading
 * the rooms costs two processor seconds per process, which is longer than most files take.
 */
process.on('message', (file: string) => {
  describe(file, async () => {
    // A process that a test leaves behind has this in its environment.
    process.env[fileVariable] = file;
    await import(pathToFileURL(file).href);
  });
});

const endsSoonMs = 2_000;

// After its last file. A test that left something open keeps this process alive, and the run ends it.
process.once('disconnect', () => {
  setTimeout(() => {
    console.error(`a test left something open: ${process.getActiveResourcesInfo().join(', ')}`);
  }, endsSoonMs).unref();
});
