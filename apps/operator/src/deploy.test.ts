import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CommandError } from '@florin/cli';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import {
  circleFor,
  circleMainnet,
  create2Deployer,
  permit2Address,
  planContracts,
} from '@florin/server/operator';
import { deepOnly, isDeepRun } from '@florin/server/testing';
import { encodeFunctionData, getAddress, toFunctionSelector } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { type DeployOptions, deployContracts, type RpcRequest } from './deploy.ts';

let first: Anvil;
let second: Anvil;
before(async () => {
  first = await startTestAnvil({ chainId: 31_337, automine: true });
  second = await startTestAnvil({ chainId: 84_531, automine: true });
});
after(() => Promise.all([first.close(), second.close()]));

function role(digit: string): Hex {
  return getAddress(`0x${digit.repeat(40)}`);
}

const roles = { orderSigner: role('2'), settler: role('3'), guardian: role('4'), feeRecipient: role('5') };

/** An operator of a test's own, with coin, and the key that sets its contracts up. */
async function operatorOf(anvil: Anvil, digit: string) {
  const controllerKey: Hex = `0x${digit.repeat(64)}`;
  const operatorId = privateKeyToAddress(controllerKey);
  await anvil.request('anvil_setBalance', [operatorId, '0x56bc75e2d63100000']);
  await anvil.request('anvil_impersonateAccount', [operatorId]);
  return { operatorId, controllerKey };
}

/** Sends on the first chain. It mines at once, but answers the sender slightly earlier. */
async function send(transaction: {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
}): Promise<void> {
  const hash = await first.request('eth_sendTransaction', [transaction]);
  for (;;) {
    const receipt = (await first.request('eth_getTransactionReceipt', [hash])) as { status: Hex } | null;
    if (receipt === null) continue;
    assert.equal(receipt.status, '0x1');
    return;
  }
}

