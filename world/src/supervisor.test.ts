import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deepOnly } from '@florin/server/testing';
import { localChains } from './local-chain.ts';
import { findFreePort, reservePort } from './port.ts';
import { isRunning, type ProcessRecord, waitUntil } from './process.ts';
import type { WorldManifest } from './world-config.ts';

const FIXTURE = fileURLToPath(new URL('./world.fixture.ts', import.meta.url));
const PATIENCE_MS = 120_000;

let home = '';
let port = 0;
before(async () => {
  home = join(mkdtempSync(join(tmpdir(), 'florin world ')), 'home');
  port = await findFreePort();
});
after(() => rmSync(join(home, '..'), { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  output(): string;
}

const startWorld = (asked = String(port)): Run => {
  const child = spawn(process.execPath, [
    ...process.execArgv.filter((flag) => flag.startsWith('--conditions')),
    FIXTURE,
    home,
    asked,
  ]);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      text += part.toString();
    });
  }
  return { child, exited: once(child, 'exit'), output: () => text };
};

const waitUntilReady = async (run: Run): Promise<WorldManifest> => {
  const isReady = await waitUntil(
    () => run.output().includes('ready\n') || run.child.exitCode !== null,
    PATIENCE_MS,
  );
  assert.ok(isReady && run.child.exitCode === null, run.output());
  return JSON.parse(readFileSync(join(home, 'world.json'), 'utf8')) as WorldManifest;
};

const readChildren = (): Record<string, ProcessRecord> =>
  JSON.parse(readFileSync(join(home, 'processes.json'), 'utf8')) as Record<string, ProcessRecord>;

const call = async (url: string, method: string, params: unknown[]): Promise<unknown> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return ((await response.json()) as { result: unknown }).result;
};

const readBlockHash = async (manifest: WorldManifest, tag: string): Promise<unknown> => {
  const block = await call(manifest.chains[0]?.rpcUrl ?? '', 'eth_getBlockByNumber', [tag, false]);
  return (block as { hash: unknown } | null)?.hash;
};

test('a world keeps everything through kills, refuses a second start and leaves no process', {
  timeout: 600_000,
}, async (t) => {
  let run = startWorld();
  t.after(() => run.child.kill('SIGTERM'));
  const manifest = await waitUntilReady(run);

  await t.test('both chains have the same contracts, and the payers have tokens', async () => {
    const [ethereum, base] = manifest.chains;
    assert.ok(ethereum !== undefined && base !== undefined);
    assert.deepEqual([ethereum.gateway, ethereum.vault], [base.gateway, base.vault]);
    for (const { rpcUrl, tokens } of manifest.chains) {
      for (const { address, decimals } of tokens) {
        const data = `0x70a08231${(manifest.payers[0]?.address ?? '').slice(2).toLowerCase().padStart(64, '0')}`;
        const balance = await call(rpcUrl, 'eth_call', [{ to: address, data }, 'latest']);
        assert.equal(BigInt(String(balance)), 10_000n * 10n ** BigInt(decimals));
      }
    }
  });

  await t.test('a second start reports that the world is running, and changes nothing', async () => {
    const before = readChildren();
    const second = startWorld();
    assert.deepEqual(await second.exited, [3, null]);
    assert.match(second.output(), new RegExp(`already running at http://127.0.0.1:${port}`));
    assert.deepEqual(readChildren(), before);
  });

  await t.test('a child that is killed is restarted', deepOnly, async () => {
    for (const name of ['service', 'postgres', 'base']) {
      const before = readChildren()[name];
      assert.ok(before !== undefined);
      process.kill(before.pid, 'SIGKILL');
      const line = new RegExp(`${name}.* (is running|runs) again`);
      const isBack = await waitUntil(() => line.test(run.output()), PATIENCE_MS);
      assert.ok(isBack, run.output());
      assert.notEqual(readChildren()[name]?.pid, before.pid);
    }
    assert.equal((await fetch(`${manifest.origin}/health/ready`)).status, 200);
  });

  await t.test(
    'a start after SIGKILL of the supervisor has the same keys, ports, contracts and blocks',
    deepOnly,
    async () => {
      const hash = await readBlockHash(manifest, '0x1');
      const orphans = Object.values(readChildren());
      run.child.kill('SIGKILL');
      await run.exited;
      // The reservations have ended with it, and other tests search for ports at this moment.
      const ports = JSON.parse(readFileSync(join(home, 'ports.json'), 'utf8')) as Record<string, number>;
      await Promise.all(Object.values(ports).map(reservePort));
      // Without a port it takes the one that it had.
      run = startWorld('');
      assert.deepEqual(await waitUntilReady(run), manifest);
      assert.equal(await readBlockHash(manifest, '0x1'), hash);
      assert.deepEqual(orphans.filter(isRunning), []);
    },
  );

  await t.test('a stop leaves no process and no manifest', async () => {
    const children = Object.values(readChildren());
    // The database, the service, and a node for each chain.
    assert.equal(children.length, 2 + localChains.length);
    run.child.kill('SIGTERM');
    assert.deepEqual(await run.exited, [0, null]);
    assert.deepEqual(children.filter(isRunning), []);
    assert.equal(existsSync(join(home, 'world.json')), false);
    assert.equal(existsSync(join(home, 'lock')), false);
  });
});
