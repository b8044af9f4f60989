import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Hex, verifyTypedData } from 'viem';

const folder = new URL('../', import.meta.url);

test('the example of the README signs typed data as others verify it', async () => {
  const readme = await readFile(new URL('README.md', folder), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...process.execArgv, '--input-type=module', '--eval', example],
    { cwd: folder },
  );
  const [address, signature] = stdout.trim().split(' ') as [Hex, Hex];
  const isValid = await verifyTypedData({
    address,
    signature,
    domain: { name: 'Mail', version: '1', chainId: 1 },
    types: {
      Mail: [
        { name: 'to', type: 'address' },
        { name: 'contents', type: 'string' },
      ],
    },
    primaryType: 'Mail',
    message: { to: '0x5FbDB2315678afecb367f032d93F642f64180aa3', contents: 'Hello' },
  });
  assert.ok(isValid);
});
