import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import type { Hex } from '@florin/protocol/order.ts';
import { domainVersion, gatewayDomainName, orderTypes } from '@florin/protocol/typed-data.ts';
import { create2Deployer, planContract, systemClock } from '@florin/server/operator';
import {
  Contract,
  JsonRpcProvider,
  NonceManager,
  Signature,
  TypedDataEncoder,
  Wallet,
  ZeroAddress,
} from 'ethers';
import { type Deployment, deployContracts } from './deploy.ts';

const signer = new Wallet(`0x${'51'.repeat(32)}`);
export const merchant = Wallet.createRandom().address;
export const otherMerchant = Wallet.createRandom().address;
export const channelId = `0x${'c1'.repeat(32)}`;
const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const permit2Salt = '0000000000000000000000000000000000000000d3af2663da51c10215000000';
export const day = 86_400n;

export let folder: string;
export let anvil: Anvil;
let provider: JsonRpcProvider;
export let relayer: NonceManager;
export let payer: NonceManager;
export let payerAddress: string;
export let deployment: Deployment;
export let gateway: Contract;
export let usdc: Contract;
export let now: bigint;

export type TestOrder = Record<(typeof orderTypes.Order)[number]['name'], string | bigint>;

/** Starts a chain with the contracts, USDC and Permit2, and sets the exports to them. */
export async function startKitChain(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'florin-kit-'));
  anvil = await startTestAnvil({ automine: true });
  provider = new JsonRpcProvider(anvil.url, anvil.chainId, { staticNetwork: true, cacheTimeout: -1 });
  const [first, second] = anvil.accounts;
  assert.ok(first !== undefined && second !== undefined);
  relayer = new NonceManager(new Wallet(first.privateKey, provider));
  payer = new NonceManager(new Wallet(second.privateKey, provider));
  payerAddress = second.address;
  writeFileSync(join(folder, 'payer.key'), second.privateKey, { mode: 0o600 });
  writeFileSync(join(folder, 'relayer.key'), first.privateKey, { mode: 0o600 });
  const role = first.address;
  deployment = await deployContracts({
    ...{ request: anvil.request, chainId: anvil.chainId, deployerKey: first.privateKey, log: () => {} },
    operatorId: role,
    roles: { orderSigner: signer.address as Hex, settler: role, guardian: role, feeRecipient: role },
  });
  const plan = planContract('LocalUsdc', { name: 'USD Coin', symbol: 'USDC', minter: role });
  await create2('00'.repeat(32), plan.initCode);
  usdc = new Contract(plan.address, JSON.stringify(plan.artifact.abi), relayer);
  await done(usdc['mint']?.(payerAddress, 10_000_000_000n));
  const code = new URL(`../../../node_modules/hardhat-predeploy/bin/${permit2}.bytecode`, import.meta.url);
  await create2(permit2Salt, `0x${readFileSync(code, 'hex')}`);
  const { abi } = planOf('PaymentGateway');
  gateway = new Contract(deployment.gateway, abi, relayer);
  const block = await provider.getBlock('latest');
  now = BigInt(block?.timestamp ?? 0);
}

/** Stops the chain of `startKitChain`. */
export async function stopKitChain(): Promise<void> {
  provider.destroy();
  await anvil.close();
  rmSync(folder, { recursive: true });
}

function planOf(name: string): { readonly abi: string } {
  const url = new URL(`../../../contracts/artifacts/${name}.json`, import.meta.url);
  const { abi } = JSON.parse(readFileSync(url, 'utf8')) as { abi: unknown };
  return { abi: JSON.stringify(abi) };
}

async function create2(salt: string, code: Hex): Promise<void> {
  await done(relayer.sendTransaction({ to: create2Deployer, data: `0x${salt}${code.slice(2)}` }));
}

/**
 * Sends a transaction and waits until it is in a block and succeeded. The `wait` of ethers would wait for the next block, which
 * never comes here, when the chain mines between its first look and its first block.
 */
export async function done(sending: Promise<{ readonly hash: string }> | undefined): Promise<void> {
  // The answer of ethers' own contracts is untyped.
  const sent = await sending;
  assert.ok(sent !== undefined);
  let receipt = await provider.getTransactionReceipt(sent.hash);
  while (receipt === null) {
    await systemClock.sleep(20);
    receipt = await provider.getTransactionReceipt(sent.hash);
  }
  assert.equal(receipt.status, 1, `${sent.hash} failed`);
}

