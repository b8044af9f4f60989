import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Anvil } from '../anvil.ts';
import type { KeyPair } from '../home.ts';
import { ActRefused } from './act-world.ts';

/** What acts call: the tokens of contracts/local, as their issuers and holders, and the vault as its admin. */
export const actAbi = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function transfer(address to, uint256 amount)',
  'function mint(address to, uint256 amount)',
  'function issue(uint256 amount)',
  'function paused() view returns (bool)',
  'function pause()',
  'function unpause()',
  'function isBlacklisted(address) view returns (bool)',
  'function isBlackListed(address) view returns (bool)',
  'function blacklist(address)',
  'function unBlacklist(address)',
  'function addBlackList(address)',
  'function removeBlackList(address)',
  'function withdraw(address token, address to, uint256 amount)',
]);

export interface ChainCall {
  readonly to: Address;
  readonly data: Hex;
}

const GAS = 600_000n;
const TIP_WEI = 1_000_000_000n;
const RECEIPT_LIMIT_MS = 20_000;
const RECEIPT_PAUSE_MS = 50;

/** A call of a contract's function by its name. */
export const callOf = (to: Address, functionName: string, args: readonly unknown[]): ChainCall => ({
  to,
  data: encodeFunctionData({ abi: actAbi, functionName, args } as Parameters<typeof encodeFunctionData>[0]),
});

/** What a view function answers at the newest block. */
export const readView = async (
  chain: Anvil,
  to: Address,
  functionName: string,
  args: readonly unknown[],
): Promise<unknown> => {
  const data = (await chain.rpc('eth_call', [callOf(to, functionName, args), 'latest'])) as Hex;
  return decodeFunctionResult({ abi: actAbi, functionName, data } as Parameters<
    typeof decodeFunctionResult
  >[0]);
};

/** Sends a transaction and waits for its block; returns its hash. Refuses where it fails or the chain stands still. */
export const sendAs = async (chain: Anvil, sender: KeyPair, call: ChainCall): Promise<Hex> => {
  const account = privateKeyToAccount(sender.privateKey);
  const [nonce, gasPrice] = await Promise.all([
    chain.rpc('eth_getTransactionCount', [account.address, 'pending']),
    chain.rpc('eth_gasPrice'),
  ]);
  const raw = await account.signTransaction({
    ...{ ...call, type: 'eip1559', chainId: chain.chainId, nonce: Number(nonce), gas: GAS },
    maxFeePerGas: 2n * BigInt(String(gasPrice)) + TIP_WEI,
    maxPriorityFeePerGas: TIP_WEI,
  });
  const hash = (await chain.rpc('eth_sendRawTransaction', [raw])) as Hex;
  const deadline = performance.now() + RECEIPT_LIMIT_MS;
  while (performance.now() < deadline) {
    const receipt = (await chain.rpc('eth_getTransactionReceipt', [hash])) as { status: string } | null;
    if (receipt?.status === '0x1') return hash;
    if (receipt !== null) throw new ActRefused(`The transaction ${hash} on ${chain.name} reverted.`);
    await sleep(RECEIPT_PAUSE_MS);
  }
  throw new ActRefused(`The transaction ${hash} waits for a block: does ${chain.name} stand still?`);
};
