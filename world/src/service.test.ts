import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServiceChild } from './service.ts';
import { readStartLimit } from './start-limit.ts';

test('a service that ends at its start is reported with its own lines of the log', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'florin-service-'));
  try {
    const logFile = join(folder, 'service.log');
    const script = join(folder, 'service.mjs');
    writeFileSync(logFile, 'a line of an earlier start\n');
    writeFileSync(script, "console.log('the database is missing'); process.exitCode = 1;\n");
    const service = startServiceChild({ configPath: '', origin: 'http://127.0.0.1:9', logFile, script });
    await assert.rejects(
      service.waitUntilReady(() => false),
      { message: 'The service ended at its start:\nthe database is missing' },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('FLORIN_START_SECONDS is how long a process may take, and what is no time is refused', () => {
  assert.deepEqual(
    [undefined, '', '900'].map((text) => readStartLimit(text).ms),
    [180_000, 180_000, 900_000],
  );
  assert.match(readStartLimit('900').sentence, /within 900 s; .* FLORIN_START_SECONDS$/);
  for (const text of ['0', '-1', '1.5', '86401', 'a minute'])
    assert.throws(() => readStartLimit(text), {
      message: `FLORIN_START_SECONDS=${text} is no number of seconds from 1 to 86400.`,
    });
});
