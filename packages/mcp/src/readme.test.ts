import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

const folder = new URL('../', import.meta.url);

test('the example of the README offers the tools of payers, and those that the key may use', async () => {
  const readme = await readFile(new URL('README.md', folder), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const installation = createServer((request, response) => {
    assert.equal(request.headers.authorization, 'Bearer sk_live_test');
    const result = { tools: [{ name: 'merchant_read_session' }] };
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
  });
  await once(installation.listen(0, '127.0.0.1'), 'listening');
  const FLORIN_URL = `http://127.0.0.1:${(installation.address() as AddressInfo).port}`;
  const assistant = spawn(
    process.execPath,
    [...process.execArgv, '--input-type=module-typescript', '--eval', example],
    { cwd: folder, env: { ...process.env, FLORIN_URL, FLORIN_KEY: 'sk_live_test' } },
  );
  const clientInfo = { name: 'assistant', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  for (const message of [
    { id: 1, method: 'initialize', params },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
  ])
    assistant.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let said = '';
  for await (const chunk of assistant.stdout) {
    said += chunk;
    // The end of the input ends the program.
    if (said.includes('"id":2') && said.endsWith('\n')) assistant.stdin.end();
  }
  assert.equal(await text(assistant.stderr), 'ready\n');
  const list = said.split('\n').find((line) => line.includes('"id":2')) ?? '';
  const { result } = JSON.parse(list) as { result: { tools: { name: string }[] } };
  const names = ['get_link', 'create_session', 'prepare', 'submit', 'status', 'receipt'];
  assert.deepEqual(
    result.tools.map(({ name }) => name),
    [...names, 'merchant_read_session'],
  );
  installation.closeAllConnections();
  await once(installation.close(), 'close');
});
