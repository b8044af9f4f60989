import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import { type ContractCall, create2Deployer } from '@florin/server/operator';
import type { SigningKey } from '@florin/signing';
import timelockArtifact from '@openzeppelin/contracts/build/contracts/TimelockController.json' with {
  type: 'json',
};
import {
  type Abi,
  concat,
  createWalletClient,
  custom,
  encodeDeployData,
  getContractAddress,
  keccak256,
  zeroAddress,
  zeroHash,
} from 'viem';
import type { RpcRequest } from './deploy.ts';
import { accountOf } from './signing-account.ts';

const codeTimeoutMs = 600_000;
const pollingIntervalMs = 500;

/** OpenZeppelin's TimelockController that one multisig alone uses, without an admin, and the transaction that makes it. */
export interface PlannedTimelock {
  /** The same on every chain: it follows from code, multisig and delay. */
  readonly address: Hex;
  readonly call: ContractCall;
}

export function planTimelock(multisig: Hex, delaySeconds: bigint): PlannedTimelock {
  const initCode = encodeDeployData({
    ...{ abi: timelockArtifact.abi as Abi, bytecode: timelockArtifact.bytecode as Hex },
    args: [delaySeconds, [multisig], [multisig], zeroAddress],
  });
  const address = getContractAddress({
    ...{ opcode: 'CREATE2', from: create2Deployer, salt: zeroHash },
    bytecodeHash: keccak256(initCode),
  });
  return { address, call: { to: create2Deployer, data: concat([zeroHash, initCode]) } };
}

/**
 * Deploys the time lock where it is missing, paid by `key`. Throws a CommandError without a key, and when the chain has no
 * CREATE2 deployer.
 */
export async function deployTimelock(
  { address, call }: PlannedTimelock,
  {
    request,
    key,
    log,
  }: { readonly request: RpcRequest; readonly key?: SigningKey; readonly log: (sentence: string) => void },
): Promise<void> {
  const hasCode = async (at: Hex) => ((await request('eth_getCode', [at, 'latest'])) ?? '0x') !== '0x';
  if (await hasCode(address)) return;
  if (!(await hasCode(create2Deployer)))
    throw new CommandError(`the chain has no CREATE2 deployer at ${create2Deployer}: give --timelock`);
  if (key === undefined)
    throw new CommandError(
      `the time lock ${address} is not deployed yet: give --controller-keystore, which pays, or send this data to ${call.to}: ${call.data}`,
    );
  const transport = custom(
    { request: ({ method, params }) => request(method, params ?? []) },
    { retryCount: 0 },
  );
  const client = createWalletClient({ account: accountOf(key), transport });
  const hash = await client.sendTransaction({ ...call, chain: null });
  log(`the time lock is being deployed to ${address} by ${hash}`);
  for (let waitedMs = 0; waitedMs < codeTimeoutMs; waitedMs += pollingIntervalMs) {
    if (await hasCode(address)) return;
    await sleep(pollingIntervalMs);
  }
  throw new CommandError(`the transaction ${hash} has no effect yet: run the command again later`);
}
