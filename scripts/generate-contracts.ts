// Compiles contracts/ with the locked npm solc and the settings of contracts/foundry.toml, and writes what the rest of
// the house imports: contracts/artifacts/*.json, packages/protocol/src/contract.gen.ts and the code that the server asks chains with.
//   node scripts/generate-contracts.ts            writes
//   node scripts/generate-contracts.ts --check    exits 1 when a committed file differs from its source
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const solc = require('./fast-solc.cjs') as { compile(input: string): string; version(): string };

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

/** What is read of each contract that the compiler makes. */
const outputs = [
  ...['abi', 'userdoc', 'devdoc', 'evm.bytecode.object'],
  ...['evm.deployedBytecode.object', 'evm.deployedBytecode.immutableReferences'],
];

type AbiEntry = { type: string; name?: string; [member: string]: unknown };
type Reference = { start: number; length: number };
type CompiledContract = {
  abi: AbiEntry[];
  userdoc: object;
  devdoc: object;
  evm: {
    bytecode: { object: string };
    deployedBytecode: { object: string; immutableReferences: Record<string, Reference[]> };
  };
};
type CompilerOutput = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<string, Record<string, CompiledContract>>;
};

main(process.argv.slice(2));

function main(args: string[]): void {
  const outputs = generate(compile());
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

function generate(contracts: NonNullable<CompilerOutput['contracts']>): { path: string; text: string }[] {
  const files = artifacts.map(({ source, name }) => {
    const { userdoc, devdoc, evm } = find(contracts, source, name);
    const abi = abiOf(contracts, source, name);
    // scripts/generate-contract-pages.ts prints the documentation of what is deployed.
    const documentation = source.startsWith('src/') ? { userdoc, devdoc } : {};
    const artifact = {
      abi,
      ...documentation,
      bytecode: `0x${evm.bytecode.object}`,
      deployedBytecode: `0x${evm.deployedBytecode.object}`,
      immutableReferences: sortReferences(evm.deployedBytecode.immutableReferences),
    };
    return { path: join(artifactsFolder, `${name}.json`), text: `${JSON.stringify(artifact, null, 2)}\n` };
  });
  return [
    ...files,
    { path: join(artifactsFolder, 'standard-json.json'), text: printStandardInput() },
    { path: abiFile, text: printAbis(contracts) },
    { path: questionFile, text: printQuestion(contracts) },
  ];
}

function printAbis(contracts: NonNullable<CompilerOutput['contracts']>): string {
  const erc20 = find(contracts, 'src/interfaces/IERC20.sol', 'IERC20').abi;
  const minimal = erc20Members.map((member) => {
    const entry = erc20.find(({ name }) => name === member);
    if (entry === undefined) throw new Error(`IERC20 has no ${member}`);
    return entry;
  });
  const abis = {
    gatewayFactoryAbi: abiOf(contracts, 'src/GatewayFactory.sol', 'GatewayFactory'),
    paymentGatewayAbi: abiOf(contracts, 'src/PaymentGateway.sol', 'PaymentGateway'),
    payoutVaultAbi: abiOf(contracts, 'src/PayoutVault.sol', 'PayoutVault'),
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
function abiOf(
  contracts: NonNullable<CompilerOutput['contracts']>,
  source: string,
  name: string,
): AbiEntry[] {
  const { abi } = find(contracts, source, name);
  const named = contracts[`src/interfaces/I${name}.sol`]?.[`I${name}`]?.abi ?? [];
  return abi.map((entry) => named.find((other) => shapeOf(other) === shapeOf(entry)) ?? entry);
}

/** An entry without the names of its parameters. */
function shapeOf({ name, ...entry }: AbiEntry): string {
  return `${name} ${JSON.stringify(entry, (key, value) => (key === 'name' ? undefined : value))}`;
}

/** Code that is sent as a call and deployed nowhere. */
function printQuestion(contracts: NonNullable<CompilerOutput['contracts']>): string {
  const { evm } = find(contracts, 'src/CounterfactualSignature.sol', 'CounterfactualSignature');
  const head = '// Written by scripts/generate-contracts.ts from contracts/src. Do not edit.\n\n';
  return `${head}export const counterfactualSignatureCode =\n  '0x${evm.bytecode.object}';\n`;
}

/**
 * The contracts that are deployed come from exactly the input that explorers are given. The local ones are compiled with
 * their imports, which does not change them.
 */
function compile(): NonNullable<CompilerOutput['contracts']> {
  const settings = readSettings();
  const local = Object.keys(readSources(['local'])).map((path) => [path, { '*': outputs }]);
  return {
    ...run({
      sources: readSources(['src']),
      settings: { ...settings, outputSelection: { '*': { '*': outputs } } },
    }),
    ...run({
      sources: readSources(['src', 'local']),
      settings: { ...settings, outputSelection: Object.fromEntries(local) },
    }),
  };
}

function run(input: { sources: object; settings: object }): NonNullable<CompilerOutput['contracts']> {
  const output = JSON.parse(
    solc.compile(JSON.stringify({ language: 'Solidity', ...input })),
  ) as CompilerOutput;
  const problems = output.errors ?? [];
  if (problems.length > 0) {
    throw new Error(problems.map(({ formattedMessage }) => formattedMessage).join('\n'));
  }
  return output.contracts ?? {};
}

/** What an explorer needs besides a contract's address and arguments: `florin verify` sends it. */
function printStandardInput(): string {
  const input = {
    language: 'Solidity',
    sources: readSources(['src']),
    settings: {
      ...readSettings(),
      outputSelection: { '*': { '*': ['abi', 'metadata', 'evm.bytecode', 'evm.deployedBytecode'] } },
    },
  };
  const compilerVersion = solc.version().replace(/\.Emscripten\.clang$/, '');
  return `${JSON.stringify({ compilerVersion, input }, null, 2)}\n`;
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

/** The compiler settings of foundry.toml's default profile, so that there is one place to change them. */
function readSettings(): object {
  const toml = readFileSync(join(contractsFolder, 'foundry.toml'), 'utf8');
  const profile = toml.split(/^\[/m).find((section) => section.startsWith('profile.default]'));
  const read = (key: string): string => {
    const match = new RegExp(`^${key} = "?([^"\\n]+?)"?$`, 'm').exec(profile ?? '');
    if (match?.[1] === undefined) throw new Error(`foundry.toml sets no ${key}`);
    return match[1];
  };
  return {
    evmVersion: read('evm_version'),
    optimizer: {
      enabled: read('optimizer') === 'true',
      runs: Number(read('optimizer_runs').replaceAll('_', '')),
    },
    viaIR: read('via_ir') === 'true',
    metadata: { bytecodeHash: read('bytecode_hash'), appendCBOR: read('cbor_metadata') === 'true' },
  };
}

/** References by place in the code: the compiler's own keys are syntax tree ids, which change with any source. */
function sortReferences(references: Record<string, Reference[]>): Reference[] {
  return Object.values(references)
    .flat()
    .sort((a, b) => a.start - b.start);
}

function find(
  contracts: NonNullable<CompilerOutput['contracts']>,
  source: string,
  name: string,
): CompiledContract {
  const contract = contracts[source]?.[name];
  if (contract === undefined) throw new Error(`${source} has no ${name}`);
  return contract;
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
