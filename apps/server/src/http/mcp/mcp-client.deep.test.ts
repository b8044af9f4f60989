import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { mcpServer, payTool } from '@florin/mcp';
import { errorCatalogue } from '@florin/protocol/error.ts';
import { exampleOrigin, failureExample } from '@florin/protocol/example.ts';
import '../../../test/harness/published-packages.ts';

/** The first official client, of which most agents are made. It also compares the data of refusals with the schema. */
const clientPackage = '@modelcontextprotocol/sdk@1.32.2';
const folder = mkdtempSync(join(tmpdir(), 'florin-mcp-client-'));

before(() => {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', clientPackage];
  execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
});
after(() => rmSync(folder, { recursive: true }));

function load(path: string) {
  return import(pathToFileURL(join(folder, 'node_modules/@modelcontextprotocol/sdk/dist/esm', path)).href);
}

test('the first official client gets every tool’s refusal, with its code', async () => {
  const [{ Client }, { InMemoryTransport }] = await Promise.all(['client/index.js', 'inMemory.js'].map(load));
  const [left, right] = InMemoryTransport.createLinkedPair();
  const refusal = JSON.stringify(failureExample(exampleOrigin, 'session_not_found'));
  const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const signTypedData = () => assert.fail('nothing is signed here');
  const pay = payTool({ account: { address, signTypedData }, maxAmount: 1n });
  await mcpServer({ callApi: async () => refusal, hasKey: true, extra: [pay] }).connect(left);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(right);
  const { tools } = await client.listTools();
  assert.ok(tools.length > 35);
  for (const { name, inputSchema } of tools) {
    const names: readonly string[] = inputSchema.required ?? [];
    const input = Object.fromEntries(names.map((each) => [each, name === 'pay' ? '' : 'x']));
    const { isError, content } = await client.callTool({ name, arguments: input });
    const { code } = JSON.parse(content[0].text.replace(/^.*\n/, ''));
    const slug = name === 'pay' ? 'field_invalid' : 'session_not_found';
    assert.deepEqual([isError, code], [true, errorCatalogue[slug].code], name);
  }
  await client.close();
});
