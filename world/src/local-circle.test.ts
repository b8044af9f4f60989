import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { domainVersion, gatewayDomainName, orderTypes } from '@florin/protocol/typed-data.ts';
import {
  type Abi,
  type Address,
  concat,
  createWalletClient,
  custom,
  decodeEventLog,
  encodeAbiParameters,
  erc20Abi,
  type Hex,
  keccak256,
  pad,
  publicActions,
  slice,
  toHex,
} from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import { type Anvil, startAnvil, TEST_MNEMONIC } from './anvil.ts';
import { type ChainDeployment, deployWorld } from './deployment.ts';
import { deriveRoles, type KeyPair } from './home.ts';
import { planLocalCircle } from './local-circle.ts';

const roles = deriveRoles(TEST_MNEMONIC);
const circle = planLocalCircle(roles);
let source: Anvil;
let target: Anvil;
let deployment: ChainDeployment;

before(async () => {
  source = await startAnvil({ name: 'ethereum', chainId: 31_337, mining: 'automatic' });
  target = await startAnvil({ name: 'base', chainId: 31_338, mining: 'automatic' });
  deployment = await deployWorld(source, roles);
  // Its node forgets the first transaction, as a node does with what does not fit.
  assert.deepEqual((await deployWorld(forgetFirst(target), roles)).gateway, deployment.gateway);
});
/** The chain, whose node takes its first transaction and forgets it. */
function forgetFirst(chain: Anvil): Anvil {
  let isForgotten = false;
  return {
    ...chain,
    async rpc(method, params) {
      if (method !== 'eth_sendRawTransaction' || isForgotten) return chain.rpc(method, params);
      isForgotten = true;
      return keccak256(String(params?.[0]) as Hex);
    },
  };
}

after(() => Promise.all([source.stop(), target.stop()]));

function walletOf(chain: Anvil, { privateKey }: KeyPair) {
  const transport = custom({ request: ({ method, params }) => chain.rpc(method, params ?? []) });
  return createWalletClient({ account: privateKeyToAccount(privateKey), transport }).extend(publicActions);
}

function usdcOf({ tokens }: ChainDeployment): Address {
  const token = tokens.find(({ symbol }) => symbol === 'USDC');
  assert.ok(token !== undefined);
  return token.address;
}

/** Circle's part in a message: sets its nonce and finality, and signs it. */
async function attest(message: Hex): Promise<{ message: Hex; attestation: Hex }> {
  const completed = concat([
    slice(message, 0, 12),
    keccak256(message),
    slice(message, 44, 144),
    toHex(2000, { size: 4 }),
    slice(message, 148),
  ]);
  const attestation = await sign({
    ...{ hash: keccak256(completed), privateKey: roles.attester.privateKey, to: 'hex' },
  });
  return { message: completed, attestation };
}

/** A node returns a hash before a block includes the transaction. */
async function mined(wallet: ReturnType<typeof walletOf>, hash: Hex) {
  const receipt = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 10 });
  assert.equal(receipt.status, 'success');
  return receipt;
}

test('an order for another local chain is burnt on its own chain and minted to the merchant on the other', async () => {
  const [payer] = roles.payers;
  const { cctp } = deployment;
  assert.ok(payer !== undefined && cctp !== undefined);
  const token = usdcOf(deployment);
  const payerWallet = walletOf(source, payer);
  const { timestamp } = await payerWallet.getBlock();
  const order = {
    channelId: keccak256('0x01'),
    metaData: keccak256('0x02'),
    payer: payer.address,
    token,
    to: roles.merchant.address,
    total: 25_000_000n,
    payment: 25_000_000n,
    fee: 150_000n,
    payBy: timestamp + 1_800n,
    reclaimAt: timestamp + 259_200n,
    orderType: 3,
    targetChain: 31_338n,
    via: cctp.route,
  };
  const domain = {
    ...{ name: gatewayDomainName, version: domainVersion, chainId: 31_337 },
    verifyingContract: deployment.gateway,
  };
  const signature = await privateKeyToAccount(roles.orderSigner.privateKey).signTypedData({
    ...{ domain, types: orderTypes, primaryType: 'Order', message: order },
  });
  const gateway = { address: deployment.gateway, abi: paymentGatewayAbi, chain: null } as const;
  const approval = { address: token, abi: erc20Abi, functionName: 'approve', chain: null } as const;
  await mined(
    payerWallet,
    await payerWallet.writeContract({ ...approval, args: [gateway.address, order.total] }),
  );
  await mined(
    payerWallet,
    await payerWallet.writeContract({ ...gateway, functionName: 'pay', args: [order, signature] }),
  );
  const settlerWallet = walletOf(source, roles.settler);
  const { logs } = await mined(
    settlerWallet,
    await settlerWallet.writeContract({ ...gateway, functionName: 'settle', args: [[order]] }),
  );
  const sent = logs.find(({ address }) => address.toLowerCase() === circle.transmitter.address.toLowerCase());
  assert.ok(sent !== undefined, 'the settlement sent no message');
  const { args } = decodeEventLog({ abi: circle.transmitter.artifact.abi as Abi, ...sent });
  const { message, attestation } = await attest((args as unknown as { message: Hex }).message);
  const orderId = await settlerWallet.readContract({ ...gateway, functionName: 'orderIdOf', args: [order] });
  assert.equal(slice(message, 148 + 228), encodeAbiParameters([{ type: 'bytes32' }], [orderId]));
  assert.equal(slice(message, 148 + 36, 148 + 68), pad(order.to).toLowerCase());

  const stranger = walletOf(target, payer);
  const delivery = {
    ...{ address: circle.transmitter.address, abi: circle.transmitter.artifact.abi as Abi, chain: null },
    ...{ functionName: 'receiveMessage', args: [message, attestation] },
  };
  const balance = () =>
    stranger.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [order.to] });
  const before = await balance();
  await mined(stranger, await stranger.writeContract(delivery));
  assert.equal((await balance()) - before, order.total - order.fee);
  await assert.rejects(stranger.writeContract(delivery), /Nonce already used/);
});
