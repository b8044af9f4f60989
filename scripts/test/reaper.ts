import { rmSync } from 'node:fs';
import { endAll } from './run-folder.ts';

/**
 * Cleans up behind a test run, however the run ended: after SIGKILL nothing else can. The run holds the other end of the
 * standard input, which closes with it.
 */
const folder = process.env['FLORIN_TEST_FOLDER'];
if (folder === undefined) throw new Error('FLORIN_TEST_FOLDER names no folder');
process.stdin.resume();
process.stdin.once('close', async () => {
  await endAll(folder);
  rmSync(folder, { recursive: true, force: true });
});
