import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import {
  type Artifact,
  type CctpSettings,
  type ContractPlan,
  type ContractRoles,
  create2Deployer,
  type PlannedContract,
  planContracts,
} from '@florin/server/operator';
import {
  type Abi,
  concat,
  createWalletClient,
  custom,
  getAddress,
  keccak256,
  publicActions,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  zeroAddress,
  zeroHash,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** Sends one JSON-RPC request to a node; an error answer rejects. */
export type RpcRequest = (method: string, params: readonly unknown[]) => Promise<unknown>;

export interface DeployOptions extends ContractRoles {
  readonly request: RpcRequest;
  readonly chainId: number;
  /** Pays for the deployment and has no rights afterwards. */
  readonly deployerKey: Hex;
  /** Absent: the gateway accepts no orders of type 3. */
  readonly cctp?: CctpSettings;
  /** The present holder of the admin role after a handover; the first admin when absent. */
  readonly currentAdmin?: Hex;
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
}

const receiptTimeoutMs = 600_000;
const pollingIntervalMs = 500;

/**
 * Deploys the contracts with CREATE2: the same roles give the same addresses on every chain. Existing contracts are
 * left alone, so an interrupted deployment is simply run again. Afterwards the code, the roles and the contracts'
 * references to each other are checked. Throws a CommandError for a wrong chain, code, role or address, and for the
 * vault as fee recipient.
 */
export async function deployContracts(options: DeployOptions): Promise<Deployment> {
  const client = openClient(options);
  const chainId = await client.getChainId();
  if (chainId !== options.chainId) {
    throw new CommandError(
      `the node serves chain ${chainId}, not ${options.chainId}: correct --chain or --rpc`,
    );
  }
  if (!(await hasCode(client, create2Deployer))) {
    throw new CommandError(
      `chain ${chainId} has no CREATE2 deployer at ${create2Deployer}: have it deployed there first (github.com/Arachnid/deterministic-deployment-proxy)`,
    );
  }
  await waitForPending(client, options.log);
  const plan = planContracts(options, options.cctp);
  const { vault, cctpRoute, gateway } = plan;
  if (options.feeRecipient.toLowerCase() === vault.address.toLowerCase())
    throw new CommandError(
      `the fee recipient ${options.feeRecipient} is the vault of this deployment: name a wallet of yours`,
    );
  const contracts: DeployedContract[] = [];
  for (const contract of cctpRoute === undefined ? [vault, gateway] : [vault, gateway, cctpRoute]) {
    const block = await deployContract(client, contract, options.log);
    contracts.push({ contract, codeHash: await checkCode(client, contract), block });
  }
  await checkParameters(client, options, plan);
  const [startBlock = 0n] = contracts.map(({ block }) => block).toSorted((a, b) => (a < b ? -1 : 1));
  return {
    gateway: gateway.address,
    vault: vault.address,
    ...(cctpRoute === undefined ? {} : { cctpRoute: cctpRoute.address }),
    startBlock,
    contracts,
  };
}

type Client = ReturnType<typeof openClient>;

function openClient({ request, deployerKey }: DeployOptions) {
  const account = privateKeyToAccount(deployerKey);
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

/** Returns the block of the contract's deployment, or an earlier one. */
async function deployContract(
  client: Client,
  { name, address, initCode }: PlannedContract,
  log: DeployOptions['log'],
): Promise<bigint> {
  if (await hasCode(client, address)) {
    log(`${name} already exists at ${address}`);
    return findDeploymentBlock(client, address);
  }
  const hash = await client.sendTransaction({
    to: create2Deployer,
    data: concat([zeroHash, initCode]),
    chain: null,
  });
  log(`${name} is being deployed to ${address} by ${hash}`);
  const { status, blockNumber } = await waitForReceipt(client, hash);
  // Anyone can deploy the same code first, and then our transaction reverts: only the code at the address counts.
  if (status !== 'success' && !(await hasCode(client, address))) {
    throw new CommandError(`the deployment of ${name} by ${hash} reverted: no role may be the zero address`);
  }
  return blockNumber;
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

/** The code with zeros in place of the constructor's values. */
function maskImmutables(code: Hex, references: Artifact['immutableReferences']): string {
  const bytes = Buffer.from(code.slice(2), 'hex');
  for (const { start, length } of references) bytes.subarray(start, start + length).fill(0);
  return bytes.toString('hex');
}

/** Returns the hash of the code, which must equal the artifact's except for the constructor's values. */
async function checkCode(client: Client, { name, address, artifact }: PlannedContract): Promise<Hex> {
  const code = await client.getCode({ address });
  const isOurs =
    code !== undefined &&
    maskImmutables(code, artifact.immutableReferences) ===
      maskImmutables(artifact.deployedBytecode, artifact.immutableReferences);
  if (!isOurs) {
    throw new CommandError(
      `the code at ${address} is not that of ${name}: do not use it, and inspect the chain`,
    );
  }
  return keccak256(code);
}

/** One value on the chain, and its expected value. */
interface Check {
  readonly what: string;
  readonly on: PlannedContract;
  readonly functionName: string;
  readonly args?: readonly unknown[];
  readonly wanted: unknown;
}

/** All values that the contracts reveal about their construction. */
function listChecks(options: DeployOptions, chainId: number, plan: ContractPlan): Check[] {
  const { orderSigner, settler, guardian, feeRecipient, cctp } = options;
  const { vault, cctpRoute, gateway } = plan;
  const admin = options.currentAdmin ?? options.admin;
  const shared = (on: PlannedContract, name: string): Check[] => [
    { what: `the ${name}'s admin`, on, functionName: 'admin', wanted: admin },
    { what: `the ${name}'s next admin`, on, functionName: 'pendingAdmin', wanted: zeroAddress },
    { what: `the ${name}'s guardian`, on, functionName: 'guardian', wanted: guardian },
    {
      ...{ what: `${settler} as settler of the ${name}`, on },
      ...{ functionName: 'isSettler', args: [settler], wanted: true },
    },
  ];
  const signer = { args: [orderSigner], wanted: true };
  return [
    ...shared(gateway, 'gateway'),
    { what: "the gateway's fee recipient", on: gateway, functionName: 'feeRecipient', wanted: feeRecipient },
    {
      ...{ what: `${orderSigner} as order signer of the gateway`, on: gateway },
      ...{ functionName: 'isOrderSigner', ...signer },
    },
    ...shared(vault, 'vault'),
    { what: `${orderSigner} as signer of the vault`, on: vault, functionName: 'isSigner', ...signer },
    ...(cctpRoute === undefined || cctp === undefined
      ? []
      : listRouteChecks(chainId, cctp, { gateway, cctpRoute })),
  ];
}

function listRouteChecks(
  chainId: number,
  cctp: CctpSettings,
  { gateway, cctpRoute }: { readonly gateway: PlannedContract; readonly cctpRoute: PlannedContract },
): Check[] {
  const { tokenMessenger } = cctp;
  return [
    { what: "the route's gateway", on: cctpRoute, functionName: 'gateway', wanted: gateway.address },
    { what: "the route's messenger", on: cctpRoute, functionName: 'tokenMessenger', wanted: tokenMessenger },
    // The route refuses its own chain, so there is no domain to compare.
    ...cctp.domains
      .filter((entry) => entry.chainId !== chainId)
      .map((entry) => ({
        what: `the route's domain of chain ${entry.chainId}`,
        on: cctpRoute,
        functionName: 'domainOf',
        args: [BigInt(entry.chainId)],
        wanted: entry.domain,
      })),
  ];
}

async function checkParameters(client: Client, options: DeployOptions, plan: ContractPlan): Promise<void> {
  const checks = listChecks(options, options.chainId, plan);
  const found = await Promise.all(
    checks.map(({ on, functionName, args = [] }) =>
      client.readContract({ address: on.address, abi: on.artifact.abi as Abi, functionName, args }),
    ),
  );
  const wrong = checks.flatMap(({ what, wanted }, index) =>
    String(found[index]).toLowerCase() === String(wanted).toLowerCase()
      ? []
      : [`${what} is ${show(found[index])} instead of ${show(wanted)}`],
  );
  if (wrong.length > 0) {
    throw new CommandError(`the contracts exist, but their roles differ: ${wrong.join('; ')}`);
  }
}

function show(value: unknown): string {
  return typeof value === 'string' && value.length === 42 ? getAddress(value) : String(value);
}
