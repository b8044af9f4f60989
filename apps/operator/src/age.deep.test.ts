import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseRecipient, sealFor } from './age.ts';

const folder = mkdtempSync(join(tmpdir(), 'florin-age-'));
const identity = join(folder, 'identity');
before(() => {
  if (spawnSync('age', ['--version']).error !== undefined)
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'age'], { stdio: 'inherit' });
  execFileSync('age-keygen', ['-o', identity], { stdio: 'ignore' });
});
after(() => rmSync(folder, { recursive: true }));

/** In pieces whose borders are no chunk's. */
async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += 40_001) yield bytes.subarray(start, start + 40_001);
}

test('age decrypts what was sealed, of every length around a chunk', async () => {
  const recipient = parseRecipient(execFileSync('age-keygen', ['-y', identity], { encoding: 'utf8' }).trim());
  assert.ok('key' in recipient);
  for (const length of [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000]) {
    const plain = randomBytes(length);
    const parts: Buffer[] = [];
    for await (const part of sealFor(recipient.key)(piecesOf(plain))) parts.push(part);
    const file = join(folder, 'sealed.age');
    writeFileSync(file, Buffer.concat(parts));
    const opened = execFileSync('age', ['--decrypt', '--identity', identity, file]);
    assert.deepEqual(opened, plain, `${length} bytes`);
  }
});
