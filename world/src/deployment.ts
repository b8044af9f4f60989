import { readFileSync } from 'node:fs';
import {
  type Abi,
  type Address,
  concat,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  parseUnits,
  zeroHash,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Anvil } from './anvil.ts';
import type { WorldRoles } from './home.ts';
import type { ConfigToken } from './world-config.ts';

/** The contracts of one chain and its tokens. */
export interface ChainDeployment {
  readonly gateway: Address;
  readonly vault: Address;
  readonly tokens: readonly ConfigToken[];
}

interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

interface TokenPlan {
  readonly key: string;
  readonly artifact: 'LocalUsdc' | 'LocalUsdt' | 'LocalDai';
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
}

interface Call {
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
}

/** Arachnid's deployer, at the same address on every chain; it takes a salt and the code behind it. */
const CREATE2_DEPLOYER: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
const USDC: TokenPlan = { key: 'usdc', artifact: 'LocalUsdc', symbol: 'USDC', name: 'USD Coin', decimals: 6 };
const USDT: TokenPlan = {
  key: 'usdt',
  artifact: 'LocalUsdt',
  symbol: 'USDT',
  name: 'Tether USD',
  decimals: 6,
};
const DAI: TokenPlan = {
  key: 'dai',
  artifact: 'LocalDai',
  symbol: 'DAI',
  name: 'Dai Stablecoin',
  decimals: 18,
};
/** The tokens of each local chain. */
const TOKENS: Readonly<Record<string, readonly TokenPlan[]>> = {
  ethereum: [USDC, USDT],
  base: [USDC, USDT, DAI],
};

const VAULT_FLOAT = '1000000';
const CAP_PER_ORDER = '100000';
const CAP_PER_HOUR = '1000000';
const CAP_PER_DAY = '1000000';
const PAYER_FUNDS = '10000';
const DEPLOY_GAS = 6_000_000n;
const CALL_GAS = 200_000n;
const MAX_FEE_PER_GAS = 10_000_000_000n;
const PRIORITY_FEE_PER_GAS = 1_000_000_000n;
const BLOCK_LIMIT = 20;

