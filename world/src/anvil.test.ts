import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { deepOnly } from '@florin/server/testing';
import { type Abi, encodeDeployData, encodeFunctionData, type Hex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { type Anvil, type AnvilOptions, startAnvil, TEST_MNEMONIC } from './anvil.ts';
import { waitUntil } from './process.ts';

const CHAIN_ID = 31_337;
const PATIENCE_MS = 120_000;
const accounts = [0, 1].map((addressIndex) => mnemonicToAccount(TEST_MNEMONIC, { addressIndex }));
const [alice, bob] = accounts;
assert.ok(alice !== undefined && bob !== undefined);
const { abi, bytecode } = JSON.parse(
  readFileSync(new URL('../../contracts/artifacts/LocalUsdc.json', import.meta.url), 'utf8'),
) as { abi: Abi; bytecode: Hex };

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'florin anvil '));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const start = async (t: TestContext, options: Partial<AnvilOptions>): Promise<Anvil> => {
  const chain = await startAnvil({ name: t.name, chainId: CHAIN_ID, mining: 'manual', ...options });
  t.after(() => chain.stop());
  return chain;
};

const open = (t: TestContext, name: string): Promise<Anvil> => start(t, { stateFolder: join(folder, name) });

const send = async (chain: Anvil, to: Hex | undefined, data: Hex, tip: bigint): Promise<Hex> => {
  const nonce = Number(await chain.rpc('eth_getTransactionCount', [alice.address, 'pending']));
  const raw = await alice.signTransaction({
    ...{ type: 'eip1559', chainId: CHAIN_ID, nonce, data, gas: 3_000_000n, maxFeePerGas: 5_000_000_000n },
    ...{ maxPriorityFeePerGas: tip, ...(to === undefined ? {} : { to }) },
  });
  return (await chain.rpc('eth_sendRawTransaction', [raw])) as Hex;
};

const transfer = (amount: bigint): Hex =>
  encodeFunctionData({ abi, functionName: 'transfer', args: [bob.address, amount] });

/** A token, a mint, and then a few transfers in each of many blocks. */
const writeHistory = async (chain: Anvil, blocks: number): Promise<Hex> => {
  const args = ['USD Coin', 'USDC', alice.address];
  const deployment = await send(chain, undefined, encodeDeployData({ abi, bytecode, args }), 1n);
  await chain.mine();
  const receipt = (await chain.rpc('eth_getTransactionReceipt', [deployment])) as { contractAddress: Hex };
  const token = receipt.contractAddress;
  await send(
    chain,
    token,
    encodeFunctionData({ abi, functionName: 'mint', args: [alice.address, 10n ** 12n] }),
    1n,
  );
  for (let block = 0; block < blocks; block += 1) {
    for (let index = 0; index < block % 3; index += 1)
      await send(chain, token, transfer(1n), BigInt(block + index));
    await chain.mine();
  }
  return token;
};

/** The parts of a chain that a watcher reads: blocks by number and hash, receipts, logs by block hash. */
const readHistory = async (chain: Anvil, token: Hex): Promise<unknown[]> => {
  const head = Number(await chain.rpc('eth_blockNumber'));
  const history: unknown[] = [];
  for (let number = 0; number <= head; number += 1) {
    const tag = `0x${number.toString(16)}`;
    const block = (await chain.rpc('eth_getBlockByNumber', [tag, true])) as { hash: Hex };
    const byHash = await chain.rpc('eth_getBlockByHash', [block.hash, false]);
    const receipts = await chain.rpc('eth_getBlockReceipts', [tag]);
    const logs = await chain.rpc('eth_getLogs', [{ blockHash: block.hash, address: token }]);
    history.push({ block, byHash, receipts, logs });
  }
  return history;
};

const killNode = async (chain: Anvil): Promise<void> => {
  const { pid } = chain;
  process.kill(pid, 'SIGKILL');
  assert.ok(await waitUntil(() => chain.pid !== pid && chain.pid !== 0, PATIENCE_MS));
};

test('the history of a chain survives SIGKILL of its node, hash for hash and log for log', {
  timeout: 300_000,
}, async (t) => {
  const chain = await open(t, 'killed');
  const token = await writeHistory(chain, 40);
  const history = await readHistory(chain, token);
  const waiting = await send(chain, token, transfer(5n), 1n);
  await killNode(chain);
  assert.deepEqual(await readHistory(chain, token), history);
  await chain.mine();
  const receipt = (await chain.rpc('eth_getTransactionReceipt', [waiting])) as { status: Hex };
  assert.equal(receipt.status, '0x1', 'a transaction that waited for its block is not lost');
});

test('the history survives state dumps, reopening, cheat codes and reorgs', {
  timeout: 300_000,
  ...deepOnly,
}, async (t) => {
  const first = await open(t, 'reopened');
  const token = await writeHistory(first, 30);
  await first.rpc('anvil_setBalance', [bob.address, '0x2a']);
  // More changes than one journal may hold, so a dump happens in between.
  await first.rpc('anvil_mine', ['0x258', '0x2']);
  await first.rpc('anvil_reorg', [3, []]);
  await send(first, token, transfer(1n), 1n);
  await first.rpc('evm_mine');
  const history = await readHistory(first, token);
  await first.stop();

  const second = await open(t, 'reopened');
  assert.deepEqual(await readHistory(second, token), history);
  assert.equal(await second.rpc('eth_getBalance', [bob.address, 'latest']), '0x2a');
});

test('a state near the head can be read after a restart', { timeout: 300_000, ...deepOnly }, async (t) => {
  const first = await open(t, 'states');
  const token = await writeHistory(first, 20);
  await first.rpc('anvil_mine', ['0x258']);
  await first.rpc('anvil_mine', ['0x5']);
  await first.stop();
  const second = await open(t, 'states');
  const { number } = (await second.rpc('eth_getBlockByNumber', ['finalized', false])) as { number: Hex };
  const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [bob.address] });
  assert.ok(BigInt(String(await second.rpc('eth_call', [{ to: token, data }, number]))) > 0n);
});

test('finalized is six blocks behind, and blocks come once a second by the clock', {
  timeout: 300_000,
}, async (t) => {
  const chain = await start(t, { stateFolder: join(folder, 'ticking'), mining: { seconds: 1 } });
  assert.ok(await waitUntil(async () => Number(await chain.rpc('eth_blockNumber')) >= 2, PATIENCE_MS));
  await chain.setMining('manual');
  for (let block = 0; block < 8; block += 1) await chain.mine();
  const read = async (tag: string): Promise<number> =>
    Number(((await chain.rpc('eth_getBlockByNumber', [tag, false])) as { number: Hex }).number);
  assert.equal((await read('latest')) - (await read('finalized')), 6);
  const { timestamp } = (await chain.rpc('eth_getBlockByNumber', ['0x1', false])) as { timestamp: Hex };
  assert.ok(Math.abs(Number(timestamp) - Date.now() / 1_000) < PATIENCE_MS / 1_000);
});

test('a chain without a state folder mines with each transaction', { timeout: 300_000 }, async (t) => {
  const chain = await start(t, { mining: 'automatic' });
  const hash = await send(chain, bob.address, '0x', 1n);
  const isMined = async (): Promise<boolean> =>
    (await chain.rpc('eth_getTransactionReceipt', [hash])) !== null;
  assert.ok(await waitUntil(isMined, PATIENCE_MS));
});
