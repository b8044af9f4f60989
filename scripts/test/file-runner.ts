import { pathToFileURL } from 'node:url';
import { fileVariable } from './run-folder.ts';
import { describe } from './untracked-test.ts';

// The commands that a test starts do use what is compiled.
delete process.env['NODE_DISABLE_COMPILE_CACHE'];

/** The run sends one file after another, and an empty name after the last one. */
process.on('message', (file: string) => {
  if (file === '') process.disconnect();
  else runFile(file);
});

/**
 * Each file is a suite of its name in this one process. Starting Node and loading the rooms costs two processor seconds per
 * process, which is longer than most files take.
 */
function runFile(file: string): void {
  describe(file, async () => {
    // A process that a test leaves behind has this in its environment.
    process.env[fileVariable] = file;
    await import(pathToFileURL(file).href);
  });
}

const endsSoonMs = 2_000;

// After its last file. A test that left something open keeps this process alive, and the run ends it.
process.once('disconnect', () => {
  setTimeout(() => {
    console.error(`a test left something open: ${process.getActiveResourcesInfo().join(', ')}`);
  }, endsSoonMs).unref();
});