const readArtifact = (name: string): Artifact => {
  const path = new URL(`../../contracts/artifacts/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, 'utf8')) as Artifact;
};

const planContract = (artifact: Artifact, args: readonly unknown[]): { address: Address; call: Call } => {
  const bytecode = encodeDeployData({ abi: artifact.abi, bytecode: artifact.bytecode, args });
  const address = getContractAddress({ opcode: 'CREATE2', from: CREATE2_DEPLOYER, salt: zeroHash, bytecode });
  return { address, call: { to: CREATE2_DEPLOYER, data: concat([zeroHash, bytecode]), gas: DEPLOY_GAS } };
};

const hasCode = async (chain: Anvil, address: Address): Promise<boolean> =>
  (await chain.rpc('eth_getCode', [address, 'latest'])) !== '0x';

const countTransactions = async (chain: Anvil, address: Address, tag: string): Promise<number> =>
  Number(await chain.rpc('eth_getTransactionCount', [address, tag]));

/** Sends the calls in order as one account and mines until all are done; a reverted one is an error. */
const sendAll = async (chain: Anvil, role: WorldRoles['admin'], calls: readonly Call[]): Promise<void> => {
  const account = privateKeyToAccount(role.privateKey);
  const first = await countTransactions(chain, account.address, 'latest');
  const raws = await Promise.all(
    calls.map((call, index) =>
      account.signTransaction({
        ...call,
        type: 'eip1559',
        chainId: chain.chainId,
        nonce: first + index,
        maxFeePerGas: MAX_FEE_PER_GAS,
        maxPriorityFeePerGas: PRIORITY_FEE_PER_GAS,
      }),
    ),
  );
  const hashes = await Promise.all(raws.map((raw) => chain.rpc('eth_sendRawTransaction', [raw])));
  for (let block = 0; block < BLOCK_LIMIT; block += 1) {
    await chain.mine();
    const receipts = (await Promise.all(
      hashes.map((hash) => chain.rpc('eth_getTransactionReceipt', [hash])),
    )) as ({
      status: string;
    } | null)[];
    const failed = receipts.findIndex((receipt) => receipt !== null && receipt.status !== '0x1');
    if (failed !== -1)
      throw new Error(`${chain.name}: set-up transaction ${failed} (${String(hashes[failed])}) reverted.`);
    if (receipts.every((receipt) => receipt !== null)) return;
  }
  throw new Error(`${chain.name}: the set-up transactions were not mined.`);
};

/** Lets a set-up that was killed half way finish, so that it is not begun twice. */
const mineWaiting = async (chain: Anvil, address: Address): Promise<void> => {
  for (let block = 0; block < BLOCK_LIMIT; block += 1) {
    const mined = await countTransactions(chain, address, 'latest');
    if ((await countTransactions(chain, address, 'pending')) === mined) return;
    await chain.mine();
  }
};

const planFunding = (
  plan: TokenPlan,
  artifact: Artifact,
  token: Address,
  recipients: readonly (readonly [to: Address, amount: string])[],
): Call[] => {
  const call = (functionName: string, args: readonly unknown[]): Call => ({
    to: token,
    data: encodeFunctionData({ abi: artifact.abi, functionName, args }),
    gas: CALL_GAS,
  });
  const units = (amount: string): bigint => parseUnits(amount, plan.decimals);
  if (plan.artifact !== 'LocalUsdt')
    return recipients.map(([to, amount]) => call('mint', [to, units(amount)]));
  // Like the real one, it makes tokens for its owner alone, who passes them on.
  const total = recipients.reduce((sum, [, amount]) => sum + units(amount), 0n);
  return [call('issue', [total]), ...recipients.map(([to, amount]) => call('transfer', [to, units(amount)]))];
};

const isFunded = async (
  chain: Anvil,
  token: Address,
  artifact: Artifact,
  holder: Address,
): Promise<boolean> => {
  const call = { abi: artifact.abi, functionName: 'balanceOf', args: [holder] };
  const data = encodeFunctionData(call);
  const result = (await chain.rpc('eth_call', [{ to: token, data }, 'latest'])) as Hex;
  return decodeFunctionResult({ ...call, data: result }) !== 0n;
};

/**
 * Puts the contracts and tokens on a chain, opens the vault's caps, and funds the vault and the payers.
 * Addresses are equal on every chain. Does nothing that is already done, so it continues after a kill.
 */
export const deployWorld = async (chain: Anvil, roles: WorldRoles): Promise<ChainDeployment> => {
  const { admin, orderSigner, settler, guardian, feeRecipient, payers } = roles;
  const plans = TOKENS[chain.name];
  if (plans === undefined) throw new Error(`No tokens are planned for the chain ${chain.name}.`);
  const vaultArtifact = readArtifact('PayoutVault');
  const authorities = [admin.address, orderSigner.address, settler.address, guardian.address];
  const vault = planContract(vaultArtifact, authorities);
  const gateway = planContract(readArtifact('PaymentGateway'), [
    ...authorities,
    feeRecipient.address,
    vault.address,
  ]);
  const tokens = plans.map((plan) => {
    const artifact = readArtifact(plan.artifact);
    return { plan, artifact, ...planContract(artifact, [plan.name, plan.symbol, admin.address]) };
  });

  await mineWaiting(chain, admin.address);
  const contracts = [vault, gateway, ...tokens];
  const present = await Promise.all(contracts.map(({ address }) => hasCode(chain, address)));
  const calls = contracts.flatMap(({ call }, index) => (present[index] === true ? [] : [call]));
  for (const { plan, artifact, address } of tokens) {
    const isPresent = present[contracts.findIndex((contract) => contract.address === address)] === true;
    if (isPresent && (await isFunded(chain, address, artifact, vault.address))) continue;
    const caps = [CAP_PER_ORDER, CAP_PER_HOUR, CAP_PER_DAY].map((cap) => parseUnits(cap, plan.decimals));
    const data = encodeFunctionData({
      abi: vaultArtifact.abi,
      functionName: 'setCaps',
      args: [address, ...caps],
    });
    calls.push({ to: vault.address, data, gas: CALL_GAS });
    // The vault last: its balance is the sign that this token is done.
    const people = payers.map((payer) => [payer.address, PAYER_FUNDS] as const);
    calls.push(...planFunding(plan, artifact, address, [...people, [vault.address, VAULT_FLOAT]]));
  }
  if (calls.length > 0) await sendAll(chain, admin, calls);
  return {
    gateway: gateway.address,
    vault: vault.address,
    tokens: tokens.map(({ plan, address }) => ({
      ...{ tokenId: `${chain.name}::${plan.key}`, address, symbol: plan.symbol, name: plan.name },
      decimals: plan.decimals,
    })),
  };
};
