// The pages of docs/reference/contracts/: one for each call that changes something, one for each contract. Their words
// are the NatSpec of contracts/src, out of the compiled artifacts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Abi, type AbiFunction, type AbiParameter, toEventSelector, toFunctionSelector } from 'viem';

interface Words {
  readonly notice?: string;
  readonly details?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly returns?: Readonly<Record<string, string>>;
}
interface Documentation extends Words {
  readonly methods?: Readonly<Record<string, Words>>;
  readonly events?: Readonly<Record<string, Words>>;
  readonly errors?: Readonly<Record<string, readonly Words[]>>;
}
interface Artifact {
  readonly abi: Abi;
  readonly userdoc: Documentation;
  readonly devdoc: Documentation;
}
type Entry = Extract<Abi[number], { readonly type: 'function' | 'event' | 'error' }>;

const contracts = [
  { name: 'GatewayFactory', folder: 'gateway-factory', what: "makes each operator's gateway and vault" },
  { name: 'PaymentGateway', folder: 'payment-gateway', what: 'takes, holds and passes on payments' },
  {
    name: 'PayoutVault',
    folder: 'payout-vault',
    what: 'pays recipients of orders in another token or on another chain',
  },
  { name: 'CctpRoute', folder: 'cctp-route', what: 'settles orders of type 3 through Circle' },
  { name: 'DepositReceiver', folder: 'deposit-receiver', what: 'stands at the deposit address of an order' },
];

/** Every page below docs/ with its text. */
export function contractPages(root: string): Map<string, string> {
  const pages = new Map<string, string>();
  const lines = contracts.map(({ name, folder, what }) => `- [${name}](${folder}/README.md): ${what}`);
  pages.set(
    'reference/contracts/README.md',
    `# Contracts\n\nWhat is deployed on every chain, by contract and operation, as its own documentation says.\n\n${lines.join('\n')}\n\nWhat they trust and where they can hurt: [security](../../security/contracts.md).\n`,
  );
  for (const { name, folder, what } of contracts) {
    const path = join(root, 'contracts', 'artifacts', `${name}.json`);
    const artifact = JSON.parse(readFileSync(path, 'utf8')) as Artifact;
    const operations = functionsOf(artifact).filter((entry) => isOperation(entry));
    const structs = structSections(root, name, operations);
    pages.set(
      `reference/contracts/${folder}/README.md`,
      contractPage(name, what, artifact, operations, structs),
    );
    for (const entry of operations) {
      pages.set(
        `reference/contracts/${folder}/${kebab(entry.name)}.md`,
        operationPage(name, artifact, entry),
      );
    }
  }
  return pages;
}

