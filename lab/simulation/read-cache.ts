import type pg from 'pg';
import type { RawResult } from './recorded-query.ts';

/** What PostgreSQL's catalogue says about a schema. */
interface Catalogue {
  /** The columns of each table. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Tables with generated columns. */
  readonly withGeneratedColumns: ReadonlySet<string>;
  /**
   * Tables that change as a side effect: of functions and views, and of tables with triggers or cascading references.
   */
  readonly sideEffects: ReadonlyMap<string, ReadonlySet<string>>;
  /** Functions and views of the schema. Their results do not follow from the statement's text. */
  readonly functionsAndViews: readonly string[];
}

interface StatementKind {
  /** Only reads: takes no locks and depends neither on time nor on chance. */
  readonly isPure: boolean;
  /** Reads and locks rows, but changes nothing. */
  readonly isLocking: boolean;
  /** Changes rows in a single statement, so it changes nothing when it finds no rows. */
  readonly isPlainChange: boolean;
  /** Inputs of the answer: tables, and columns as `table.column`. */
  readonly reads: readonly string[];
  /**
   * Changed tables, or changed columns where no rows are added or removed. Undefined: unknown, so possibly
   * everything.
   */
  readonly changes: readonly string[] | undefined;
}

const impureWords =
  /\b(insert|update|delete|merge|truncate|share|lock|nextval|setval|now|random|set_config|notify|listen|current_\w+|clock_timestamp|pg_\w+|gen_random_\w+)\b/i;
