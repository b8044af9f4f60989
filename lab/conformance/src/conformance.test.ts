import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deepOnly, Life } from '@florin/server/testing';
import { runConformance } from './conformance.ts';

test('the service conforms to the specification', async (t) => {
  const life = await Life.start();
  const lines: string[] = [];
  try {
    const { origin } = life.options;
    // A merchant of the local world may have such a webhook before the suite runs.
    const plain = await fetch(`${origin}/payment/v1/webhook/create`, {
      method: 'POST',
      headers: { authorization: `Bearer ${life.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        webhookName: 'Shop',
        webhookUrl: 'http://127.0.0.1:9/',
        subscribedEvents: ['*'],
      }),
    });
    assert.equal(((await plain.json()) as { code: number }).code, 0);
    const report = await runConformance({
      merchantApi: `${origin}/payment/v1`,
      aiApi: `${origin}/aipay/api/v1`,
      key: life.secretKey,
      tell: (line) => lines.push(line),
    });
    assert.deepEqual(
      lines.filter((line) => line.startsWith('✗')),
      [],
    );
    assert.equal(report.failed, 0);
    assert.ok(report.passed > 100);
    t.diagnostic(`${report.passed} rules hold`);
  } finally {
    await life.close();
  }
});

/** A service that answers every request with a success. */
async function startYes(): Promise<{ origin: string; server: Server }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"code":0,"message":"success","data":{"success":true}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a service that accepts every request does not conform', async () => {
  const { server, origin } = await startYes();
  const lines: string[] = [];
  const tell = (line: string) => lines.push(line);
  try {
    const report = await runConformance({ merchantApi: origin, aiApi: origin, key: 'sk_live_x', tell });
    assert.ok(report.failed > 90);
    assert.equal(lines.at(-1), `\n${report.passed} passed, ${report.failed} failed`);
  } finally {
    server.close();
  }
});

/** Runs the command. Returns its exit code and its lines of output. */
function run(...args: string[]): Promise<[number | null, string[]]> {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, main, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk.toString();
  });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve([code, output.trimEnd().split('\n')]));
  });
}

test(
  'the command exits with 1 when a rule does not hold, and with 2 when it was typed wrongly',
  deepOnly,
  async () => {
    const { server, origin } = await startYes();
    const folder = await mkdtemp(join(tmpdir(), 'florin-conformance-'));
    const world = join(folder, 'world.json');
    const manifest = {
      merchantApi: origin,
      aiApi: origin,
      secretKey: 'sk_live_x',
      restrictedKey: 'rk_live_x',
    };
    await writeFile(world, JSON.stringify(manifest));
    try {
      assert.deepEqual(await run(), [2, ['']]);
      assert.deepEqual(await run('--merchant-api', origin), [2, ['']]);
      assert.deepEqual(await run('--nonsense'), [2, ['']]);
      for (const args of [
        ['--merchant-api', `${origin}/`, '--key', 'sk_live_x'],
        ['--world', world],
      ]) {
        const [code, lines] = await run(...args);
        assert.equal(code, 1);
        assert.match(lines[0] ?? '', /^Creates products, .* for the merchant of this key at http:/);
        assert.match(lines.at(-1) ?? '', /^\d+ passed, \d+ failed$/);
      }
    } finally {
      server.close();
      await rm(folder, { recursive: true });
    }
  },
);