function functionsOf({ abi }: Artifact): AbiFunction[] {
  return abi.filter((entry) => entry.type === 'function').toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function isOperation({ stateMutability }: AbiFunction): boolean {
  return stateMutability === 'nonpayable' || stateMutability === 'payable';
}

function contractPage(
  name: string,
  what: string,
  artifact: Artifact,
  operations: readonly AbiFunction[],
  structs: readonly string[],
): string {
  const { abi, userdoc, devdoc } = artifact;
  const views = functionsOf(artifact).filter((entry) => !isOperation(entry));
  const events = abi.filter((entry) => entry.type === 'event');
  const errors = abi.filter((entry) => entry.type === 'error');
  return [
    `# ${name}`,
    `The contract that ${what}.`,
    ...[userdoc.notice, devdoc.details].filter((text) => text !== undefined),
    '## Operations',
    operations
      .map((entry) => `- [\`${entry.name}\`](${kebab(entry.name)}.md): ${noticeOf(artifact, entry)}`)
      .join('\n'),
    ...structs,
    ...section(
      'Readings',
      ['function', 'gives', 'meaning'],
      views.map((entry) => [
        ...[code(printCall(entry)), code(entry.outputs.map(printType).join(', ')), noticeOf(artifact, entry)],
      ]),
    ),
    ...section(
      'Events',
      ['event', 'topic', 'meaning'],
      events.map((entry) => [
        ...[code(printCall(entry)), code(toEventSelector(entry)), noticeOf(artifact, entry)],
      ]),
    ),
    ...section(
      'Errors',
      ['error', 'meaning'],
      errors.map((entry) => [code(printCall(entry)), noticeOf(artifact, entry)]),
    ),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

function operationPage(name: string, artifact: Artifact, entry: AbiFunction): string {
  if (noticeOf(artifact, entry) === '') throw new Error(`${name}.${entry.name} has no @notice`);
  const words = artifact.devdoc.methods?.[signatureOf(entry)] ?? {};
  const parameters = entry.inputs.map((input) => [
    ...[code(input.name ?? ''), linkedType(input), words.params?.[input.name ?? ''] ?? ''],
  ]);
  return [
    `# ${name}: ${entry.name}`,
    noticeOf(artifact, entry),
    `\`\`\`solidity\nfunction ${printCall(entry)} external\n\`\`\``,
    `Selector \`${toFunctionSelector(entry)}\`.`,
    words.details ?? '',
    parameters.length === 0 ? '' : table(['parameter', 'type', 'meaning'], parameters),
    `All of [${name}](README.md).`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

/** The structs of a contract's calls, one section each. */
function structSections(root: string, name: string, operations: readonly AbiFunction[]): readonly string[] {
  const structs = operations.flatMap(({ inputs }) => inputs.filter(({ type }) => type.startsWith('tuple')));
  const byName = new Map(structs.map((input) => [structName(input), input]));
  if (byName.size === 0) return [];
  const source = readFileSync(join(root, 'contracts', 'src', 'interfaces', `I${name}.sol`), 'utf8');
  return [...byName].flatMap(([struct, input]) => {
    const meanings = memberMeanings(source, struct);
    const components = 'components' in input ? input.components : [];
    const rows = components.map((member) => {
      const meaning = meanings.get(member.name ?? '');
      if (meaning === undefined) throw new Error(`${name}.${struct}.${member.name} has no @param`);
      return [code(member.name ?? ''), code(printType(member)), meaning];
    });
    return section(struct, ['member', 'type', 'meaning'], rows);
  });
}

/** The `@param` of a struct's members by name: the compiler's output has none of them, so they are read from the source. */
function memberMeanings(source: string, struct: string): ReadonlyMap<string, string> {
  const [, comment = ''] = new RegExp(`((?: *///.*\n)+) *struct ${struct} {`).exec(source) ?? [];
  const text = comment.replaceAll(/ *\/\/\/ */g, ' ').replaceAll('\n', '');
  return new Map(
    text
      .split(' @param ')
      .slice(1)
      .map((part) => {
        const [member = '', ...words] = part.trim().split(' ');
        return [member, words.join(' ')];
      }),
  );
}

const structName = (input: AbiParameter): string => printType(input).replace('[]', '');

/** A type; a struct leads to its members on the contract's page. VitePress does not read brackets in the text of a link. */
function linkedType(input: AbiParameter): string {
  const type = printType(input);
  if (!input.type.startsWith('tuple')) return code(type);
  const struct = structName(input);
  return `[${code(struct)}](README.md#${struct.toLowerCase()})${type.endsWith('[]') ? code('[]') : ''}`;
}

function noticeOf({ userdoc }: Artifact, entry: Entry): string {
  const signature = signatureOf(entry);
  if (entry.type === 'function') return userdoc.methods?.[signature]?.notice ?? '';
  if (entry.type === 'event') return userdoc.events?.[signature]?.notice ?? '';
  return userdoc.errors?.[signature]?.[0]?.notice ?? '';
}

function signatureOf(entry: Entry): string {
  return `${entry.name}(${entry.inputs.map(canonicalType).join(',')})`;
}

function canonicalType(input: AbiParameter): string {
  if (!('components' in input)) return input.type;
  return `(${input.components.map(canonicalType).join(',')})${input.type.slice('tuple'.length)}`;
}

function printCall(entry: Entry): string {
  return `${entry.name}(${entry.inputs.map((input) => `${printType(input)} ${input.name ?? ''}`.trimEnd()).join(', ')})`;
}

/** A struct by its name. */
function printType({ type, internalType }: AbiParameter): string {
  return type.startsWith('tuple') ? String(internalType).replace(/^struct (\w+\.)?/, '') : type;
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A heading and its table; nothing without rows. */
function section(
  heading: string,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  return rows.length === 0 ? [] : [`## ${heading}`, table(headings, rows)];
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
