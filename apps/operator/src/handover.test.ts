import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { CommandError } from '@florin/cli';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import timelockArtifact from '@openzeppelin/contracts/build/contracts/TimelockController.json' with {
  type: 'json',
};
import { type Abi, encodeDeployData, encodeFunctionData, getAddress, pad, toHex, zeroAddress } from 'viem';
import { type Deployment, deployContracts } from './deploy.ts';
import { type HandoverOptions, handOver, type MultisigStep } from './handover.ts';
import { deployTimelock as deployLock, planTimelock } from './timelock-deploy.ts';

const multisig = getAddress(`0x${'66'.repeat(20)}`);
const stranger = getAddress(`0x${'77'.repeat(20)}`);
const delaySeconds = 172_800n;
let anvil: Anvil;
let deployment: Deployment;
beforeEach(async () => {
  anvil = await startTestAnvil({ automine: true });
  deployment = await deployContracts({
    ...{ request: anvil.request, chainId: anvil.chainId, deployerKey: keyOf(0).privateKey },
    ...{ operatorId: keyOf(1).address, controllerKey: keyOf(1).privateKey, log: () => {} },
    roles: { orderSigner: role('2'), settler: role('3'), guardian: role('4'), feeRecipient: role('5') },
  });
  // Any contract can replace a multisig here: it only needs code, and to send.
  await anvil.request('anvil_setCode', [multisig, '0x00']);
});
afterEach(() => anvil.close());

function role(digit: string): Hex {
  return getAddress(`0x${digit.repeat(40)}`);
}

function keyOf(index: number): Anvil['accounts'][number] {
  const account = anvil.accounts[index];
  assert.ok(account !== undefined);
  return account;
}

async function deployTimelock(args: {
  readonly delay?: bigint;
  readonly proposers?: readonly Hex[];
  readonly executors?: readonly Hex[];
  readonly admin?: Hex;
}): Promise<Hex> {
  const { delay = delaySeconds, proposers = [multisig], executors = [multisig], admin = zeroAddress } = args;
  const data = encodeDeployData({
    ...{ abi: timelockArtifact.abi as Abi, bytecode: timelockArtifact.bytecode as Hex },
    args: [delay, proposers, executors, admin],
  });
  const hash = await anvil.request('eth_sendTransaction', [{ from: keyOf(0).address, data }]);
  return (await receiptOf(hash)).contractAddress;
}

/** The chain mines at once, but answers the sender slightly earlier. */
async function receiptOf(hash: unknown): Promise<{ status: string; contractAddress: Hex }> {
  for (;;) {
    const receipt = await anvil.request('eth_getTransactionReceipt', [hash]);
    if (receipt !== null) return receipt as { status: string; contractAddress: Hex };
  }
}

async function sendAs(from: Hex, { to, data }: Pick<MultisigStep, 'to' | 'data'>): Promise<void> {
  await anvil.request('anvil_impersonateAccount', [from]);
  await anvil.request('anvil_setBalance', [from, toHex(10n ** 18n)]);
  const hash = await anvil.request('eth_sendTransaction', [{ from, to, data }]);
  assert.equal((await receiptOf(hash)).status, '0x1');
}

function optionsFor(timelock: Hex, change: Partial<HandoverOptions> = {}): HandoverOptions {
  return {
    ...{ request: anvil.request, chainId: anvil.chainId, timelock, multisig },
    ...{ gateway: deployment.gateway, vault: deployment.vault },
    ...{ controllerKey: keyOf(1).privateKey, minDelaySeconds: delaySeconds, log: () => {} },
    ...change,
  };
}

function required(step: MultisigStep | undefined): MultisigStep {
  assert.ok(step !== undefined);
  return step;
}

/** Every function that changes state, with some arguments, and whether any account may call it. */
function callsOf(abi: Abi): { name: string; data: Hex }[] {
  const open = /^(pay|collect|rescue|settle|refundSettled|reclaim|withdrawFees)/;
  return abi.flatMap((entry) => {
    if (entry.type !== 'function' || !/payable/.test(entry.stateMutability) || open.test(entry.name))
      return [];
    const args = entry.inputs.map(({ type }) => {
      if (type === 'address') return stranger;
      if (type === 'bool') return true;
      return type.startsWith('uint') ? 1n : undefined;
    });
    // Orders and payouts are functions of the settler, a role that the controller never had.
    if (args.includes(undefined)) return [];
    return [{ name: entry.name, data: encodeFunctionData({ abi, functionName: entry.name, args }) }];
  });
}

async function refusalOf(from: Hex, to: Hex, data: Hex): Promise<string> {
  return anvil.request('eth_call', [{ from, to, data }]).then(
    () => 'done',
    (error: Error) => error.message,
  );
}

