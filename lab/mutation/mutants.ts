/** One change of one source file. At least one test has to fail with it. */
export interface Mutant {
  /** Stable over runs: file, line, kind, and a number among equal ones. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly before: string;
  readonly after: string;
  readonly start: number;
  readonly end: number;
}

type Rule = readonly [
  kind: string,
  pattern: RegExp,
  replace: (match: RegExpMatchArray) => string | undefined,
];

const exchange =
  (pairs: Readonly<Record<string, string>>) =>
  (match: RegExpMatchArray): string | undefined =>
    pairs[match[0]];

/** Replaces the first `from` in the match. */
const instead =
  (from: string, to: string) =>
  (match: RegExpMatchArray): string =>
    match[0].replace(from, to);

const comparisons = {
  ' < ': ' <= ',
  ' <= ': ' < ',
  ' > ': ' >= ',
  ' >= ': ' > ',
  ' == ': ' != ',
  ' != ': ' == ',
};
const arithmetic = {
  ' + ': ' - ',
  ' - ': ' + ',
  ' * ': ' / ',
  ' / ': ' * ',
  ' % ': ' / ',
  ' += ': ' -= ',
  ' -= ': ' += ',
};
const bits = { ' & ': ' | ', ' | ': ' & ', ' ^ ': ' | ', ' << ': ' >> ', ' >> ': ' << ', ' ~': ' ' };
const assembly: Readonly<Record<string, string>> = {
  ...{
    'add(': 'sub(',
    'sub(': 'add(',
    'and(': 'or(',
    'or(': 'and(',
    'xor(': 'and(',
    'shl(': 'shr(',
    'shr(': 'shl(',
  },
  ...{ 'lt(': 'gt(', 'gt(': 'lt(', 'eq(': 'xor(', 'iszero(': 'not(', 'mul(': 'add(' },
};

const rules: readonly Rule[] = [
  ['comparison', / (?:<=|>=|==|!=|<|>) /g, exchange(comparisons)],
  ['arithmetic', / (?:\+=|-=|[-+*/%]) /g, exchange(arithmetic)],
  ['bits', / (?:<<|>>|[&|^]) | ~/g, exchange(bits)],
  ['logic', / (?:&&|\|\|) /g, exchange({ ' && ': ' || ', ' || ': ' && ' })],
  ['negation', /!(?=[\w(])/g, () => ''],
  ['assembly', /\b(?:add|sub|and|or|xor|shl|shr|lt|gt|eq|iszero|mul)\(/g, ([text]) => assembly[text]],
  [
    'constant',
    /(?<![\w.])(?:0|[1-9][0-9_]*)(?![\w.])/g,
    ([text]) => String(BigInt(text.replaceAll('_', '')) + 1n),
  ],
  ['constant', /(?<=[(,] )0x[0-9a-f]{2,3}(?=[),])/g, ([text]) => `0x${(Number(text) + 0x20).toString(16)}`],
  ['boolean', /\b(?:true|false)\b/g, exchange({ true: 'false', false: 'true' })],
  ['always', /\bif \((?!\s*$).*\)(?= revert| return| break| continue| \{|$)/gm, () => 'if (true)'],
  ['never', /\bif \((?!\s*$).*\)(?= revert| return| break| continue| \{|$)/gm, () => 'if (false)'],
  ['modifier', / (?:nonReentrant|onlyAdmin|onlySettler|whenNotPaused|onlyGranter\(\w+\))(?= |\n)/g, () => ''],
  [
    'statement',
    /(?<=\n {8,})(?:emit |delete |_\w+\(|\w+(?:\.\w+|\[[^\n]+\])* [-+|&^]?= |mstore\(|TokenTransfer\.)[^\n]*;(?=\n)/g,
    () => '',
  ],
  ['statement', /(?<=\n {12,})(?:mstore|calldatacopy|sstore|log4)\([^\n]*\)(?=\n)/g, () => ''],
  [
    'arguments',
    /(?<!\b(?:add|and|or|xor|eq|mul)\()(?<=\w\()(\w+), (\w+)(?=[,)])/g,
    ([, first, second]) => `${second}, ${first}`,
  ],
  ['arguments', /(?<=\w\(\w+, )(\w+), (\w+)(?=[,)])/g, ([, first, second]) => `${second}, ${first}`],
  ['status', /\bSTATUS_SETTLED\b/g, instead('SETTLED', 'PAID')],
  ['status', /\bSTATUS_PAID\b/g, instead('PAID', 'SETTLED')],
  ['caller', /\bmsg\.sender\b/g, () => 'tx.origin'],
];

/** Replaces everything but code by blanks, so that offsets stay the same. */
function blank(source: string): string {
  const cover = (text: string): string => text.replace(/[^\n]/g, '\u0000');
  return source
    .replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, cover)
    .replace(/"[^"\n]*"/g, cover)
    .replace(/^(?:import|pragma|error|event)\b[^;]*;/gm, cover)
    .replace(/^ {4}(?:error|event)\b[^;]*;/gm, cover)
    .replace(/\bfunction \w+\([^)]*\)/g, cover)
    .replace(/\bassembly \("memory-safe"\)/g, cover);
}

/** Every mutant of a source file, ordered by position. */
export function findMutants(file: string, source: string): Mutant[] {
  const code = blank(source);
  const found = rules.flatMap(([kind, pattern, replace]) =>
    [...code.matchAll(pattern)].flatMap((match) => {
      const after = replace(match);
      const [before] = match;
      if (after === undefined || after === before || before.includes('\u0000')) return [];
      const line = source.slice(0, match.index).split('\n').length;
      return [{ file, line, kind, before, after, start: match.index, end: match.index + before.length }];
    }),
  );
  const numbers = new Map<string, number>();
  return found
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .map((mutant) => {
      const name = `${mutant.file}:${mutant.line}:${mutant.kind}`;
      const number = (numbers.get(name) ?? 0) + 1;
      numbers.set(name, number);
      return { id: `${name}:${number}`, ...mutant };
    });
}

export const applyMutant = (source: string, { start, end, after }: Mutant): string =>
  source.slice(0, start) + after + source.slice(end);
