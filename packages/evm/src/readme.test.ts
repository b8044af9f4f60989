import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { startTestAnvil } from '../test/anvil.ts';
import { silentLog, systemClock } from '../test/context.ts';
import { testDatabase } from '../test/database.ts';
import { emitter, eventCall, idOf, installEmitter, testChain } from '../test/emitter.ts';
import { openHttpRpc } from './nodes/http-rpc.ts';

const folder = new URL('../', import.meta.url);
const readme = await readFile(new URL('README.md', folder), 'utf8');
const [proof = '', following = ''] = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text]) => text);

test('the first example of the README proves the receipts of the latest block', async (t) => {
  const anvil = await startTestAnvil();
  t.after(() => anvil.close());
  const [from, to] = anvil.accounts.map(({ address }) => address);
  await anvil.request('eth_sendTransaction', [{ from, to, value: '0x1' }]);
  await anvil.mine();
  const { hash } = (await anvil.request('eth_getBlockByNumber', ['latest', false])) as { hash: string };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...process.execArgv, '--input-type=module', '--eval', proof],
    { cwd: folder, env: { ...process.env, RPC_URL: anvil.url, CHAIN_ID: String(anvil.chainId) } },
  );
  assert.equal(stdout, `${hash} 1 proven\n`);
});

test('the second example of the README sends a call and stores the event of its final block', async (t) => {
  const [anvil, database] = await Promise.all([startTestAnvil(), testDatabase()]);
  const rpc = openHttpRpc({
    ...{ chainId: anvil.chainId, urls: [anvil.url], clock: systemClock, log: silentLog },
  });
  // Inside the package, so that its imports are found.
  const scratch = await mkdtemp(fileURLToPath(new URL('.readme-', folder)));
  const stop = new AbortController();
  const client = new pg.Client({ connectionString: database.url });
  t.after(async () => {
    stop.abort();
    await client.end();
    await rpc.close();
    await Promise.all([anvil.close(), database.close(), rm(scratch, { recursive: true })]);
  });
  await client.connect();
  await client.query('create table notes (note_id text primary key, amount numeric not null)');
  await installEmitter(anvil);
  await anvil.mine();
  await writeFile(`${scratch}/example.ts`, following);
  const { example } = await import(`${scratch}/example.ts`);
  const { running } = await example(
    { chain: testChain(anvil), rpc, db: database.db, clock: systemClock, log: silentLog },
    { to: emitter, data: eventCall(idOf(1)), privateKey: anvil.accounts[1]?.privateKey },
    stop.signal,
  );
  const notes = async () => (await client.query('select note_id, amount from notes')).rows;
  const deadline = performance.now() + 120_000;
  while ((await notes()).length === 0 && performance.now() < deadline) {
    await anvil.mine();
    await systemClock.sleep(50);
  }
  stop.abort();
  await running;
  assert.deepEqual(await notes(), [{ note_id: idOf(1), amount: '1000000' }]);
});
