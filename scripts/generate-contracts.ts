// Lets forge compile contracts/, with the locked npm solc and the settings of contracts/foundry.toml, and writes what the rest of
// the house imports: contracts/artifacts/*.json, packages/protocol/src/contract.gen.ts and the code that the server asks chains with.
//   node scripts/generate-contracts.ts            writes
//   node scripts/generate-contracts.ts --check    exits 1 when a committed file differs from its source

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const contractsFolder = join(root, 'contracts');
const artifactsFolder = join(contractsFolder, 'artifacts');
const abiFile = join(root, 'packages/protocol', 'src', 'contract.gen.ts');
const questionFile = join(root, 'apps/server', 'src', 'authorizations', 'counterfactual.gen.ts');

const artifacts = [
  { source: 'src/GatewayFactory.sol', name: 'GatewayFactory' },
  { source: 'src/PaymentGateway.sol', name: 'PaymentGateway' },
  { source: 'src/PayoutVault.sol', name: 'PayoutVault' },
  { source: 'src/CctpRoute.sol', name: 'CctpRoute' },
  { source: 'src/DepositReceiver.sol', name: 'DepositReceiver' },
  { source: 'local/LocalMessageTransmitter.sol', name: 'LocalMessageTransmitter' },
  { source: 'local/LocalTokenMessenger.sol', name: 'LocalTokenMessenger' },
  { source: 'local/LocalUsdc.sol', name: 'LocalUsdc' },
  { source: 'local/LocalUsdt.sol', name: 'LocalUsdt' },
  { source: 'local/LocalDai.sol', name: 'LocalDai' },
  { source: 'local/LocalSmartWallet.sol', name: 'LocalSmartWallet' },
  { source: 'local/LocalWalletFactory.sol', name: 'LocalWalletFactory' },
  { source: 'local/LocalHostileWallet.sol', name: 'LocalHostileWallet' },
];

/** Members of IERC20 that wallets, the watcher and the server need, in this order. */
const erc20Members = [
  'name',
  'symbol',
  'decimals',
  'balanceOf',
  'allowance',
  'approve',
  'transfer',
  'Transfer',
];

type AbiEntry = { type: string; name?: string; [member: string]: unknown };
type Reference = { start: number; length: number };
/** What is read of forge's file of a contract. */
type ForgeFile = {
  bytecode: { object: string };
  deployedBytecode: { object: string; immutableReferences?: Record<string, Reference[]> };
  rawMetadata: string;
};
/** What the compiler itself says of a contract; forge keeps it as text, and orders the rest anew. */
type Metadata = {
  compiler: { version: string };
  settings: { compilationTarget?: object; [setting: string]: unknown };
  output: { abi: AbiEntry[]; userdoc: object; devdoc: object };
};

main(process.argv.slice(2));

function main(args: string[]): void {
  compile();
  const outputs = generate();
  const stale = outputs.filter(({ path, text }) => readIfPresent(path) !== text);
  if (args.includes('--check')) {
    for (const { path } of stale) console.error(`out of date: ${relative(root, path)}`);
    if (stale.length > 0) console.error('run: node scripts/generate-contracts.ts');
    process.exitCode = stale.length > 0 ? 1 : 0;
    return;
  }
  mkdirSync(artifactsFolder, { recursive: true });
  for (const { path, text } of stale) writeFileSync(path, text);
  console.log(`${outputs.length} files, ${stale.length} changed`);
}

function generate(): { path: string; text: string }[] {
  const files = artifacts.map(({ source, name }) => {
    const { bytecode, deployedBytecode, metadata } = read(source, name);
    const { userdoc, devdoc } = metadata.output;
    const abi = abiOf(source, name);
    // scripts/generate-contract-pages.ts prints the documentation of what is deployed.
    const documentation = source.startsWith('src/') ? { userdoc, devdoc } : {};
    const artifact = {
      abi,
      ...documentation,
      bytecode: bytecode.object,
      deployedBytecode: deployedBytecode.object,
      immutableReferences: sortReferences(deployedBytecode.immutableReferences ?? {}),
    };
    return { path: join(artifactsFolder, `${name}.json`), text: `${JSON.stringify(artifact, null, 2)}\n` };
  });
  return [
    ...files,
    { path: join(artifactsFolder, 'standard-json.json'), text: printStandardInput() },
    { path: abiFile, text: printAbis() },
    { path: questionFile, text: printQuestion() },
  ];
}

