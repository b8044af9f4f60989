import { readFileSync } from 'node:fs';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import {
  type Abi,
  concat,
  createWalletClient,
  encodeDeployData,
  getContractAddress,
  http,
  publicActions,
  zeroHash,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { CommandError } from './command-error.ts';

export interface DeployOptions {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Pays for the deployment and has no rights afterwards. */
  readonly deployerKey: Hex;
  readonly admin: Hex;
  readonly orderSigner: Hex;
  readonly settler: Hex;
  readonly guardian: Hex;
  readonly feeRecipient: Hex;
  /** Told what is done, a sentence each. */
  readonly log: (sentence: string) => void;
}

export interface Deployment {
  readonly gateway: Hex;
  readonly vault: Hex;
  /** At or before the block of the older contract. */
  readonly startBlock: bigint;
}

type ContractName = 'PayoutVault' | 'PaymentGateway';

interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
  readonly deployedBytecode: Hex;
  /** Where the constructor's values stand in the code, in bytes. */
  readonly immutableReferences: readonly { readonly start: number; readonly length: number }[];
}

interface Contract {
  readonly name: ContractName;
  readonly address: Hex;
  readonly artifact: Artifact;
  readonly initCode: Hex;
}

/** Arachnid's deployer, at this address on nearly every chain: it takes a salt and the code behind it. */
export const create2Deployer: Hex = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
const receiptTimeoutMs = 600_000;

/**
 * Puts the vault and the gateway on a chain with CREATE2: the same roles give the same addresses on every chain. What
 * stands there already is left alone, so that an interrupted deployment is simply run again. Afterwards the code and
 * the roles are compared with what was asked for. Throws a CommandError for a wrong chain, code or role.
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
  const contracts = planContracts(options);
  const blocks: bigint[] = [];
  for (const contract of contracts) {
    blocks.push(await deployContract(client, contract, options.log));
    await checkCode(client, contract);
  }
  const [vault, gateway] = contracts;
  await checkRoles(client, options, { vault: vault.address, gateway: gateway.address });
  const [startBlock = 0n] = blocks.toSorted((first, second) => (first < second ? -1 : 1));
  return { gateway: gateway.address, vault: vault.address, startBlock };
}

type Client = ReturnType<typeof openClient>;

function openClient({ rpcUrl, deployerKey }: DeployOptions) {
  const account = privateKeyToAccount(deployerKey);
  return createWalletClient({ account, transport: http(rpcUrl), pollingInterval: 500 }).extend(publicActions);
}

function readArtifact(name: ContractName): Artifact {
  const url = new URL(`../../contracts/artifacts/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Artifact;
}

function planContract(name: ContractName, args: readonly Hex[]): Contract {
  const artifact = readArtifact(name);
  const initCode = encodeDeployData({ abi: artifact.abi, bytecode: artifact.bytecode, args });
  const address = getContractAddress({
    opcode: 'CREATE2',
    from: create2Deployer,
    salt: zeroHash,
    bytecode: initCode,
  });
  return { name, address, artifact, initCode };
}

/** Vault first: the gateway's code holds its address. */
function planContracts(options: DeployOptions): readonly [vault: Contract, gateway: Contract] {
  const roles = [options.admin, options.orderSigner, options.settler, options.guardian];
  const vault = planContract('PayoutVault', roles);
  return [vault, planContract('PaymentGateway', [...roles, options.feeRecipient, vault.address])];
}

async function hasCode(client: Client, address: Hex, blockNumber?: bigint): Promise<boolean> {
  const code = await client.getCode({ address, ...(blockNumber === undefined ? {} : { blockNumber }) });
  return code !== undefined && code !== '0x';
}

