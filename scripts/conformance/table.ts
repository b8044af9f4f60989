import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConformanceSection, TestName } from './proof.ts';
import { conformanceSections } from './rules.ts';

/** Where tests are looked for. */
const testFolders = ['protocol/src', 'server/src', 'server/test', 'world/src', 'cli/src'];

/**
 * The table of conformance as Markdown. Refuses a proof that names a file or a test that does not exist, so that the table
 * cannot promise more than there is.
 */
export function conformanceMarkdown(root: string): string {
  const rules = conformanceSections.flatMap(({ rules: members }) => members);
  const missing = rules.flatMap(({ proofs }) => proofs).filter((proof) => !exists(root, proof));
  if (missing.length > 0) {
    const names = missing.map(([file, name]) => `${file}: ${name}`);
    throw new Error(`the rules of conformance name tests that do not exist:\n${names.join('\n')}`);
  }
  const proven = rules.filter(({ proofs }) => proofs.length > 0).length;
  return `# Conformance

Each rule of the specification and of the wire contract, and the test that proves it: ${proven} of ${rules.length} rules have one.

Run a test with \`npm test <file>\`. “not yet” means that no test proves the rule; it says nothing about the code.

${conformanceSections.map(sectionMarkdown).join('\n\n')}
`;
}

function sectionMarkdown({ title, rules }: ConformanceSection): string {
  const rows = rules.map(({ rule, proofs }) => `| ${cell(rule)} | ${proofText(proofs)} |`);
  return [`## ${title}`, '', '| Rule | Proven by |', '| --- | --- |', ...rows].join('\n');
}

function proofText(proofs: readonly TestName[]): string {
  if (proofs.length === 0) return 'not yet';
  return proofs.map(([file, name]) => `\`${file}\`: ${cell(name)}`).join('; ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

const sources = new Map<string, string>();

/**
 * Whether a test file has a test of this name. A name that the test makes of parts must fit its pattern, and its first
 * part must stand in the file as a text of its own: that is the case which the name speaks of.
 */
function exists(root: string, [file, name]: TestName): boolean {
  if (!testFiles(root).has(file)) return false;
  const text = sources.get(file) ?? readFileSync(join(root, file), 'utf8');
  sources.set(file, text);
  if (file.endsWith('.t.sol')) return text.includes(`function ${name}(`);
  return testNames(text).some((written) => {
    const match = patternOf(written).exec(name);
    return match !== null && (match[1] === undefined || hasLiteral(text, match[1]));
  });
}

function testNames(text: string): string[] {
  const names = text.matchAll(/\btest\(\s*(?:'((?:\\.|[^'\\])*)'|"([^"]*)"|`([^`]*)`)/g);
  return [...names].map((match) => (match[1] ?? match[2] ?? match[3] ?? '').replaceAll("\\'", "'"));
}

function patternOf(written: string): RegExp {
  const parts = written
    .split(/\$\{(?:[^}]|'[^']*')*\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('(.+)')}$`);
}

function hasLiteral(text: string, literal: string): boolean {
  return [`'${literal.replaceAll("'", "\\'")}'`, `"${literal}"`, `\`${literal}\``].some((each) =>
    text.includes(each),
  );
}

let found: ReadonlySet<string> | undefined;

function testFiles(root: string): ReadonlySet<string> {
  found ??= new Set([
    ...testFolders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => `${folder}/${name}`),
    ),
    ...readdirSync(join(root, 'contracts/test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.t.sol'))
      .map((name) => `contracts/test/${name}`),
  ]);
  return found;
}
