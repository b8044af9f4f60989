import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('docs/guarantees.md', root), 'utf8');
const sections = page.split(/^## /m).slice(1);

/** The tests that a section names, as file and name. */
function namedIn(section: string): { file: string; name: string }[] {
  return [...section.matchAll(/^- `([^`]+)`: (.+)$/gm)].map(([, file = '', name = '']) => ({ file, name }));
}

function isThere({ file, name }: { file: string; name: string }): boolean {
  const url = new URL(file, root);
  if (!existsSync(url)) return false;
  const source = readFileSync(url, 'utf8');
  if (file.endsWith('.t.sol')) return source.includes(`function ${name}(`);
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${name}${quote}`));
}

test('each of the ten guarantees names its mechanism and at least three tests', () => {
  assert.deepEqual(
    sections.map((section) => /^G\d+/.exec(section)?.[0]),
    Array.from({ length: 10 }, (_, index) => `G${index + 1}`),
  );
  for (const section of sections) {
    assert.match(section, /^\*\*By\*\* /m);
    assert.ok(namedIn(section).length >= 3, section.split('\n', 1)[0]);
    assert.equal(
      namedIn(section).length,
      section.match(/^- /gm)?.length,
      'every item names a file and a test',
    );
  }
});

test('every test that a guarantee names exists', () => {
  assert.deepEqual(
    sections.flatMap(namedIn).filter((named) => !isThere(named)),
    [],
  );
});

test('every row of what was missing names tests that exist, or says that it is missing', () => {
  const expectations = readFileSync(new URL('docs/expectations.md', root), 'utf8');
  const proofs = [...expectations.matchAll(/^\| (?!what was|---).+ \| (.+) \|$/gm)].map(
    ([, proof = '']) => proof,
  );
  const named = proofs
    .filter((proof) => !/^missing(:|$)/.test(proof))
    .flatMap((proof) => proof.split(/; (?=`)/))
    .map((text) => /^`(?<file>[^`]+)`: (?<name>.+)$/.exec(text)?.groups ?? { name: text });
  assert.ok(named.length > 50);
  assert.deepEqual(
    named.filter(({ file = '', name = '' }) => file === '' || !isThere({ file, name })),
    [],
  );
});
