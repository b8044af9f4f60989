import assert from 'node:assert/strict';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Rpc } from '@florin/evm';
import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { decodeFunctionData, encodeFunctionResult, type Hex } from 'viem';
import { readBackupAge, readCapUse } from './protection-gauges.ts';

test('the age of a backup is that of its newest archive, and a folder without one is infinitely old', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-backup-age-'));
  const now = new Date('2030-01-01T12:00:00Z');
  const age = async (path: string) => (await readBackupAge(path, now)).value;
  try {
    assert.deepEqual([await age(folder), await age(join(folder, 'missing'))], [Infinity, Infinity]);
    for (const [name, hours] of [
      ['old.gz', 30],
      ['new.gz.age', 2],
      ['new.gz.part', 1],
    ] as const) {
      await writeFile(join(folder, name), 'x');
      const at = new Date(now.getTime() - hours * 3_600_000);
      await utimes(join(folder, name), at, at);
    }
    assert.equal(await age(folder), 7_200);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the used share of caps is what the vault says, and a token without caps has none', async () => {
  const capped = '0x0000000000000000000000000000000000000001';
  const caps = { perOrder: 10n, hourly: 100n, daily: 400n };
  const request = async (_method: string, params: readonly unknown[]) => {
    const [{ data }] = params as [{ data: Hex }];
    const { functionName, args } = decodeFunctionData({ abi: payoutVaultAbi, data });
    if (functionName === 'outflowOf')
      return encodeFunctionResult({ abi: payoutVaultAbi, functionName, result: [25n, 300n] });
    const isCapped = (args as readonly string[])[0] === capped;
    const result = isCapped ? caps : { perOrder: 0n, hourly: 0n, daily: 0n };
    return encodeFunctionResult({ abi: payoutVaultAbi, functionName: 'capsOf', result });
  };
  const rpc: Rpc = { request, batch: () => Promise.reject(new Error('no batch is asked for')) };
  const token = { name: 'T', symbol: 'T', decimals: 6, chainId: 1, chainName: 'base' };
  const chain = {
    ...{ name: 'base', chainId: 1, vault: capped, gateway: capped, rpcUrls: [], startBlock: 0n },
    tokens: [
      { ...token, tokenId: 'base::a', address: capped },
      { ...token, tokenId: 'base::b', address: '0x0000000000000000000000000000000000000002' },
    ],
  };
  const read = await readCapUse({ all: [chain as never] }, () => rpc, new AbortController().signal);
  assert.deepEqual(
    read.map(({ labels, value }) => [labels['token'], labels['window'], value]),
    [
      ['base::a', 'hour', 0.25],
      ['base::a', 'day', 0.75],
    ],
  );
});
