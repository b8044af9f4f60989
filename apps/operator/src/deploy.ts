import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import {
  type CctpSettings,
  type ContractPlan,
  type ContractRoles,
  deploymentCall,
  isCodeOf,
  type PlannedContract,
  planContracts,
  type RoleSetting,
  roleSettings,
} from '@florin/server/operator';
import type { SigningKey } from '@florin/signing';
import {
  createWalletClient,
  custom,
  getAddress,
  keccak256,
  publicActions,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  zeroAddress,
} from 'viem';
import { checkChainFitness } from './deploy-preflight.ts';
import { accountOf } from './signing-account.ts';

/** Sends one JSON-RPC request to a node; an error answer rejects. */
export type RpcRequest = (method: string, params: readonly unknown[]) => Promise<unknown>;

export interface DeployOptions {
  readonly request: RpcRequest;
  readonly chainId: number;
  /** The address that controls the contracts at first. With the code, all that their addresses follow from. */
  readonly operatorId: Hex;
  readonly roles: ContractRoles;
  /** Pays for the deployment and has no rights afterwards. */
  readonly deployerKey: SigningKey;
  /** The controller's key, which sets up new contracts; the deployer's when absent. */
  readonly controllerKey?: SigningKey;
  /** Absent: no route is deployed. */
  readonly cctp?: CctpSettings;
  /** The present controller after a handover; the operator's id when absent. */
  readonly controller?: Hex;
  /** Gets each finished step as a sentence. */
  readonly log: (sentence: string) => void;
}

/** A contract that matches the plan. */
export interface DeployedContract {
  readonly contract: PlannedContract;
  /** Hash of the code on the chain, with the constructor's values in it. */
  readonly codeHash: Hex;
  /** At or before the block of its deployment. */
  readonly block: bigint;
}

export interface Deployment {
  readonly gateway: Hex;
  readonly vault: Hex;
  readonly cctpRoute?: Hex;
  /** At or before the block of the oldest contract. */
  readonly startBlock: bigint;
  readonly contracts: readonly DeployedContract[];
  /** What the controller has still to set, in this order; empty when the contracts work and were read back. */
  readonly pending: readonly RoleSetting[];
}

const receiptTimeoutMs = 600_000;
const pollingIntervalMs = 500;

/**
 * Deploys factory, gateway, vault and route where they are missing, and sets up gateway and vault where the controller's key
 * is given. Existing contracts are left alone, so an interrupted deployment is simply run again. Afterwards code, roles and
 * references are read back. Throws a CommandError for a wrong chain, code, role or address, and for the vault as fee
 * recipient.
 */
export async function deployContracts(options: DeployOptions): Promise<Deployment> {
  const client = openClient(options, options.deployerKey);
  const chainId = await client.getChainId();
  if (chainId !== options.chainId) {
    throw new CommandError(
      `the node serves chain ${chainId}, not ${options.chainId}: correct --chain or --rpc`,
    );
  }
  await checkChainFitness(options);
  const plan = planContracts(options.operatorId, options.cctp);
  const { factory, gateway, vault, cctpRoute } = plan;
  if (options.roles.feeRecipient.toLowerCase() === vault.address.toLowerCase())
    throw new CommandError(
      `the fee recipient ${options.roles.feeRecipient} is the vault of this deployment: name a wallet of yours`,
    );
  await waitForPending(client, options.log);
  const contracts: DeployedContract[] = [];
  // The factory makes gateway and vault in one transaction.
  for (const together of [[factory], [gateway, vault], ...(cctpRoute === undefined ? [] : [[cctpRoute]])]) {
    const blocks = await deployTogether(client, together, options.log);
    for (const contract of together) {
      const codeHash = await checkCode(client, contract);
      contracts.push({ contract, codeHash, block: blocks.get(contract) ?? 0n });
    }
  }
  await checkValues(client, listChecks(options, plan));
  const pending = await setUp(client, options, plan);
  const settings = roleSettings({ gateway: gateway.address, vault: vault.address }, options.roles);
  if (pending.length === 0) await checkValues(client, settings);
  const [startBlock = 0n] = contracts.map(({ block }) => block).toSorted((a, b) => (a < b ? -1 : 1));
  if (startBlock === 0n)
    options.log(
      'startBlock is 0, because the node has no state that old: write the block of the oldest contract there, or the first start reads the whole chain',
    );
  return {
    gateway: gateway.address,
    vault: vault.address,
    ...(cctpRoute === undefined ? {} : { cctpRoute: cctpRoute.address }),
    startBlock,
    contracts,
    pending,
  };
}