/** Matches statements that may read columns without naming them. */
const wholeRows = /\*|json|row\(/i;
const rowLocks = /\bfor (no key update|update|share|key share)( of [\w, ]+)?( skip locked| nowait)?\s*$/i;
const plainChange = /^\s*(update|insert|delete)\b/i;

/**
 * Polls for due work. A later moment finds every row that an earlier moment finds. Each statement names its moment
 * once, as an upper bound.
 */
const dueQueries: ReadonlySet<string> = new Set(['legs_waiting', 'legs_not_mined', 'legs_unreported']);
/** Later than every moment of a history. */
const endOfTime = new Date(Date.UTC(2999, 0, 1));

/** The limit of cached answers. At the limit the cache is emptied. */
const maxAnswers = 5_000;

/**
 * Caches PostgreSQL's answers while they are valid: those of read-only statements whose inputs no transaction has
 * changed since. An idle service mostly repeats its queries. The cached answer is exactly the one that the server
 * would give.
 */
export class ReadCache {
  readonly #catalogue: Catalogue;
  readonly #kinds = new Map<string, StatementKind>();
  readonly #answers = new Map<string, { readonly result: RawResult; readonly version: number }>();
  /** Number of changes by table or column. */
  readonly #changes = new Map<string, number>();
  #changesOfAll = 0;

  readonly #usesCache: boolean;

  private constructor(catalogue: Catalogue, usesCache: boolean) {
    this.#catalogue = catalogue;
    this.#usesCache = usesCache;
  }

  /** With `usesCache` false the cache stays empty, so every statement goes to the server. */
  static async of(client: pg.Client, { usesCache = true } = {}): Promise<ReadCache> {
    const names = async (text: string) =>
      (await client.query<{ name: string }>(text)).rows.map(({ name }) => name);
    const tables = await client.query<{ name: string; columns: string[] }>(
      `select relname as name, array_agg(attname::text) as columns
       from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0
       where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace group by relname`,
    );
    const references = await client.query<{ name: string; text: string }>(
      `select relname as name, pg_get_viewdef(oid) as text from pg_class
       where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace
       union all select proname, pg_get_functiondef(oid) from pg_proc
       where pronamespace = 'public'::regnamespace and prokind = 'f'
       union all select tgrelid::regclass::text, tgfoid::regproc::text from pg_trigger where not tgisinternal
       union all select confrelid::regclass::text, conrelid::regclass::text from pg_constraint
       where contype = 'f' and (confdeltype <> 'a' or confupdtype <> 'a')`,
    );
    const functionsAndViews = await names(
      `select proname as name from pg_proc where pronamespace = 'public'::regnamespace
       union select relname from pg_class where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace`,
    );
    const withGeneratedColumns = await names(
      `select distinct attrelid::regclass::text as name from pg_attribute where attgenerated <> ''`,
    );
    const columns = new Map(tables.rows.map((table) => [table.name, table.columns]));
    const sideEffects = transitiveClosure(references.rows, new Set(columns.keys()));
    return new ReadCache(
      { columns, withGeneratedColumns: new Set(withGeneratedColumns), sideEffects, functionsAndViews },
      usesCache,
    );
  }

  /** Whether a statement only reads. */
  isPure(query: pg.QueryConfig): boolean {
    return this.#kindOf(query.text).isPure;
  }

  /**
   * A statement's changes, given the number of rows that it found. Empty for reads and locks. Undefined: unknown, so
   * possibly everything.
   */
  changesOf({ text }: pg.QueryConfig, rowCount: number): readonly string[] | undefined {
    const { isPure, isLocking, isPlainChange, changes } = this.#kindOf(text);
    return isPure || isLocking || (isPlainChange && rowCount === 0) ? [] : changes;
  }

  /**
   * The cached answer, if there is one. `own` has the changes that the asking transaction itself made; it is empty
   * for others.
   */
  get(query: pg.QueryConfig, ownChanges: readonly string[]): RawResult | undefined {
    const kind = this.#kindOf(query.text);
    if (!isUnaffected(kind, ownChanges)) return undefined;
    const version = this.#versionOf(kind);
    const answer = this.#answers.get(keyOf(query));
    if (answer?.version === version) return answer.result;
    const later = atEndOfTime(query);
    const neverDue = later === undefined ? undefined : this.#answers.get(keyOf(later));
    return neverDue?.version === version && neverDue.result.rows.length === 0 ? neverDue.result : undefined;
  }

  /**
   * The statement that asks whether anything will ever be due. Undefined when the cache already has its answer, or when
   * the transaction's own changes affect it.
   */
  queryAtEndOfTime(query: pg.QueryConfig, ownChanges: readonly string[]): pg.QueryConfig | undefined {
    const later = this.#usesCache ? atEndOfTime(query) : undefined;
    if (later === undefined) return undefined;
    const kind = this.#kindOf(query.text);
    const isKnown = this.#answers.get(keyOf(later))?.version === this.#versionOf(kind);
    return isKnown || !isUnaffected(kind, ownChanges) ? undefined : later;
  }

  /** Caches an answer for a transaction whose own changes are `own`. */
  store(query: pg.QueryConfig, result: RawResult, ownChanges: readonly string[]): void {
    const kind = this.#kindOf(query.text);
    if (!isUnaffected(kind, ownChanges)) return;
    // Queries as of a moment never recur.
    if (query.values?.some((value) => value instanceof Date && value !== endOfTime)) return;
    if (!this.#usesCache) return;
    if (this.#answers.size >= maxAnswers) this.#answers.clear();
    this.#answers.set(keyOf(query), { result, version: this.#versionOf(kind) });
  }

  /** Records committed changes. Undefined: anything may have changed. */
  invalidate(changes: readonly string[] | undefined): void {
    if (changes === undefined) this.clear();
    else for (const change of changes) this.#changes.set(change, (this.#changes.get(change) ?? 0) + 1);
  }

  /** Empties the cache. */
  clear(): void {
    this.#changesOfAll += 1;
    this.#answers.clear();
  }

  #versionOf({ reads }: StatementKind): number {
    // Counts only grow, so equal sums mean equal counts.
    let version = this.#changesOfAll;
    for (const read of reads) version += this.#changes.get(read) ?? 0;
    return version;
  }

  #kindOf(text: string): StatementKind {
    const known = this.#kinds.get(text);
    if (known !== undefined) return known;
    const kind = this.#classify(text);
    this.#kinds.set(text, kind);
    return kind;
  }

  #classify(text: string): StatementKind {
    const { columns, functionsAndViews } = this.#catalogue;
    const words = wordsOf(text);
    const usesFunctionOrView = functionsAndViews.some((name) => words.has(name));
    const tables = [...columns.keys()].filter((name) => words.has(name));
    const isWhole = wholeRows.test(text);
    const named = (table: string) =>
      (columns.get(table) ?? []).filter((column) => isWhole || words.has(column));
    const isSelect = /^\s*(select|with)\b/i.test(text) && !usesFunctionOrView;
    return {
      isPure: isSelect && !impureWords.test(text),
      isLocking: isSelect && rowLocks.test(text) && !impureWords.test(text.replace(rowLocks, '')),
      isPlainChange: plainChange.test(text) && !usesFunctionOrView,
      reads: tables.flatMap((table) => [table, ...named(table).map((column) => `${table}.${column}`)]),
      changes: this.#changesBy(text, words),
    };
  }

  #changesBy(text: string, words: ReadonlySet<string>): readonly string[] | undefined {
    const { columns, withGeneratedColumns, sideEffects, functionsAndViews } = this.#catalogue;
    if (!/^\s*(select|with|insert|update|delete)\b/i.test(text)) return undefined;
    const changes = new Set<string>();
    for (const name of functionsAndViews.filter((candidate) => words.has(candidate)))
      for (const table of sideEffects.get(name) ?? []) changes.add(table);
    for (const { table, set } of writesOf(text)) {
      // The table, or its name in this statement, is unknown.
      if (!columns.has(table)) return undefined;
      for (const reached of sideEffects.get(table) ?? []) changes.add(reached);
      if (set === undefined || withGeneratedColumns.has(table)) changes.add(table);
      else for (const column of set) changes.add(`${table}.${column}`);
    }
    return [...changes];
  }
}