/** Gives the block of the contract's deployment, or an earlier one. */
async function deployContract(
  client: Client,
  { name, address, initCode }: Contract,
  log: DeployOptions['log'],
): Promise<bigint> {
  if (await hasCode(client, address)) {
    log(`${name} stands at ${address} already`);
    return findDeploymentBlock(client, address);
  }
  const hash = await client.sendTransaction({
    to: create2Deployer,
    data: concat([zeroHash, initCode]),
    chain: null,
  });
  log(`${name} is being deployed to ${address} by ${hash}`);
  const receipt = await client.waitForTransactionReceipt({ hash, timeout: receiptTimeoutMs });
  if (receipt.status !== 'success') {
    throw new CommandError(`the deployment of ${name} by ${hash} reverted: no role may be the zero address`);
  }
  return receipt.blockNumber;
}

/** The first block with the contract, by bisection; 0 when the node keeps no state that old. */
async function findDeploymentBlock(client: Client, address: Hex): Promise<bigint> {
  let without = -1n;
  let withCode = await client.getBlockNumber();
  while (withCode - without > 1n) {
    const middle = (without + withCode) / 2n;
    try {
      if (await hasCode(client, address, middle)) withCode = middle;
      else without = middle;
    } catch {
      // Only archive nodes know old state; beginning too early costs time and nothing else.
      return 0n;
    }
  }
  return withCode;
}

/** The code with zeros where the constructor wrote its values. */
function maskImmutables(code: Hex, references: Artifact['immutableReferences']): string {
  const bytes = Buffer.from(code.slice(2), 'hex');
  for (const { start, length } of references) bytes.subarray(start, start + length).fill(0);
  return bytes.toString('hex');
}

async function checkCode(client: Client, { name, address, artifact }: Contract): Promise<void> {
  const code = await client.getCode({ address });
  const isOurs =
    code !== undefined &&
    maskImmutables(code, artifact.immutableReferences) ===
      maskImmutables(artifact.deployedBytecode, artifact.immutableReferences);
  if (!isOurs) {
    throw new CommandError(
      `the code at ${address} is not that of ${name}: do not use it, look at the chain first`,
    );
  }
}

async function checkRoles(
  client: Client,
  options: DeployOptions,
  addresses: { readonly gateway: Hex; readonly vault: Hex },
): Promise<void> {
  const gateway = { address: addresses.gateway, abi: paymentGatewayAbi } as const;
  const vault = { address: addresses.vault, abi: payoutVaultAbi } as const;
  const { admin, orderSigner, settler, guardian, feeRecipient } = options;
  const checks: readonly (readonly [what: string, found: Promise<Hex | boolean>, wanted: Hex | boolean])[] = [
    ["the gateway's admin", client.readContract({ ...gateway, functionName: 'admin' }), admin],
    ["the gateway's guardian", client.readContract({ ...gateway, functionName: 'guardian' }), guardian],
    [
      "the gateway's fee recipient",
      client.readContract({ ...gateway, functionName: 'feeRecipient' }),
      feeRecipient,
    ],
    ["the gateway's vault", client.readContract({ ...gateway, functionName: 'vault' }), addresses.vault],
    [
      `${orderSigner} as order signer of the gateway`,
      client.readContract({ ...gateway, functionName: 'isOrderSigner', args: [orderSigner] }),
      true,
    ],
    [
      `${settler} as settler of the gateway`,
      client.readContract({ ...gateway, functionName: 'isSettler', args: [settler] }),
      true,
    ],
    ["the vault's admin", client.readContract({ ...vault, functionName: 'admin' }), admin],
    ["the vault's guardian", client.readContract({ ...vault, functionName: 'guardian' }), guardian],
    [
      `${orderSigner} as signer of the vault`,
      client.readContract({ ...vault, functionName: 'isSigner', args: [orderSigner] }),
      true,
    ],
    [
      `${settler} as settler of the vault`,
      client.readContract({ ...vault, functionName: 'isSettler', args: [settler] }),
      true,
    ],
  ];
  const found = await Promise.all(checks.map(([, reading]) => reading));
  const wrong = checks.flatMap(([what, , wanted], index) =>
    String(found[index]).toLowerCase() === String(wanted).toLowerCase()
      ? []
      : [`${what} is ${String(found[index])} instead of ${String(wanted)}`],
  );
  if (wrong.length > 0) {
    throw new CommandError(`the contracts stand, but their roles differ: ${wrong.join('; ')}`);
  }
}
