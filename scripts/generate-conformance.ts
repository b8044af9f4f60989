import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RuleSection, ruleSections } from '../lab/conformance/rules.ts';

const testFolders = ['packages', 'apps', 'world', 'lab', 'contracts/test'];

/** A line that names rules. */
const mark = /^[ \t]*\/\/ proves ([^\n]*)\n/gm;
/** What may name a test or one case of a table of tests: a function of Solidity or a text. */
const quoted = /function (\w+)\(|'((?:\\.|[^'\\\n])*)'|"([^"\n]*)"|`([^`]*)`/g;

/**
 * The table of conformance as Markdown: each rule with the tests that name it. Refuses a test that names an unknown rule,
 * and a rule that no test names.
 */
export function conformanceMarkdown(root: string): string {
  const proofs = findProofs(root);
  const known = new Set(ruleSections.flatMap(({ rules }) => Object.keys(rules)));
  const unknown = [...proofs]
    .filter(([id]) => !known.has(id))
    .map(([id, tests]) => `${id}: ${[...tests.keys()].join(', ')}`);
  if (unknown.length > 0) throw new Error(`tests name rules that do not exist:\n${unknown.join('\n')}`);
  const unproven = [...known].filter((id) => !proofs.has(id));
  if (unproven.length > 0) throw new Error(`no test proves these rules: ${unproven.join(', ')}`);
  return `# Conformance

Each of the ${known.size} rules of the specification (S) and of the wire contract (W), and the tests that prove it. A test
names its rules in a comment: \`// proves S2.4\`. Run its file with \`npm test <file>\`.

${ruleSections.map((section) => sectionMarkdown(section, proofs)).join('\n\n')}
`;
}

/** The tests that name each rule, by the rule's id and the test's file. */
type Proofs = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

function sectionMarkdown({ title, rules }: RuleSection, proofs: Proofs): string {
  const rows = Object.entries(rules).map(
    ([id, rule]) => `| ${id} | ${cell(rule)} | ${proofText(proofs, id)} |`,
  );
  return [`## ${title}`, '', '| Id | Rule | Proven by |', '| --- | --- | --- |', ...rows].join('\n');
}

function proofText(proofs: Proofs, id: string): string {
  const files = [...(proofs.get(id) ?? [])];
  return files.map(([file, names]) => `\`${file}\`: ${cell(names.join('; '))}`).join('; ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function findProofs(root: string): Proofs {
  const proofs = new Map<string, Map<string, string[]>>();
  for (const file of testFiles(root)) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const found of text.matchAll(mark)) {
      const name = nameAfter(text, found.index + found[0].length);
      for (const id of (found[1] ?? '').split(', ')) {
        const ofRule = proofs.get(id) ?? new Map<string, string[]>();
        proofs.set(id, ofRule.set(file, [...(ofRule.get(file) ?? []), name]));
      }
    }
  }
  return proofs;
}

/** The first text that is no path: in a table of limits the path comes before the field. */
function nameAfter(text: string, start: number): string {
  quoted.lastIndex = start;
  for (let found = quoted.exec(text); found !== null; found = quoted.exec(text)) {
    const name = found.slice(1).find((each) => each !== undefined) ?? '';
    if (!name.startsWith('/')) return name.replaceAll("\\'", "'");
  }
  throw new Error('a line names rules, and no test follows it');
}

function testFiles(root: string): string[] {
  const files = testFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  return files
    .filter((name) => /\.(?:test\.ts|t\.sol)$/.test(name) && !name.includes('node_modules/'))
    .sort();
}