function optionsFor(anvil: Anvil, change: Partial<DeployOptions> = {}): DeployOptions {
  const [account] = anvil.accounts;
  assert.ok(account !== undefined);
  return {
    request: anvil.request,
    chainId: anvil.chainId,
    deployerKey: account.privateKey,
    operatorId: account.address,
    roles,
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
  const [factory] = deployed.contracts;
  assert.deepEqual(sentences, [
    `chain 31337 has no Permit2 at ${permit2Address}: payers cannot pay by it there`,
    `GatewayFactory already exists at ${factory?.contract.address}`,
    `PaymentGateway already exists at ${deployed.gateway}`,
    `PayoutVault already exists at ${deployed.vault}`,
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

test('a deployment that crashed at any transaction is finished by the next one', async () => {
  const whole: string[] = [];
  const snapshot = async () => String(await first.request('evm_snapshot'));
  const change = await operatorOf(first, 'd');
  let clean = await snapshot();
  const counting: RpcRequest = (method, params) => {
    whole.push(method);
    return first.request(method, params);
  };
  const expected = addressesOf(await deployContracts(optionsFor(first, { ...change, request: counting })));
  assert.ok(whole.filter((method) => method === 'eth_sendRawTransaction').length >= 9);
  // Between two transactions there are only reads. Each second transaction is lost with the crash, the others arrive.
  const sent = whole.flatMap((method, index) => (method === 'eth_sendRawTransaction' ? [index + 1] : []));
  for (const [index, count] of sent.entries()) {
    // The first that is lost and the last that arrives; all in the deep run.
    if (!isDeepRun && ![1, sent.length - 1 - ((sent.length - 1) % 2)].includes(index)) continue;
    await first.request('evm_revert', [clean]);
    clean = await snapshot();
    const crashing = crashingAt(first.request, count, index % 2 === 0);
    await assert.rejects(deployContracts(optionsFor(first, { ...change, request: crashing })), /crashed/);
    assert.deepEqual(addressesOf(await deployContracts(optionsFor(first, change))), expected);
  }
});

test('the transaction of an interrupted deployment is waited for, not sent again', deepOnly, async () => {
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
    assert.deepEqual(sentences.slice(1, 3), [
      `1 transactions of ${slow.accounts[0]?.address} are pending: waiting for them`,
      `GatewayFactory already exists at ${planContracts(vault).factory.address}`,
    ]);
  } finally {
    await slow.close();
  }
});

test('another operator has other contracts, and other keys change no address', async () => {
  const deployed = await deployContracts(optionsFor(first));
  const other = await deployContracts(optionsFor(first, await operatorOf(first, 'a')));
  assert.notEqual(other.vault, deployed.vault);
  assert.notEqual(other.gateway, deployed.gateway);
  const keys = { ...roles, orderSigner: role('7'), guardian: role('8') };
  const there = await deployContracts(
    optionsFor(second, { ...(await operatorOf(second, 'a')), roles: keys }),
  );
  assert.deepEqual(addressesOf(there), addressesOf(other));
});

test('without the controller’s key the contracts are made, and what the controller must send is told', async () => {
  const { operatorId } = await operatorOf(first, 'b');
  const options = optionsFor(first, { operatorId });
  const { gateway, vault, pending } = await deployContracts(options);
  assert.deepEqual(
    pending.map(({ to, what }) => [to, what]),
    [
      [gateway, "the gateway's fee recipient"],
      [gateway, `${role('2')} as order signer of the gateway`],
      [gateway, `${role('3')} as settler of the gateway`],
      [gateway, "the gateway's pause"],
      [gateway, "the gateway's guardian"],
      [vault, `${role('2')} as signer of the vault`],
      [vault, `${role('3')} as settler of the vault`],
      [vault, "the vault's pause"],
      [vault, "the vault's guardian"],
    ],
  );
  // Nothing works yet, and only what is missing is told again.
  const [fee] = pending;
  assert.ok(fee !== undefined);
  const from = operatorId;
  await send({ from, to: fee.to, data: fee.data });
  assert.deepEqual((await deployContracts(options)).pending.length, 8);
  for (const { to, data } of pending.slice(1)) await send({ from, to, data });
  assert.deepEqual((await deployContracts(options)).pending, []);
});

test('a contract that was paused after it was set up stays paused, and that is told', async () => {
  const operator = await operatorOf(first, 'c');
  const { gateway } = await deployContracts(optionsFor(first, operator));
  const data = encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'pause' });
  await send({ from: operator.operatorId, to: gateway, data });
  await assert.rejects(
    deployContracts(optionsFor(first, operator)),
    new CommandError(
      "the contracts exist, but their roles differ: the gateway's pause is true instead of false",
    ),
  );
});

test('the vault cannot be the fee recipient: its balance is float', async () => {
  const operatorId = role('8');
  const { vault } = planContracts(operatorId);
  const height = await first.request('eth_blockNumber');
  await assert.rejects(
    deployContracts(optionsFor(first, { operatorId, roles: { ...roles, feeRecipient: vault.address } })),
    new CommandError(
      `the fee recipient ${vault.address} is the vault of this deployment: name a wallet of yours`,
    ),
  );
  assert.equal(await first.request('eth_blockNumber'), height);
});

test('foreign code at the address is refused', async () => {
  const change = await operatorOf(second, 'e');
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
  const change = await operatorOf(first, '9');
  const { gateway } = await deployContracts(optionsFor(first, change));
  const call = { abi: paymentGatewayAbi, functionName: 'setSettler', args: [role('3'), false] } as const;
  await send({ from: change.operatorId, to: gateway, data: encodeFunctionData(call) });
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
    await bare.request('anvil_setCode', [create2Deployer, '0x6001']);
    await assert.rejects(deployContracts(optionsFor(bare)), /is not Arachnid's CREATE2 deployer/);
  } finally {
    await bare.close();
  }
});

/** Answers some requests otherwise than the first chain does. */
function answering(change: Readonly<Record<string, (params: readonly unknown[]) => unknown>>): RpcRequest {
  return async (method, params) => {
    const answer = change[method]?.(params);
    return answer === undefined ? first.request(method, params) : answer;
  };
}

test('a chain that cannot carry the contracts is refused before anything is sent', async () => {
  const eth_sendRawTransaction = () => assert.fail('a transaction was sent');
  const refused = (change: Parameters<typeof answering>[0], options: Partial<DeployOptions> = {}) =>
    deployContracts(
      optionsFor(first, { request: answering({ ...change, eth_sendRawTransaction }), ...options }),
    );
  const london = (params: readonly unknown[]) =>
    (params[0] as { to?: string }).to === undefined ? '0x' : undefined;
  await assert.rejects(refused({ eth_call: london }), /does not run the instructions of the contracts/);
  await assert.rejects(
    refused({ eth_getBlockByNumber: () => ({ gasLimit: '0x7a1200' }) }),
    /a block of chain 31337 holds 8000000 gas/,
  );
  const era = { eth_chainId: () => '0x144' };
  await assert.rejects(refused(era, { chainId: 324 }), /Florin cannot be deployed to chain 324: ZKsync/);
});

test('a route is refused where Circle’s contracts say other things than its route needs, and a testnet has its own route', async () => {
  const sepolia = circleFor(84_532);
  assert.ok(sepolia !== undefined && circleFor(56) === undefined);
  assert.notEqual(sepolia.tokenMessenger, circleMainnet.tokenMessenger);
  assert.equal(sepolia.domains.find(({ chainId }) => chainId === 84_532)?.domain, 6);
  const transmitter = '0xE737e5cEBEEBa77EFE34D4aa090756590b1CE275';
  const word = (value: string) => `0x${value.padStart(64, '0')}`;
  const circle: Record<string, string> = {
    'localDomain()': word('6'),
    'version()': word('1'),
    'messageBodyVersion()': word('1'),
    'localMessageTransmitter()': word(transmitter.slice(2)),
  };
  const deployWith = (change: Record<string, string>) => {
    const answers = Object.entries({ ...circle, ...change }).map(
      ([signature, answer]) => [toFunctionSelector(signature), answer] as const,
    );
    const eth_call = (params: readonly unknown[]) =>
      new Map<unknown, string>(answers).get((params[0] as { data?: string }).data);
    const eth_sendRawTransaction = () => assert.fail('sent');
    const request = answering({ eth_chainId: () => '0x14a34', eth_call, eth_sendRawTransaction });
    return deployContracts(optionsFor(first, { chainId: 84_532, cctp: sepolia, request }));
  };
  const other = `0x${'ab'.repeat(20)}`;
  for (const [signature, answer, says] of [
    ['localDomain()', '0x', 'nothing, not 6'],
    ['localDomain()', word('3'), '3, not 6'],
    ['version()', word('2'), '2, not 1'],
    ['messageBodyVersion()', word('2'), '2, not 1'],
    ['localMessageTransmitter()', word(other.slice(2)), `${other}, not ${transmitter}`],
  ] as const) {
    const expected = new RegExp(`^CommandError: ${signature.slice(0, -2)}.* on chain 84532 says ${says}:`);
    await assert.rejects(deployWith({ [signature]: answer }), expected);
  }
  await assert.rejects(deployWith({}), /sent/);
});
