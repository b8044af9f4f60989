// Writes the second half of each contracts/test/*.tree: what the tests beside it say by their names. So a tree and its
// tests cannot part. The first half, the rules in words, is written by hand.
//   node scripts/generate-trees.ts            writes
//   node scripts/generate-trees.ts --check    exits 1 when a tree differs from its tests, or a test file has no tree
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'contracts', 'test');
const HEADING = '\nTests\n';
/** Measurements and campaigns are not rules of one operation. */
const isOperation = (file: string): boolean => file.endsWith('.t.sol') && !/^(?:gas|invariant)\//.test(file);

interface Branch {
  /** What happens, such as `reverts`. */
  readonly outcome: string;
  /** When it happens; absent when the name tells no condition. */
  readonly condition?: string;
}

/** `reverts_whenThePayerIsZero` is `reverts` under `when the payer is zero`. */
function read(name: string): Branch {
  const [outcome = '', ...conditions] = name.split('_').map(toWords);
  const named = { outcome };
  return conditions.length === 0 ? named : { ...named, condition: conditions.join(', ') };
}

const toWords = (name: string): string =>
  name.replace(/[A-Z](?=[a-z]|[A-Z]|$)/g, (letter) => ` ${letter.toLowerCase()}`).trim();

function draw(names: readonly string[]): string {
  const branches = names.map(read);
  const outcomes = [...new Set(branches.map(({ outcome }) => outcome))];
  const lines = outcomes.flatMap((outcome, index) => {
    const isLast = index === outcomes.length - 1;
    const conditions = branches.flatMap((branch) =>
      branch.outcome === outcome && branch.condition !== undefined ? [branch.condition] : [],
    );
    const leaves = conditions.map((condition, place) => {
      const stem = isLast ? '    ' : '│   ';
      return `${stem}${place === conditions.length - 1 ? '└──' : '├──'} ${condition}`;
    });
    return [`${isLast ? '└──' : '├──'} ${outcome}`, ...leaves];
  });
  return `${lines.join('\n')}\n`;
}

function main(args: readonly string[]): void {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isOperation).sort();
  const problems: string[] = [];
  for (const file of files) {
    const tree = join(folder, file.replace(/\.t\.sol$/, '.tree'));
    if (!existsSync(tree)) {
      problems.push(`${file} has no tree: write the rules that it tests`);
      continue;
    }
    const source = readFileSync(join(folder, file), 'utf8');
    const names = [...source.matchAll(/^ {4}function test_(\w+)/gm)].map(([, name = '']) => name);
    const text = readFileSync(tree, 'utf8');
    const [rules = ''] = text.split(HEADING);
    const wanted = `${rules.trimEnd()}\n${HEADING}${draw(names)}`;
    if (text === wanted) continue;
    if (args.includes('--check'))
      problems.push(`${file} and its tree differ: run node scripts/generate-trees.ts`);
    else writeFileSync(tree, wanted);
  }
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

main(process.argv.slice(2));