type Client = ReturnType<typeof openClient>;

function openClient({ request }: Pick<DeployOptions, 'request'>, key: SigningKey) {
  const account = accountOf(key);
  const transport = custom(
    { request: ({ method, params }) => request(method, params ?? []) },
    { retryCount: 0 },
  );
  return createWalletClient({ account, transport }).extend(publicActions);
}

async function hasCode(client: Client, address: Hex, blockNumber?: bigint): Promise<boolean> {
  const code = await client.getCode({ address, ...(blockNumber === undefined ? {} : { blockNumber }) });
  return code !== undefined && code !== '0x';
}

/** Waits for transactions of an interrupted run: the same contract sent twice reverts the second time. */
async function waitForPending(client: Client, log: DeployOptions['log']): Promise<void> {
  const { address } = client.account;
  for (let waitedMs = 0; waitedMs < receiptTimeoutMs; waitedMs += pollingIntervalMs) {
    const [mined, sent] = await Promise.all([
      client.getTransactionCount({ address, blockTag: 'latest' }),
      client.getTransactionCount({ address, blockTag: 'pending' }),
    ]);
    if (sent <= mined) return;
    if (waitedMs === 0) log(`${sent - mined} transactions of ${address} are pending: waiting for them`);
    await sleep(pollingIntervalMs);
  }
  throw new CommandError(`transactions of ${address} stay pending: have them mined or replaced first`);
}

/** Deploys contracts that one transaction makes. Returns the block of each, or an earlier one. */
async function deployTogether(
  client: Client,
  contracts: readonly PlannedContract[],
  log: DeployOptions['log'],
): Promise<ReadonlyMap<PlannedContract, bigint>> {
  const [first] = contracts;
  const present = await Promise.all(contracts.map(({ address }) => hasCode(client, address)));
  if (first === undefined || present.every(Boolean)) {
    for (const { name, address } of contracts) log(`${name} already exists at ${address}`);
    const found = await Promise.all(
      contracts.map(
        async (contract) => [contract, await findDeploymentBlock(client, contract.address)] as const,
      ),
    );
    return new Map(found);
  }
  for (const [index, contract] of contracts.entries())
    if (present[index] === true) await checkCode(client, contract);
  const hash = await client.sendTransaction({ ...deploymentCall(first), chain: null });
  for (const { name, address } of contracts) log(`${name} is being deployed to ${address} by ${hash}`);
  const { status, blockNumber } = await waitForReceipt(client, hash);
  // Anyone can deploy the same code first, and then our transaction reverts: only the code at the address counts.
  if (status !== 'success' && !(await hasCode(client, first.address))) {
    throw new CommandError(`the deployment of ${first.name} by ${hash} reverted: inspect it on the chain`);
  }
  return new Map(contracts.map((contract) => [contract, blockNumber]));
}

/**
 * Has the controller set what new contracts lack, and returns what it has still to send when its key is not at hand. A
 * contract with a guardian was set up before, and is left alone: it may have been paused or have lost a key on purpose.
 */
async function setUp(client: Client, options: DeployOptions, plan: ContractPlan): Promise<RoleSetting[]> {
  const { gateway, vault } = plan;
  const guardians = await Promise.all(
    [gateway, vault].map(async ({ address, artifact: { abi } }) => {
      const guardian = await client.readContract({ address, abi, functionName: 'guardian' });
      return [address, guardian] as const;
    }),
  );
  const fresh = new Set(
    guardians.filter(([, guardian]) => guardian === zeroAddress).map(([address]) => address),
  );
  const settings = roleSettings({ gateway: gateway.address, vault: vault.address }, options.roles);
  const values = await readValues(client, settings);
  const missing = settings.filter((each, index) => fresh.has(each.to) && !isSame(values[index], each.wanted));
  const controllerClient = openClient(options, options.controllerKey ?? options.deployerKey);
  const controller = options.controller ?? options.operatorId;
  if (missing.length === 0 || !isSame(controllerClient.account.address, controller)) return missing;
  await waitForPending(controllerClient, options.log);
  for (const { what, wanted, to, data } of missing) {
    const hash = await controllerClient.sendTransaction({ to, data, chain: null });
    const { status } = await waitForReceipt(controllerClient, hash);
    if (status !== 'success')
      throw new CommandError(`the setting of ${what} by ${hash} reverted: run the command again`);
    options.log(`${what} is set to ${show(wanted)} by ${hash}`);
  }
  return [];
}

