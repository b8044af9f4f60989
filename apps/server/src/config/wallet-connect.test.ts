import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { walletConnectModule } from './wallet-connect.ts';

test('the module of WalletConnect is read at the start, and a missing or foreign file is refused in one sentence', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-module-'));
  try {
    const [script, projectId] = [join(folder, 'wc.js'), '4f'.repeat(16)];
    const said = `walletConnect.script is ${script}, which`;
    const start = () => walletConnectModule({ projectId, script });
    assert.throws(start, { name: 'ConfigError', message: new RegExp(`^${said} cannot be read: build it `) });
    for (const foreign of ['', 'var a=1;', 'export{a as default};', 'globalThis.EthereumProvider=1;']) {
      await writeFile(script, foreign);
      assert.throws(start, { message: new RegExp(`^${said} exports no EthereumProvider: `) });
    }
    const module = 'class Y{}export{Y as EthereumProvider,P as default};';
    await writeFile(script, module);
    assert.deepEqual(start(), { projectId, module });
    assert.equal(walletConnectModule(undefined), undefined);
  } finally {
    await rm(folder, { recursive: true });
  }
});
