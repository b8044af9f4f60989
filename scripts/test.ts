import { findTestFiles, isDeep, nodeParts } from './test/node-parts.ts';
import { runParts } from './test/run-parts.ts';
import { suites } from './test/suites.ts';

/**
 * `npm test`: everything that CI runs, with one closing line, `N passed, N failed`. With words, each is a suite or a piece of
 * the paths of test files. Exits 1 when anything failed or when no test ran.
 */

/** So few parts show each test as it passes; of more, the log does. */
const shownInFull = 3;

const words = process.argv.slice(2);
const names = words.length === 0 ? Object.keys(suites) : words.filter((word) => suites[word] !== undefined);
const parts = await Promise.all(names.map((name) => suites[name]?.() ?? []));

const pieces = words.filter((word) => suites[word] === undefined);
const files = await findTestFiles();
// A long test runs here only when it is named in full.
const filesWith = (piece: string): string[] =>
  files.filter((file) => file.includes(piece) && (!isDeep(file) || piece.endsWith('.test.ts')));
const unknown = pieces.filter((piece) => filesWith(piece).length === 0);
if (unknown.length > 0) {
  console.error(`no path of a test file contains ${unknown.join(', ')}`);
  console.error(`the suites are ${Object.keys(suites).join(', ')}`);
  process.exit(2);
}
parts.push(nodeParts([...new Set(pieces.flatMap(filesWith))].sort()));

const chosen = parts.flat();
await runParts(chosen, { isShown: words.length > 0 && chosen.length <= shownInFull });