async function waitForReceipt(client: Client, hash: Hex): Promise<TransactionReceipt> {
  for (let waitedMs = 0; waitedMs < receiptTimeoutMs; waitedMs += pollingIntervalMs) {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
    }
    await sleep(pollingIntervalMs);
  }
  throw new CommandError(`the transaction ${hash} is not mined yet: run the command again later`);
}

/** The first block with the contract, by bisection; 0 when the node has no state that old. */
async function findDeploymentBlock(client: Client, address: Hex): Promise<bigint> {
  let without = -1n;
  let withCode = await client.getBlockNumber();
  while (withCode - without > 1n) {
    const middle = (without + withCode) / 2n;
    try {
      if (await hasCode(client, address, middle)) withCode = middle;
      else without = middle;
    } catch {
      // Only archive nodes have old state; an early start only costs time.
      return 0n;
    }
  }
  return withCode;
}

/** Returns the hash of the code, which must equal the artifact's except for the constructor's values. */
async function checkCode(client: Client, { name, address, artifact }: PlannedContract): Promise<Hex> {
  const code = await client.getCode({ address });
  if (code === undefined || !isCodeOf(artifact, code)) {
    throw new CommandError(
      `the code at ${address} is not that of ${name}: do not use it, and inspect the chain`,
    );
  }
  return keccak256(code);
}

/** One value on the chain, and its expected value. */
type Check = Pick<RoleSetting, 'what' | 'to' | 'abi' | 'read' | 'args'> & { readonly wanted: unknown };

/** All values that the contracts reveal about their construction, and their controllers. */
function listChecks(options: DeployOptions, plan: ContractPlan): Check[] {
  const { gateway, vault, cctpRoute } = plan;
  const controller = options.controller ?? options.operatorId;
  const controlled = ([name, { address: to, artifact }]: readonly [string, PlannedContract]): Check[] => {
    const on = { to, abi: artifact.abi, args: [] };
    return [
      { what: `the ${name}'s controller`, ...on, read: 'controller', wanted: controller },
      { what: `the ${name}'s next controller`, ...on, read: 'pendingController', wanted: zeroAddress },
    ];
  };
  return [
    ...controlled(['gateway', gateway]),
    ...controlled(['vault', vault]),
    ...(cctpRoute === undefined || options.cctp === undefined
      ? []
      : listRouteChecks(options.chainId, options.cctp, { gateway, cctpRoute })),
  ];
}

function listRouteChecks(
  chainId: number,
  cctp: CctpSettings,
  { gateway, cctpRoute }: { readonly gateway: PlannedContract; readonly cctpRoute: PlannedContract },
): Check[] {
  const on = { to: cctpRoute.address, abi: cctpRoute.artifact.abi };
  return [
    { what: "the route's gateway", ...on, read: 'gateway', args: [], wanted: gateway.address },
    { what: "the route's messenger", ...on, read: 'tokenMessenger', args: [], wanted: cctp.tokenMessenger },
    // The route refuses its own chain, so there is no domain to compare.
    ...cctp.domains
      .filter((entry) => entry.chainId !== chainId)
      .map((entry) => ({
        what: `the route's domain of chain ${entry.chainId}`,
        ...on,
        read: 'domainOf',
        args: [BigInt(entry.chainId)],
        wanted: entry.domain,
      })),
  ];
}

function readValues(client: Client, checks: readonly Check[]): Promise<unknown[]> {
  return Promise.all(
    checks.map(({ to, abi, read, args }) =>
      client.readContract({ address: to, abi, functionName: read, args }),
    ),
  );
}

async function checkValues(client: Client, checks: readonly Check[]): Promise<void> {
  const found = await readValues(client, checks);
  const wrong = checks.flatMap(({ what, wanted }, index) =>
    isSame(found[index], wanted) ? [] : [`${what} is ${show(found[index])} instead of ${show(wanted)}`],
  );
  if (wrong.length > 0) {
    throw new CommandError(`the contracts exist, but their roles differ: ${wrong.join('; ')}`);
  }
}

function isSame(found: unknown, wanted: unknown): boolean {
  return String(found).toLowerCase() === String(wanted).toLowerCase();
}

function show(value: unknown): string {
  return typeof value === 'string' && value.length === 42 ? getAddress(value) : String(value);
}