let count = 0;
export function makeOrder(change: Partial<TestOrder> = {}): TestOrder {
  count += 1;
  return {
    ...{ channelId, metaData: `0x${count.toString(16).padStart(64, 'd')}`, payer: payerAddress },
    ...{
      token: String(usdc.target),
      to: merchant,
      total: 100_000_000n,
      payment: 100_000_000n,
      fee: 200_000n,
    },
    ...{
      payBy: now + 30n * day,
      reclaimAt: now + 90n * day,
      orderType: 0n,
      targetChain: BigInt(anvil.chainId),
      via: ZeroAddress,
    },
    ...change,
  };
}

function gatewayDomain() {
  return {
    ...{ name: gatewayDomainName, version: domainVersion, chainId: anvil.chainId },
    verifyingContract: deployment.gateway,
  };
}

const types = { Order: [...orderTypes.Order] };
export function idOf(order: TestOrder): string {
  return TypedDataEncoder.hash(gatewayDomain(), types, order);
}

/** The id of the same order on another chain, with the gateway at the same address. */
export function idOnChain(order: TestOrder, chainId: bigint): string {
  return TypedDataEncoder.hash({ ...gatewayDomain(), chainId }, types, order);
}

export function signOrder(order: TestOrder): Promise<string> {
  return signer.signTypedData(gatewayDomain(), types, order);
}

export async function pay(order: TestOrder): Promise<string> {
  const asPayer = gateway.connect(payer) as Contract;
  await done((usdc.connect(payer) as Contract)['approve']?.(gateway.target, order['total']));
  await done(asPayer['pay']?.(order, await signOrder(order)));
  return idOf(order);
}

/** Calldata of `payWithAuthorization`, which anyone can send. */
export async function authorizedCall(order: TestOrder): Promise<string> {
  const message = {
    ...{ from: order.payer, to: gateway.target, value: order.total, validAfter: 0n },
    ...{ validBefore: BigInt(order.payBy) + 1n, nonce: idOf(order) },
  };
  const fields = ['from:address', 'to:address', 'value:uint256', 'validAfter:uint256', 'validBefore:uint256'];
  const authorizationTypes = {
    ReceiveWithAuthorization: [...fields, 'nonce:bytes32'].map((field) => {
      const [name = '', type = ''] = field.split(':');
      return { name, type };
    }),
  };
  const domain = {
    ...{ name: 'USD Coin', version: '2', chainId: anvil.chainId, verifyingContract: String(usdc.target) },
  };
  const authorization = await payer.signTypedData(domain, authorizationTypes, message);
  const args = [order, await signOrder(order), authorization];
  return gateway.interface.encodeFunctionData('payWithAuthorization', args);
}

export async function permitted(order: TestOrder): Promise<Signature> {
  const permitTypes = {
    Permit: ['owner:address', 'spender:address', 'value:uint256', 'nonce:uint256', 'deadline:uint256'].map(
      (field) => {
        const [name = '', type = ''] = field.split(':');
        return { name, type };
      },
    ),
  };
  const domain = {
    ...{ name: 'USD Coin', version: '2', chainId: anvil.chainId, verifyingContract: String(usdc.target) },
  };
  const message = {
    ...{ owner: order.payer, spender: gateway.target, value: order.total, nonce: 0n, deadline: order.payBy },
  };
  return Signature.from(await payer.signTypedData(domain, permitTypes, message));
}

export async function permit2Signed(order: TestOrder): Promise<string> {
  await done((usdc.connect(payer) as Contract)['approve']?.(permit2, order.total));
  const domain = { name: 'Permit2', chainId: anvil.chainId, verifyingContract: permit2 };
  const fields = (list: string) =>
    list.split(',').map((field) => {
      const [name = '', type = ''] = field.split(':');
      return { name, type };
    });
  const transferTypes = {
    PermitWitnessTransferFrom: fields(
      'permitted:TokenPermissions,spender:address,nonce:uint256,deadline:uint256,witness:Order',
    ),
    TokenPermissions: fields('token:address,amount:uint256'),
    ...types,
  };
  return payer.signTypedData(domain, transferTypes, {
    ...{ permitted: { token: order.token, amount: order.total }, spender: gateway.target },
    ...{ nonce: 7n, deadline: order.payBy, witness: order },
  });
}

export const lineItems = [
  { lineItemId: 'li_1', itemType: 'one_time', quantity: 2, unitPrice: 50_000_000, name: 'Käse' },
];
export const salt: Hex = `0x${'5a'.repeat(32)}`;

export async function receiptFor(order: TestOrder) {
  return {
    ...{ chainId: String(anvil.chainId), gateway: deployment.gateway, orderId: idOf(order), salt, lineItems },
    order: Object.fromEntries(Object.entries(order).map(([name, value]) => [name, String(value)])),
  };
}
