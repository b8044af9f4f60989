import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { type Anvil, startAnvil } from './anvil.ts';
import { ChainJournal } from './chain-journal.ts';

/** anvil holds the keys of these accounts and signs for them. */
const payer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const stranger = '0x00000000000000000000000000000000000000aa';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'florin keeper '));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const open = async (t: TestContext, name: string, lines: string[] = []): Promise<Anvil> => {
  const options = { name, chainId: 31_337, mining: 'manual', stateFolder: join(folder, name) } as const;
  const chain = await startAnvil({ ...options, log: (line) => lines.push(line) });
  t.after(() => chain.stop());
  return chain;
};

const send = (chain: Anvil, from: string, nonce: number): Promise<unknown> =>
  chain.rpc('eth_sendTransaction', [
    { from, to: stranger, value: '0x1', gas: '0x5208', nonce: toHex(nonce) },
  ]);

const toHex = (value: number): string => `0x${value.toString(16)}`;

const readBlocks = async (chain: Anvil): Promise<unknown[]> => {
  const head = Number(await chain.rpc('eth_blockNumber'));
  const tags = Array.from({ length: head + 1 }, (_, number) => toHex(number));
  return Promise.all(tags.map((tag) => chain.rpc('eth_getBlockByNumber', [tag, false])));
};

const mineTimes = async (chain: Anvil, count: number): Promise<void> => {
  for (let block = 0; block < count; block += 1) await chain.mine();
};

test('a payment that waited behind one that a reorg removed is mined in the same block after a restart', {
  timeout: 300_000,
}, async (t) => {
  const first = await open(t, 'waiting');
  await mineTimes(first, 8);
  await send(first, payer, 0);
  await first.mine();
  await send(first, payer, 1);
  await first.rpc('anvil_reorg', [1, []]);
  await first.mine();
  await send(first, payer, 0);
  await mineTimes(first, 8);
  const blocks = await readBlocks(first);
  await first.stop();
  const second = await open(t, 'waiting');
  assert.deepEqual(await readBlocks(second), blocks);
});

test('a reorg persists when the power fails before the journal of the old blocks is removed', {
  timeout: 300_000,
}, async (t) => {
  const first = await open(t, 'interrupted');
  await send(first, payer, 0);
  await mineTimes(first, 8);
  const stateFolder = join(folder, 'interrupted');
  const kept = join(folder, 'interrupted before');
  cpSync(stateFolder, kept, { recursive: true });
  await first.rpc('anvil_reorg', [3, []]);
  await first.mine();
  const blocks = await readBlocks(first);
  await first.stop();
  cpSync(kept, stateFolder, { recursive: true });
  const second = await open(t, 'interrupted');
  assert.deepEqual(await readBlocks(second), blocks);
});

test('an account that is impersonated still sends after a state dump and a restart', {
  timeout: 300_000,
}, async (t) => {
  const first = await open(t, 'impersonated');
  await first.rpc('anvil_setBalance', [stranger, '0xde0b6b3a7640000']);
  await first.rpc('anvil_impersonateAccount', [stranger]);
  await first.mine();
  await first.rpc('anvil_reorg', [1, []]);
  await send(first, stranger, 0);
  await mineTimes(first, 2);
  const blocks = await readBlocks(first);
  await first.stop();
  const second = await open(t, 'impersonated');
  assert.deepEqual(await readBlocks(second), blocks);
});

test('a restart reports which block changed', { timeout: 300_000 }, async (t) => {
  const first = await open(t, 'changed');
  await mineTimes(first, 4);
  const { hash } = (await first.rpc('eth_getBlockByNumber', ['0x3', false])) as { hash: string };
  await first.stop();
  const journal = join(folder, 'changed', 'journal-00000000.ndjson');
  const records = readFileSync(journal, 'utf8').trim().split('\n');
  const third = records.flatMap((record, line) => (record.includes('mine') ? [line] : []))[2] ?? 0;
  // Deletes the records of the third block, so that the fourth takes its place.
  writeFileSync(journal, `${records.filter((_, line) => line !== third).join('\n')}\n`);
  const lines: string[] = [];
  await open(t, 'changed', lines);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', new RegExp(`Block 3 was ${hash} and came back as 0x`));
});

test('a replay omits refused commands, also after the journal is read again', async () => {
  const path = join(folder, 'journal');
  const journal = new ChainJournal(path);
  await journal.openSnapshot(0, 0);
  const replayed = ['anvil_setNonce', 'anvil_setBalance', 'anvil_setCode'].map((method) => ({
    method,
    params: [],
  }));
  assert.equal(await journal.append(replayed), 0);
  await journal.note([{ refused: 1 }]);
  await journal[Symbol.asyncDispose]();
  const reopened = new ChainJournal(path);
  const [snapshot] = reopened.listSnapshots();
  assert.deepEqual(snapshot?.replayed, [replayed[0], replayed[2]]);
  await reopened.openSnapshot(0, snapshot?.length ?? 0);
  assert.equal(await reopened.append([{ mine: [1, 1, 1] }]), 4);
  await reopened[Symbol.asyncDispose]();
  assert.deepEqual(readdirSync(path), ['journal-00000000.ndjson']);
});
