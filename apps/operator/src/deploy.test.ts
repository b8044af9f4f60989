import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CommandError } from '@florin/cli';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { circleMainnet, create2Deployer, planContracts } from '@florin/server/operator';
import { createWalletClient, getAddress, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type DeployOptions, deployContracts, type RpcRequest } from './deploy.ts';

let first: Anvil;
let second: Anvil;
before(async () => {
  first = await startTestAnvil({ chainId: 31_337, automine: true });
  second = await startTestAnvil({ chainId: 84_532, automine: true });
});
after(() => Promise.all([first.close(), second.close()]));

function role(digit: string): Hex {
  return getAddress(`0x${digit.repeat(40)}`);
}

function optionsFor(anvil: Anvil, change: Partial<DeployOptions> = {}): DeployOptions {
  const [account] = anvil.accounts;
  assert.ok(account !== undefined);
  return {
    request: anvil.request,
    chainId: anvil.chainId,
    deployerKey: account.privateKey,
    admin: role('1'),
    orderSigner: role('2'),
    settler: role('3'),
    guardian: role('4'),
    feeRecipient: role('5'),
    cctp: circleMainnet,
    log: () => {},
    ...change,
  };
}

test('a deployment has the same addresses on every chain, and a second one changes nothing', async () => {
  const deployed = await deployContracts(optionsFor(first));
  assert.notEqual(await first.request('eth_getCode', [deployed.gateway, 'latest']), '0x');
  assert.equal(deployed.startBlock, 1n);

  const height = await first.request('eth_blockNumber');
  const sentences: string[] = [];
  const again = await deployContracts(optionsFor(first, { log: (sentence) => sentences.push(sentence) }));
  assert.deepEqual(again, deployed);
  assert.equal(await first.request('eth_blockNumber'), height);
  assert.deepEqual(sentences, [
    `PayoutVault already exists at ${deployed.vault}`,
    `PaymentGateway already exists at ${deployed.gateway}`,
    `CctpRoute already exists at ${deployed.cctpRoute}`,
  ]);

  await second.mine(5);
  const { gateway, vault, cctpRoute, startBlock } = await deployContracts(optionsFor(second));
  assert.deepEqual({ gateway, vault, cctpRoute }, addressesOf(deployed));
  assert.equal(startBlock, 6n);
});

function addressesOf({ gateway, vault, cctpRoute }: Awaited<ReturnType<typeof deployContracts>>) {
  return { gateway, vault, cctpRoute };
}

/** Forwards `count` requests; the next one is the crash, and its node may or may not have received it. */
function crashingAt(request: RpcRequest, count: number, isHeard: boolean): RpcRequest {
  let seen = 0;
  return async (method, params) => {
    seen += 1;
    if (seen === count && isHeard) await request(method, params);
    if (seen >= count) throw new Error('crashed');
    return request(method, params);
  };
}

test('a deployment that crashed at any request is finished by the next one', async () => {
  const whole: string[] = [];
  const snapshot = async () => String(await first.request('evm_snapshot'));
  let clean = await snapshot();
  const change = { guardian: role('8') };
  const counting: RpcRequest = (method, params) => {
    whole.push(method);
    return first.request(method, params);
  };
  const expected = addressesOf(await deployContracts(optionsFor(first, { ...change, request: counting })));
  assert.ok(whole.filter((method) => method === 'eth_sendRawTransaction').length >= 2);
  // All requests after the first read of the finished contracts are reads too.
  for (let count = 1; count <= whole.indexOf('eth_call') + 1; count += 1) {
    for (const isHeard of whole[count - 1] === 'eth_sendRawTransaction' ? [false, true] : [false]) {
      await first.request('evm_revert', [clean]);
      clean = await snapshot();
      const crashing = crashingAt(first.request, count, isHeard);
      await assert.rejects(deployContracts(optionsFor(first, { ...change, request: crashing })), /crashed/);
      assert.deepEqual(addressesOf(await deployContracts(optionsFor(first, change))), expected);
    }
  }
});

