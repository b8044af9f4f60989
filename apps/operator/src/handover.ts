import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '@florin/cli';
import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { SigningKey } from '@florin/signing';
import {
  createWalletClient,
  custom,
  encodeFunctionData,
  isAddressEqual,
  keccak256,
  parseAbi,
  publicActions,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem';
import type { RpcRequest } from './deploy.ts';
import { accountOf } from './signing-account.ts';
import { findProposers } from './timelock-roles.ts';

export interface HandoverOptions {
  readonly request: RpcRequest;
  readonly chainId: number;
  readonly gateway: Hex;
  readonly vault: Hex;
  /** The controller's key; without it the command only reads. */
  readonly controllerKey?: SigningKey;
  /** OpenZeppelin's TimelockController. */
  readonly timelock: Hex;
  /** Proposes to and executes from the time lock. */
  readonly multisig: Hex;
  /** The least delay that the time lock may have. */
  readonly minDelaySeconds: bigint;
  readonly log: (sentence: string) => void;
}

/** A transaction for the multisig to send. */
export interface MultisigStep {
  readonly to: Hex;
  readonly data: Hex;
  readonly does: string;
}

export interface Handover {
  /** offered: the multisig must schedule; scheduled: it must wait; ready: it must execute; done: finished. */
  readonly state: 'offered' | 'scheduled' | 'ready' | 'done';
  /** Unix seconds from which a scheduled operation can be executed. */
  readonly readyAtSeconds?: bigint;
  readonly next?: MultisigStep;
  readonly contracts: readonly Hex[];
}

const timelockAbi = parseAbi([
  'function getMinDelay() view returns (uint256)',
  'function hasRole(bytes32 role, address account) view returns (bool)',
  'function getTimestamp(bytes32 id) view returns (uint256)',
  'function isOperationReady(bytes32 id) view returns (bool)',
  'function hashOperationBatch(address[] targets, uint256[] values, bytes[] payloads, bytes32 predecessor, bytes32 salt) view returns (bytes32)',
  'function scheduleBatch(address[] targets, uint256[] values, bytes[] payloads, bytes32 predecessor, bytes32 salt, uint256 delay)',
  'function executeBatch(address[] targets, uint256[] values, bytes[] payloads, bytes32 predecessor, bytes32 salt) payable',
]);
const timelockRoles = {
  admin: zeroHash,
  proposer: keccak256(toHex('PROPOSER_ROLE')),
  executor: keccak256(toHex('EXECUTOR_ROLE')),
  canceller: keccak256(toHex('CANCELLER_ROLE')),
};
const handoverSalt = keccak256(toHex('Florin: the time lock accepts the controller role'));
const receiptTimeoutMs = 600_000;
const pollingIntervalMs = 500;

/**
 * Moves the controller role of gateway and vault to a time lock, as far as possible without the multisig, and reports the
 * multisig's next transaction. Run it again after each step; it reads the chain and does nothing twice. Before any
 * offer, it checks that only the multisig can use the time lock, and throws a CommandError otherwise.
 */
export async function handOver(options: HandoverOptions): Promise<Handover> {
  const client = openClient(options);
  const contracts = [options.gateway, options.vault] as const;
  const controllers = await Promise.all(
    contracts.map((address) => readController(client, address, 'controller')),
  );
  await checkTimelock(client, options, controllers);
  for (const [index, address] of contracts.entries()) {
    const controller = controllers[index] ?? zeroAddress;
    if (!isAddressEqual(controller, options.timelock)) await offer(client, options, { address, controller });
  }
  const waiting = contracts.filter(
    (_, index) => !isAddressEqual(controllers[index] ?? zeroAddress, options.timelock),
  );
  if (waiting.length > 0) return { ...(await nextStep(client, options, waiting)), contracts };
  for (const address of contracts) {
    if ((await readController(client, address, 'pendingController')) !== zeroAddress) {
      throw new CommandError(
        `${address} has another controller pending: have the time lock call transferController(0)`,
      );
    }
  }
  return { state: 'done', contracts };
}

type Client = ReturnType<typeof openClient>;

function openClient({ request }: HandoverOptions) {
  const transport = custom(
    { request: ({ method, params }) => request(method, params ?? []) },
    { retryCount: 0 },
  );
  return createWalletClient({ transport }).extend(publicActions);
}

function readController(
  client: Client,
  address: Hex,
  functionName: 'controller' | 'pendingController',
): Promise<Hex> {
  return client.readContract({ address, abi: payoutVaultAbi, functionName });
}

/** Refuses everything that could leave the contracts without a usable controller, or with one besides the multisig. */
async function checkTimelock(
  client: Client,
  options: HandoverOptions,
  controllers: readonly Hex[],
): Promise<void> {
  const { timelock, multisig, minDelaySeconds } = options;
  for (const [name, address] of [
    ['time lock', timelock],
    ['multisig', multisig],
  ] as const) {
    const code = await client.getCode({ address });
    if (code === undefined || code === '0x') {
      throw new CommandError(
        `the ${name} ${address} has no code on chain ${options.chainId}: deploy it first`,
      );
    }
  }
  const lock = { address: timelock, abi: timelockAbi } as const;
  const has = (role: Hex, account: Hex) =>
    client.readContract({ ...lock, functionName: 'hasRole', args: [role, account] });
  const delay = await client.readContract({ ...lock, functionName: 'getMinDelay' });
  const problems: string[] = [];
  if (delay < minDelaySeconds) problems.push(`its delay is ${delay} s, less than ${minDelaySeconds} s`);
  if (!(await has(timelockRoles.proposer, multisig))) problems.push('the multisig cannot propose');
  const isOpen = await has(timelockRoles.executor, zeroAddress);
  if (!isOpen && !(await has(timelockRoles.executor, multisig))) problems.push('the multisig cannot execute');
  // A holder of the time lock's own controller role can become a proposer without any delay.
  const powers = [timelockRoles.proposer, timelockRoles.canceller, timelockRoles.admin];
  const allowed = [multisig, timelock];
  for (const controller of controllers) {
    if (allowed.some((each) => isAddressEqual(each, controller))) continue;
    for (const role of powers)
      if (await has(role, controller)) problems.push(`the present controller ${controller} has a role on it`);
  }
  for (const { account, role } of await findProposers(client, timelock, powers)) {
    if (allowed.some((each) => isAddressEqual(each, account)) || !(await has(role, account))) continue;
    problems.push(`${account} has a role on it besides the multisig`);
  }
  if (problems.length > 0) {
    throw new CommandError(
      `the time lock ${timelock} cannot be controller: ${[...new Set(problems)].join('; ')}`,
    );
  }
}

/** Names the time lock as the next controller of a contract, once. */
async function offer(
  client: Client,
  { timelock, controllerKey, chainId, log }: HandoverOptions,
  { address, controller }: { readonly address: Hex; readonly controller: Hex },
): Promise<void> {
  if (isAddressEqual(await readController(client, address, 'pendingController'), timelock)) {
    log(`${address} waits for the time lock to accept`);
    return;
  }
  if (controllerKey === undefined)
    throw new CommandError(`${address} is not offered yet: give --controller-keystore`);
  const account = accountOf(controllerKey);
  if (!isAddressEqual(account.address, controller)) {
    throw new CommandError(`${account.address} is not the controller of ${address}: ${controller} is`);
  }
  const call = { abi: payoutVaultAbi, functionName: 'transferController', args: [timelock] } as const;
  const hash = await client.sendTransaction({
    account,
    to: address,
    data: encodeFunctionData(call),
    chain: null,
  });
  log(`${address} is offered to the time lock by ${hash} on chain ${chainId}`);
  for (let waitedMs = 0; waitedMs < receiptTimeoutMs; waitedMs += pollingIntervalMs) {
    if (isAddressEqual(await readController(client, address, 'pendingController'), timelock)) return;
    await sleep(pollingIntervalMs);
  }
  throw new CommandError(`the transaction ${hash} has no effect yet: run the command again later`);
}

/** The multisig's next transaction, with which the time lock accepts the role on all contracts that offer it. */
async function nextStep(
  client: Client,
  { timelock }: HandoverOptions,
  targets: readonly Hex[],
): Promise<Omit<Handover, 'contracts'>> {
  const accept = encodeFunctionData({ abi: payoutVaultAbi, functionName: 'acceptController' });
  const batch = [targets, targets.map(() => 0n), targets.map(() => accept), zeroHash, handoverSalt] as const;
  const lock = { address: timelock, abi: timelockAbi } as const;
  const id = await client.readContract({ ...lock, functionName: 'hashOperationBatch', args: batch });
  const readyAtSeconds = await client.readContract({ ...lock, functionName: 'getTimestamp', args: [id] });
  if (readyAtSeconds === 0n) {
    const delay = await client.readContract({ ...lock, functionName: 'getMinDelay' });
    const call = { abi: timelockAbi, functionName: 'scheduleBatch', args: [...batch, delay] } as const;
    const does = `schedules acceptController() on ${targets.join(' and ')}`;
    return { state: 'offered', next: { to: timelock, data: encodeFunctionData(call), does } };
  }
  if (!(await client.readContract({ ...lock, functionName: 'isOperationReady', args: [id] }))) {
    return { state: 'scheduled', readyAtSeconds };
  }
  const call = { abi: timelockAbi, functionName: 'executeBatch', args: batch } as const;
  const does = `executes acceptController() on ${targets.join(' and ')}`;
  return { state: 'ready', readyAtSeconds, next: { to: timelock, data: encodeFunctionData(call), does } };
}