/** Whether a statement only reads, and reads nothing that the transaction itself has changed. */
function isUnaffected({ isPure, reads }: StatementKind, ownChanges: readonly string[]): boolean {
  return isPure && !reads.some((read) => ownChanges.includes(read));
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/\w+/g) ?? []);
}

/** The transitive closure: from the direct effects of each name to all tables that it affects. */
function transitiveClosure(
  references: readonly { readonly name: string; readonly text: string }[],
  tables: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Set([...tables, ...references.map(({ name }) => name)]);
  const effectsOf = new Map<string, string[]>();
  for (const { name, text } of references) {
    const found = [...wordsOf(text)].filter((word) => names.has(word) && word !== name);
    effectsOf.set(name, [...(effectsOf.get(name) ?? []), ...found]);
  }
  const reachedFrom = (start: string) => {
    const reached = new Set<string>();
    const unvisited = [...(effectsOf.get(start) ?? [])];
    for (let name = unvisited.pop(); name !== undefined; name = unvisited.pop()) {
      if (reached.has(name)) continue;
      reached.add(name);
      unvisited.push(...(effectsOf.get(name) ?? []));
    }
    return new Set([...reached].filter((name) => tables.has(name)));
  };
  return new Map([...effectsOf.keys()].map((name) => [name, reachedFrom(name)]));
}

/** The same poll for due work, as of the end of time. */
function atEndOfTime(query: pg.QueryConfig): pg.QueryConfig | undefined {
  const { name = '', text, values = [] } = query;
  if (!dueQueries.has(name)) return undefined;
  for (const [index, value] of values.entries()) {
    if (value instanceof Date && !isUpperBound(text, index + 1))
      throw new Error(`${name} does not have its moment as an upper bound`);
  }
  return { ...query, values: values.map((value) => (value instanceof Date ? endOfTime : value)) };
}

interface Write {
  readonly table: string;
  /** The columns that it sets, where it adds and removes no rows. */
  readonly set: readonly string[] | undefined;
}

/** The writes in a statement, including those in its CTEs. */
function* writesOf(text: string): Iterable<Write> {
  const lower = text.toLowerCase();
  for (const { 1: table = '' } of lower.matchAll(
    /\b(?:insert into|delete from|merge into|truncate)\s+(\w+)/g,
  ))
    yield { table, set: undefined };
  for (const { 1: table = '', 2: assignments = '' } of lower.matchAll(
    /(?<!\bfor (?:no key )?|\bdo )\bupdate\s+(\w+)(?=\s+(?:(?:as\s+)?\w+\s+)??set\b(.*))/gs,
  ))
    yield { table, set: columnsSet(assignments) };
}

/** The columns on the left of the assignments after `set`. Undefined when the parser does not understand them. */
function columnsSet(assignments: string): string[] | undefined {
  const columns: string[] = [];
  let depth = 0;
  let assignment = '';
  const addColumn = () => {
    const column = /^\s*(\w+)\s*=/.exec(assignment)?.[1];
    if (column !== undefined) columns.push(column);
    assignment = '';
    return column !== undefined;
  };
  for (const token of assignments.match(/\w+|\s+|./gs) ?? []) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    const isEnd = depth < 0 || (depth === 0 && /^(where|from|returning)$/.test(token));
    if (isEnd) return addColumn() ? columns : undefined;
    if (depth === 0 && token === ',') {
      if (!addColumn()) return undefined;
    } else assignment += token;
  }
  return addColumn() ? columns : undefined;
}

/** Whether a statement names a parameter once, as an upper bound. */
function isUpperBound(text: string, index: number): boolean {
  const uses = text.match(new RegExp(`(<= )?\\$${index}(?!\\d)`, 'g')) ?? [];
  return uses.length === 1 && uses[0] === `<= $${index}`;
}

function keyOf({ name, text, values = [] }: pg.QueryConfig): string {
  return `${name ?? text}\n${values.map(valueKey).join('\n')}`;
}

function valueKey(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  return JSON.stringify(value, (_name, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner)) ?? '';
}