test('after the handover the time lock is controller, and the old key has no power', async () => {
  const timelock = await deployTimelock({});
  const contracts = [deployment.gateway, deployment.vault];
  const offered = await handOver(optionsFor(timelock));
  assert.deepEqual({ state: offered.state, contracts: offered.contracts }, { state: 'offered', contracts });
  assert.deepEqual(await handOver(optionsFor(timelock)), offered);
  await sendAs(multisig, required(offered.next));

  const scheduled = await handOver(optionsFor(timelock));
  const block = (await anvil.request('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
  const readyAtSeconds = BigInt(block.timestamp) + delaySeconds;
  assert.deepEqual(scheduled, { state: 'scheduled', readyAtSeconds, contracts });
  await anvil.request('evm_setNextBlockTimestamp', [Number(readyAtSeconds)]);
  await anvil.mine();

  const ready = await handOver(optionsFor(timelock));
  assert.equal(ready.state, 'ready');
  await sendAs(multisig, required(ready.next));
  assert.deepEqual(await handOver(optionsFor(timelock)), { state: 'done', contracts });

  const old = keyOf(1).address;
  const unauthorized = `eth_call: execution reverted: custom error 0x8e4a23d6: ${pad(old).slice(2).toLowerCase()}`;
  let count = 0;
  for (const [to, abi] of [
    [deployment.gateway, paymentGatewayAbi],
    [deployment.vault, payoutVaultAbi],
  ] as const) {
    for (const { name, data } of callsOf(abi as Abi)) {
      const refusal = await refusalOf(old, to, data);
      assert.equal(refusal, unauthorized, name);
      count += 1;
    }
    // The same call from the time lock succeeds, so the contract refuses the caller and not the call.
    const setGuardian = encodeFunctionData({
      abi: payoutVaultAbi,
      functionName: 'setGuardian',
      args: [stranger],
    });
    assert.equal(await refusalOf(timelock, to, setGuardian), 'done');
  }
  assert.ok(count >= 14, `${count} functions were tried`);
});

test('a time lock that other parties than the multisig can use is refused', async () => {
  const unfit = async (args: Parameters<typeof deployTimelock>[0], problem: string) => {
    const timelock = await deployTimelock(args);
    await assert.rejects(
      handOver(optionsFor(timelock)),
      new CommandError(`the time lock ${timelock} cannot be controller: ${problem}`),
    );
  };
  await unfit({ delay: delaySeconds - 1n }, 'its delay is 172799 s, less than 172800 s');
  await unfit({ proposers: [multisig, stranger] }, `${stranger} has a role on it besides the multisig`);
  await unfit({ admin: stranger }, `${stranger} has a role on it besides the multisig`);
  await unfit({ executors: [stranger] }, 'the multisig cannot execute');
  const old = keyOf(1).address;
  await unfit(
    { proposers: [old] },
    `the multisig cannot propose; the present controller ${old} has a role on it; ${old} has a role on it besides the multisig`,
  );
  assert.equal(
    await anvil.request('eth_call', [
      {
        to: deployment.gateway,
        data: encodeFunctionData({ abi: payoutVaultAbi, functionName: 'pendingController' }),
      },
    ]),
    pad(zeroAddress),
  );
});

test('a multisig or time lock without code, a strange key and a missing key are refused', async () => {
  const timelock = await deployTimelock({});
  const refused = (change: Partial<HandoverOptions>, message: string) =>
    assert.rejects(handOver({ ...optionsFor(timelock), ...change }), new CommandError(message));
  const { gateway } = deployment;
  await refused(
    { multisig: stranger },
    `the multisig ${stranger} has no code on chain 31337: deploy it first`,
  );
  await refused(
    { timelock: stranger },
    `the time lock ${stranger} has no code on chain 31337: deploy it first`,
  );
  const [first, controller] = [keyOf(0), keyOf(1)];
  await refused(
    { controllerKey: first.privateKey },
    `${first.address} is not the controller of ${gateway}: ${controller.address} is`,
  );
  const { controllerKey: _, ...withoutKey } = optionsFor(timelock);
  await assert.rejects(
    handOver(withoutKey),
    new CommandError(`${gateway} is not offered yet: give --controller-keystore`),
  );
});

test('anyone may execute where the time lock allows it, and a later run can finish an offer', async () => {
  const timelock = await deployTimelock({ executors: [zeroAddress] });
  let sent = 0;
  const request: HandoverOptions['request'] = async (method, params) => {
    if (method === 'eth_sendRawTransaction') sent += 1;
    if (sent === 2) throw new Error('crashed');
    return anvil.request(method, params);
  };
  await assert.rejects(handOver(optionsFor(timelock, { request })), /crashed/);
  const offered = await handOver(optionsFor(timelock));
  await sendAs(multisig, required(offered.next));
  await anvil.request('evm_increaseTime', [Number(delaySeconds)]);
  await anvil.mine();
  await sendAs(stranger, required((await handOver(optionsFor(timelock))).next));
  assert.equal((await handOver(optionsFor(timelock))).state, 'done');
});

test('a time lock is deployed once, for the multisig alone, and takes the control', async () => {
  const planned = planTimelock(multisig, delaySeconds);
  const paid = { request: anvil.request, key: keyOf(1).privateKey, log: () => {} };
  await assert.rejects(deployLock(planned, { request: anvil.request, log: () => {} }), /is not deployed yet/);
  await deployLock(planned, paid);
  const height = await anvil.request('eth_blockNumber');
  await deployLock(planned, paid);
  assert.equal(await anvil.request('eth_blockNumber'), height);
  assert.notEqual(planTimelock(stranger, delaySeconds).address, planned.address);
  // Every power of a stranger or of the old controller, or a shorter delay, would be refused here.
  const offered = await handOver(optionsFor(planned.address));
  assert.equal(offered.state, 'offered');
  await sendAs(multisig, required(offered.next));
  assert.equal((await handOver(optionsFor(planned.address))).state, 'scheduled');
});