function printAbis(): string {
  const erc20 = read('src/interfaces/IERC20.sol', 'IERC20').metadata.output.abi;
  const minimal = erc20Members.map((member) => {
    const entry = erc20.find(({ name }) => name === member);
    if (entry === undefined) throw new Error(`IERC20 has no ${member}`);
    return entry;
  });
  const abis = {
    gatewayFactoryAbi: abiOf('src/GatewayFactory.sol', 'GatewayFactory'),
    paymentGatewayAbi: abiOf('src/PaymentGateway.sol', 'PaymentGateway'),
    payoutVaultAbi: abiOf('src/PayoutVault.sol', 'PayoutVault'),
    erc20Abi: minimal,
  };
  const lines = Object.entries(abis).map(([name, abi]) => {
    const entries = abi.map((entry) => `  ${JSON.stringify(entry)},\n`).join('');
    return `export const ${name} = [\n${entries}] as const;\n`;
  });
  return `// Written by scripts/generate-contracts.ts from contracts/src. Do not edit.\n\n${lines.join('\n')}`;
}

/**
 * A contract's ABI with its interface's names: hot paths read some of their parameters from where they stand in the
 * calldata, and leave them without a name.
 */
function abiOf(source: string, name: string): AbiEntry[] {
  const { abi } = read(source, name).metadata.output;
  const hasInterface = existsSync(join(contractsFolder, `src/interfaces/I${name}.sol`));
  const named = hasInterface ? read(`I${name}.sol`, `I${name}`).metadata.output.abi : [];
  return abi.map((entry) => named.find((other) => shapeOf(other) === shapeOf(entry)) ?? entry);
}

/** An entry without the names of its parameters. */
function shapeOf({ name, ...entry }: AbiEntry): string {
  return `${name} ${JSON.stringify(entry, (key, value) => (key === 'name' ? undefined : value))}`;
}

/** Code that is sent as a call and deployed nowhere. */
function printQuestion(): string {
  const { bytecode } = read('src/CounterfactualSignature.sol', 'CounterfactualSignature');
  const head = '// Written by scripts/generate-contracts.ts from contracts/src. Do not edit.\n\n';
  return `${head}export const counterfactualSignatureCode =\n  '${bytecode.object}';\n`;
}

/**
 * Compiles what has changed since forge compiled last. The local ones are compiled apart, because together with the tests they
 * have the tests' settings.
 */
function compile(): void {
  build('src', 'test', 'out', 'cache');
  build('local', 'local', 'out/local', 'cache/local');
}

function build(sources: string, tests: string, out: string, cache: string): void {
  const forge = join(root, 'scripts', 'forge.cjs');
  const where = ['--contracts', sources, '--out', out, '--cache-path', cache];
  const { status } = spawnSync(process.execPath, [forge, 'build', '--quiet', '--skip', 'test', ...where], {
    stdio: 'inherit',
    env: { ...process.env, FOUNDRY_TEST: tests },
  });
  if (status !== 0) throw new Error('the contracts do not compile');
}

/** What the compiler has made of a contract. */
function read(source: string, name: string): ForgeFile & { metadata: Metadata } {
  const out = source.startsWith('local/') ? 'out/local' : 'out';
  const path = join(contractsFolder, out, basename(source), `${name}.json`);
  const file = JSON.parse(readFileSync(path, 'utf8')) as ForgeFile;
  return { ...file, metadata: JSON.parse(file.rawMetadata) as Metadata };
}

/** What an explorer needs besides a contract's address and arguments: `florin verify` sends it. */
function printStandardInput(): string {
  const { compiler, settings } = readCompilation();
  const input = {
    language: 'Solidity',
    sources: readSources(['src']),
    settings: {
      ...settings,
      outputSelection: { '*': { '*': ['abi', 'metadata', 'evm.bytecode', 'evm.deployedBytecode'] } },
    },
  };
  return `${JSON.stringify({ compilerVersion: compiler.version, input }, null, 2)}\n`;
}

/** The compiler and its settings with which forge has made the deployed code: the same for all contracts. */
function readCompilation(): Pick<Metadata, 'compiler' | 'settings'> {
  const deployed = artifacts.filter(({ source }) => source.startsWith('src/'));
  const all = deployed.map(({ source, name }) => {
    const { compiler, settings } = read(source, name).metadata;
    const { compilationTarget: _, ...common } = settings;
    return JSON.stringify({ compiler, settings: common });
  });
  const [first = '{}', ...others] = new Set(all);
  if (others.length > 0)
    throw new Error(`forge compiles with several settings: ${[first, ...others].join(' ')}`);
  return JSON.parse(first);
}

function readSources(folders: string[]): Record<string, { content: string }> {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(contractsFolder, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.sol'))
      .map((path) => posix.join(folder, path.replaceAll('\\', '/'))),
  );
  return Object.fromEntries(
    paths.sort().map((path) => [path, { content: readFileSync(join(contractsFolder, path), 'utf8') }]),
  );
}

/** References by place in the code: the compiler's own keys are syntax tree ids, which change with any source. */
function sortReferences(references: Record<string, Reference[]>): Reference[] {
  return Object.values(references)
    .flat()
    .map(({ length, start }) => ({ length, start }))
    .sort((a, b) => a.start - b.start);
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