test('the transaction of an interrupted deployment is waited for, not sent again', async () => {
  const slow = await startTestAnvil({ chainId: 31_338 });
  try {
    const crashing: RpcRequest = async (method, params) => {
      if (method === 'eth_getTransactionReceipt') throw new Error('crashed');
      return slow.request(method, params);
    };
    await assert.rejects(deployContracts(optionsFor(slow, { request: crashing })), /crashed/);
    const sentences: string[] = [];
    const mining: RpcRequest = async (method, params) => {
      const answer = await slow.request(method, params);
      if (method === 'eth_getTransactionReceipt' && answer === null) await slow.mine();
      return answer;
    };
    const log = (sentence: string) => {
      sentences.push(sentence);
      if (sentence.includes('pending')) void slow.mine();
    };
    const { vault } = await deployContracts(optionsFor(slow, { request: mining, log }));
    assert.deepEqual(sentences.slice(0, 2), [
      `1 transactions of ${slow.accounts[0]?.address} are pending: waiting for them`,
      `PayoutVault already exists at ${vault}`,
    ]);
  } finally {
    await slow.close();
  }
});

test('other roles give other addresses', async () => {
  const deployed = await deployContracts(optionsFor(first));
  const other = await deployContracts(optionsFor(first, { feeRecipient: role('6') }));
  assert.equal(other.vault, deployed.vault);
  assert.notEqual(other.gateway, deployed.gateway);
});

test('the vault cannot be the fee recipient: its balance is float', async () => {
  const guardian = role('8');
  const { vault } = planContracts({ ...optionsFor(first), guardian }, circleMainnet);
  const height = await first.request('eth_blockNumber');
  await assert.rejects(
    deployContracts(optionsFor(first, { guardian, feeRecipient: vault.address })),
    new CommandError(
      `the fee recipient ${vault.address} is the vault of this deployment: name a wallet of yours`,
    ),
  );
  assert.equal(await first.request('eth_blockNumber'), height);
});

test('foreign code at the address is refused', async () => {
  const change = { guardian: role('7') };
  const { vault } = await deployContracts(optionsFor(second, change));
  await first.request('anvil_setCode', [vault, '0x6001600101']);
  await assert.rejects(
    deployContracts(optionsFor(first, change)),
    new CommandError(`the code at ${vault} is not that of PayoutVault: do not use it, and inspect the chain`),
  );
});

test('a node of another chain is refused', async () => {
  await assert.rejects(
    deployContracts(optionsFor(first, { chainId: 1 })),
    new CommandError('the node serves chain 31337, not 1: correct --chain or --rpc'),
  );
});

test('a role that was revoked since is reported', async () => {
  const [, admin] = first.accounts;
  assert.ok(admin !== undefined);
  const change = { admin: admin.address };
  const { gateway } = await deployContracts(optionsFor(first, change));
  const wallet = createWalletClient({
    account: privateKeyToAccount(admin.privateKey),
    transport: http(first.url),
  }).extend(publicActions);
  const hash = await wallet.writeContract({
    chain: null,
    address: gateway,
    abi: paymentGatewayAbi,
    functionName: 'setSettler',
    args: [role('3'), false],
  });
  await wallet.waitForTransactionReceipt({ hash, pollingInterval: 10 });
  await assert.rejects(
    deployContracts(optionsFor(first, change)),
    new CommandError(
      `the contracts exist, but their roles differ: ${role('3')} as settler of the gateway is false instead of true`,
    ),
  );
});

test('a chain without the deployer is refused', async () => {
  const bare = await startTestAnvil({ chainId: 5, automine: true });
  try {
    await bare.request('anvil_setCode', [create2Deployer, '0x']);
    await assert.rejects(
      deployContracts(optionsFor(bare)),
      /^CommandError: chain 5 has no CREATE2 deployer at/,
    );
  } finally {
    await bare.close();
  }
});
