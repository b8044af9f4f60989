import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { call, fetchBlocks, getTransactionReceipt, openHttpRpc } from '@florin/evm';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import { decodeFunctionResult, encodeDeployData, encodeFunctionData, zeroAddress, zeroHash } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { systemClock } from '#outside/clock.ts';
import { silentLog } from '#telemetry/log.ts';
import { vault } from '../../test/harness/paid-log.ts';
import { logSourceOf } from './log-source.ts';

const artifact = new URL('../../../../contracts/artifacts/PaymentGateway.json', import.meta.url);

async function bytecodeOf(file: URL): Promise<Hex> {
  const { bytecode } = JSON.parse(await readFile(file, 'utf8')) as { bytecode: Hex | { object: Hex } };
  return typeof bytecode === 'string' ? bytecode : bytecode.object;
}

async function send(anvil: Anvil, request: { to?: Hex; data: Hex }): Promise<Hex> {
  const from = anvil.accounts[0]?.address;
  return (await anvil.request('eth_sendTransaction', [{ from, gas: '0x7a1200', ...request }])) as Hex;
}

test('the watcher reads every event that the real gateway emits', async (context) => {
  const anvil = await startTestAnvil();
  const rpc = openHttpRpc({ chainId: anvil.chainId, urls: [anvil.url], clock: systemClock, log: silentLog });
  context.after(async () => {
    await rpc.close();
    await anvil.close();
  });
  const someone = anvil.accounts[0]?.address ?? '0x';
  const data = encodeDeployData({
    abi: paymentGatewayAbi,
    bytecode: await bytecodeOf(artifact),
    args: [someone],
  });
  const deployment = await send(anvil, { data });
  await anvil.mine();
  const receipt = (await anvil.request('eth_getTransactionReceipt', [deployment])) as {
    contractAddress: Hex;
  };
  const gateway = receipt.contractAddress;
  const order = {
    channelId: zeroHash,
    metaData: zeroHash,
    payer: someone,
    token: someone,
    to: someone,
    total: 1n,
    payment: 1n,
    fee: 0n,
    payBy: 0n,
    reclaimAt: 0n,
    orderType: orderKinds.escrow,
    targetChain: BigInt(anvil.chainId),
    via: zeroAddress,
  };
  const txHash = await send(anvil, {
    to: gateway,
    data: encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'settle', args: [[order]] }),
  });
  await anvil.mine();
  const asked = { abi: paymentGatewayAbi, functionName: 'orderIdOf' } as const;
  const orderId = decodeFunctionResult({
    ...asked,
    data: await call(rpc, { to: gateway, data: encodeFunctionData({ ...asked, args: [order] }) }),
  });
  const chain: Chain = {
    ...{ name: 'test', chainId: anvil.chainId, rpcUrls: [anvil.url], gateway, vault, tokens: [] },
    ...{
      startBlock: 1n,
      finality: { tag: 'finalized', depth: 0, quorum: 1 },
      proofs: 'required',
      pollIntervalMs: 20,
    },
  };
  const [block] = await fetchBlocks({ chain, rpc, source: logSourceOf(chain) }, 2n, 1);
  assert.ok(block !== undefined);
  assert.equal((await getTransactionReceipt(rpc, txHash))?.blockHash, block.header.hash);
  assert.deepEqual(block.events, [
    {
      chainId: anvil.chainId,
      blockNumber: 2n,
      blockHash: block.header.hash,
      blockTime: block.header.time,
      logIndex: 0,
      txHash,
      contract: 'gateway',
      name: 'SettleSkipped',
      orderId,
      arguments: { orderId, reason: '1' },
    },
  ]);
});
