import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { startTestAnvil } from '../test/anvil.ts';

const folder = new URL('../', import.meta.url);
const anvil = await startTestAnvil();
after(() => anvil.close());

test('the example of the README proves the receipts of the latest block', async () => {
  const [from, to] = anvil.accounts.map(({ address }) => address);
  await anvil.request('eth_sendTransaction', [{ from, to, value: '0x1' }]);
  await anvil.mine();
  const { hash } = (await anvil.request('eth_getBlockByNumber', ['latest', false])) as { hash: string };
  const readme = await readFile(new URL('README.md', folder), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...process.execArgv, '--input-type=module', '--eval', example],
    { cwd: folder, env: { ...process.env, RPC_URL: anvil.url, CHAIN_ID: String(anvil.chainId) } },
  );
  assert.equal(stdout, `${hash} 1 proven\n`);
});
