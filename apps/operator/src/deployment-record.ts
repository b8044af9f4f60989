import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError, optional } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import { type ContractRoles, create2Deployer } from '@florin/server/operator';
import { getAddress, isAddress } from 'viem';
import type { Deployment } from './deploy.ts';

/**
 * The deployment on one chain (contracts/deployments/README.md). Addresses with checksum, numbers as decimal strings.
 */
export interface DeploymentRecord {
  readonly chainId: string;
  readonly create2Deployer: Hex;
  readonly salt: Hex;
  /** The address that controlled the contracts at first: with the code, all that their addresses follow from. */
  readonly operatorId: Hex;
  /** The keys with which the contracts were set up. The controller may have changed them since. */
  readonly roles: ContractRoles;
  /** Who controls the contracts now. */
  readonly controller: Hex;
  readonly startBlock: string;
  /** The compiler's full version, without a leading v. */
  readonly compilerVersion: string;
  readonly contracts: Readonly<
    Record<
      string,
      {
        readonly address: Hex;
        /** Who ran CREATE2: `create2Deployer`, or the factory. */
        readonly creator: Hex;
        readonly block: string;
        readonly initCodeHash: Hex;
        readonly codeHash: Hex;
        readonly parameters: Readonly<Record<string, string>>;
        /** The parameters as the ABI encodes them: what follows the code in the creation code. */
        readonly constructorArguments: Hex;
        /** File and name in `<chainId>-sources.json`, such as `src/PayoutVault.sol:PayoutVault`. */
        readonly source: string;
      }
    >
  >;
}

/** The folder of the checkout with one record per chain. */
export const deploymentsFolder = fileURLToPath(new URL('../../../contracts/deployments', import.meta.url));

/** The option that names another folder. */
export const recordOption = optional(
  '--record <folder>',
  'the folder of the records (default: contracts/deployments)',
);

/** The record of a deployment that was checked. */
export function recordOf(
  chainId: number,
  given: Pick<DeploymentRecord, 'operatorId' | 'roles' | 'controller'> & { readonly deployment: Deployment },
): DeploymentRecord {
  const { orderSigner, settler, guardian, feeRecipient } = given.roles;
  const contracts = given.deployment.contracts.map(({ contract, codeHash, block }) => {
    const { name, creator, address, initCodeHash, parameters, artifact, initCode } = contract;
    const constructorArguments: Hex = `0x${initCode.slice(artifact.bytecode.length)}`;
    const source = `src/${name}.sol:${name}`;
    const made = { address, creator, block: String(block), initCodeHash, codeHash, parameters };
    return [name, { ...made, constructorArguments, source }] as const;
  });
  return {
    chainId: String(chainId),
    create2Deployer,
    salt: `0x${'00'.repeat(32)}`,
    operatorId: given.operatorId,
    roles: { orderSigner, settler, guardian, feeRecipient },
    controller: given.controller,
    startBlock: String(given.deployment.startBlock),
    compilerVersion: readStandardInput().compilerVersion,
    contracts: Object.fromEntries(contracts),
  };
}

/** The compiler's version and its standard-JSON input, from which it makes the contracts byte for byte. */
export interface StandardInput {
  readonly compilerVersion: string;
  readonly input: object;
}

function readStandardInput(): StandardInput {
  const url = new URL('../../../contracts/artifacts/standard-json.json', import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as StandardInput;
}

/** Writes the compiler's input next to the record, as explorers take it, and returns its path. */
export function writeSources(folder: string, chainId: number): string {
  return writeWhole(join(folder, `${chainId}-sources.json`), readStandardInput().input);
}

/** The compiler's input of a deployment. Throws a CommandError when it is missing. */
export function readSources(folder: string, chainId: number): object {
  const path = join(folder, `${chainId}-sources.json`);
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as object;
  } catch (error) {
    throw new CommandError(
      `${path} cannot be read (${(error as Error).message}): florin deploy writes it; run it again`,
    );
  }
}

/** Writes `<folder>/<chainId>.json` completely or not at all, and returns its path. */
export function writeRecord(folder: string, record: DeploymentRecord): string {
  return writeWhole(join(folder, `${record.chainId}.json`), record);
}

function writeWhole(path: string, content: object): string {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(content, undefined, 2)}\n`);
    renameSync(draft, path);
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  }
  return path;
}

/** The record of a chain; undefined when there is none. Throws a CommandError for a file that is not a record. */
export function readRecord(folder: string, chainId: number): DeploymentRecord | undefined {
  const path = join(folder, `${chainId}.json`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const record = JSON.parse(text) as DeploymentRecord;
    if (record.chainId !== String(chainId) || !isAddress(record.controller)) throw new Error('wrong content');
    return { ...record, controller: getAddress(record.controller) };
  } catch {
    throw new CommandError(
      `${path} is not a record of a deployment on chain ${chainId}: restore or remove it`,
    );
  }
}
