import type pg from 'pg';
import type { Given } from './recorded-query.ts';

/** What PostgreSQL says of its own about a schema. */
interface Catalogue {
  /** The columns of each table. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Tables with columns that are computed from others. */
  readonly computed: ReadonlySet<string>;
  /** What functions, views, and changes of tables with triggers or cascading references may change besides: tables. */
  readonly reaches: ReadonlyMap<string, ReadonlySet<string>>;
  /** Functions and views of the schema, whose answers cannot be read off a statement. */
  readonly opaque: readonly string[];
}

interface Kind {
  /** Reads, and does nothing else: no locks, no time, no chance. */
  readonly isPure: boolean;
  /** Reads and locks what it finds, and changes nothing. */
  readonly isLocking: boolean;
  /** Changes rows by one statement alone, so that it changes nothing where it finds none. */
  readonly isPlainChange: boolean;
  /** What its answer depends on: tables, and columns as `table.column`. */
  readonly reads: readonly string[];
  /** What it changes: tables, or columns of them where rows neither come nor go; undefined: it may be anything. */
  readonly changes: readonly string[] | undefined;
}

const effects =
  /\b(insert|update|delete|merge|truncate|share|lock|nextval|setval|now|random|set_config|notify|listen|current_\w+|clock_timestamp|pg_\w+|gen_random_\w+)\b/i;
/** What may read columns that it does not name. */
const wholeRows = /\*|json|row\(/i;
const rowLocks = /\bfor (no key update|update|share|key share)( of [\w, ]+)?( skip locked| nowait)?\s*$/i;
const plainChange = /^\s*(update|insert|delete)\b/i;

/**
 * Looks for what has become due: with a later moment they find whatever they find with an earlier one. Each names its moment
 * once, as what has to be past.
 */
const rising: ReadonlySet<string> = new Set(['legs_waiting', 'legs_not_mined', 'legs_untold']);
/** Later than any moment of a history. */
const latest = new Date(Date.UTC(2999, 0, 1));

/** Answers that are kept at most; then all are forgotten. */
const maxAnswers = 5_000;

/**
 * Answers of PostgreSQL that still hold: those of statements that only read, over what no transaction has changed since.
 * Most of what an idle service asks it has asked before. What it is told is exactly what the server would say.
 */
export class ReadMemory {
  readonly #catalogue: Catalogue;
  readonly #kinds = new Map<string, Kind>();
  readonly #answers = new Map<string, { readonly given: Given; readonly age: number }>();
  /** By table or column, how often it has been changed. */
  readonly #changes = new Map<string, number>();
  #changesOfAll = 0;

  readonly #remembers: boolean;

  private constructor(catalogue: Catalogue, remembers: boolean) {
    this.#catalogue = catalogue;
    this.#remembers = remembers;
  }

  /** With `remembers` false it knows nothing, so that each statement is asked. */
  static async of(client: pg.Client, { remembers = true } = {}): Promise<ReadMemory> {
    const names = async (text: string) =>
      (await client.query<{ name: string }>(text)).rows.map(({ name }) => name);
    const tables = await client.query<{ name: string; columns: string[] }>(
      `select relname as name, array_agg(attname::text) as columns
       from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0
       where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace group by relname`,
    );
    const links = await client.query<{ name: string; text: string }>(
      `select relname as name, pg_get_viewdef(oid) as text from pg_class
       where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace
       union all select proname, pg_get_functiondef(oid) from pg_proc
       where pronamespace = 'public'::regnamespace and prokind = 'f'
       union all select tgrelid::regclass::text, tgfoid::regproc::text from pg_trigger where not tgisinternal
       union all select confrelid::regclass::text, conrelid::regclass::text from pg_constraint
       where contype = 'f' and (confdeltype <> 'a' or confupdtype <> 'a')`,
    );
    const opaque = await names(
      `select proname as name from pg_proc where pronamespace = 'public'::regnamespace
       union select relname from pg_class where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace`,
    );
    const computed = await names(
      `select distinct attrelid::regclass::text as name from pg_attribute where attgenerated <> ''`,
    );
    const columns = new Map(tables.rows.map((table) => [table.name, table.columns]));
    const reaches = closed(links.rows, new Set(columns.keys()));
    return new ReadMemory({ columns, computed: new Set(computed), reaches, opaque }, remembers);
  }

  /** Whether a statement only reads. */
  isPure(query: pg.QueryConfig): boolean {
    return this.#kindOf(query.text).isPure;
  }

  /**
   * What a statement has changed, given how many rows it found; undefined: it may be anything. Nothing where it only reads
   * or locks.
   */
  changesOf({ text }: pg.QueryConfig, found: number): readonly string[] | undefined {
    const { isPure, isLocking, isPlainChange, changes } = this.#kindOf(text);
    return isPure || isLocking || (isPlainChange && found === 0) ? [] : changes;
  }

  /**
   * What the server would answer, where that is known: to a transaction that has itself changed what `own` says, and to
   * others where it is empty.
   */
  recall(query: pg.QueryConfig, own: readonly string[]): Given | undefined {
    const kind = this.#kindOf(query.text);
    if (!isApart(kind, own)) return undefined;
    const age = this.#ageOf(kind);
    const answer = this.#answers.get(keyOf(query));
    if (answer?.age === age) return answer.given;
    const later = laterOf(query);
    const none = later === undefined ? undefined : this.#answers.get(keyOf(later));
    return none?.age === age && none.given.rows.length === 0 ? none.given : undefined;
  }

  /**
   * Where it is not known whether anything will ever be due: the statement that asks that, and that it was worth asking first
   * where it finds nothing.
   */
  toAskFirst(query: pg.QueryConfig, own: readonly string[]): pg.QueryConfig | undefined {
    const later = this.#remembers ? laterOf(query) : undefined;
    if (later === undefined) return undefined;
    const kind = this.#kindOf(query.text);
    const isKnown = this.#answers.get(keyOf(later))?.age === this.#ageOf(kind);
    return isKnown || !isApart(kind, own) ? undefined : later;
  }

  /** Keeps what the server has answered to a transaction that has itself changed what `own` says. */
  keep(query: pg.QueryConfig, given: Given, own: readonly string[]): void {
    const kind = this.#kindOf(query.text);
    if (!isApart(kind, own)) return;
    // What is asked as of a moment is not asked again.
    if (query.values?.some((value) => value instanceof Date && value !== latest)) return;
    if (!this.#remembers) return;
    if (this.#answers.size >= maxAnswers) this.#answers.clear();
    this.#answers.set(keyOf(query), { given, age: this.#ageOf(kind) });
  }

  /** These changes are committed; undefined: anything may have changed. */
  changed(changes: readonly string[] | undefined): void {
    if (changes === undefined) this.forget();
    else for (const change of changes) this.#changes.set(change, (this.#changes.get(change) ?? 0) + 1);
  }

  /** Nothing that was known holds any more. */
  forget(): void {
    this.#changesOfAll += 1;
    this.#answers.clear();
  }

  #ageOf({ reads }: Kind): number {
    // Counts only grow, so a sum is the same only where each of them is.
    let age = this.#changesOfAll;
    for (const read of reads) age += this.#changes.get(read) ?? 0;
    return age;
  }

  #kindOf(text: string): Kind {
    const known = this.#kinds.get(text);
    if (known !== undefined) return known;
    const kind = this.#classify(text);
    this.#kinds.set(text, kind);
    return kind;
  }

  #classify(text: string): Kind {
    const { columns, opaque } = this.#catalogue;
    const words = wordsOf(text);
    const isOpaque = opaque.some((name) => words.has(name));
    const tables = [...columns.keys()].filter((name) => words.has(name));
    const isWhole = wholeRows.test(text);
    const named = (table: string) =>
      (columns.get(table) ?? []).filter((column) => isWhole || words.has(column));
    const isSelect = /^\s*(select|with)\b/i.test(text) && !isOpaque;
    return {
      isPure: isSelect && !effects.test(text),
      isLocking: isSelect && rowLocks.test(text) && !effects.test(text.replace(rowLocks, '')),
      isPlainChange: plainChange.test(text) && !isOpaque,
      reads: tables.flatMap((table) => [table, ...named(table).map((column) => `${table}.${column}`)]),
      changes: this.#changesBy(text, words),
    };
  }

  #changesBy(text: string, words: ReadonlySet<string>): readonly string[] | undefined {
    const { columns, computed, reaches, opaque } = this.#catalogue;
    if (!/^\s*(select|with|insert|update|delete)\b/i.test(text)) return undefined;
    const changes = new Set<string>();
    for (const name of opaque.filter((candidate) => words.has(candidate)))
      for (const table of reaches.get(name) ?? []) changes.add(table);
    for (const { table, set } of writesOf(text)) {
      // What it is, or is called here, is not understood.
      if (!columns.has(table)) return undefined;
      for (const reached of reaches.get(table) ?? []) changes.add(reached);
      if (set === undefined || computed.has(table)) changes.add(table);
      else for (const column of set) changes.add(`${table}.${column}`);
    }
    return [...changes];
  }
}

/** Whether a statement only reads, and nothing of what a transaction has changed itself. */
function isApart({ isPure, reads }: Kind, own: readonly string[]): boolean {
  return isPure && !reads.some((read) => own.includes(read));
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/\w+/g) ?? []);
}

/** From what each name leads to directly: the tables that it leads to in the end. */
function closed(
  links: readonly { readonly name: string; readonly text: string }[],
  tables: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Set([...tables, ...links.map(({ name }) => name)]);
  const next = new Map<string, string[]>();
  for (const { name, text } of links) {
    const found = [...wordsOf(text)].filter((word) => names.has(word) && word !== name);
    next.set(name, [...(next.get(name) ?? []), ...found]);
  }
  const reachedFrom = (start: string) => {
    const reached = new Set<string>();
    const open = [...(next.get(start) ?? [])];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (reached.has(name)) continue;
      reached.add(name);
      open.push(...(next.get(name) ?? []));
    }
    return new Set([...reached].filter((name) => tables.has(name)));
  };
  return new Map([...next.keys()].map((name) => [name, reachedFrom(name)]));
}

/** The same statement as of the end of time, where it looks for what has become due. */
function laterOf(query: pg.QueryConfig): pg.QueryConfig | undefined {
  const { name = '', text, values = [] } = query;
  if (!rising.has(name)) return undefined;
  for (const [place, value] of values.entries()) {
    if (value instanceof Date && !asksForPast(text, place + 1))
      throw new Error(`${name} does not ask for what is past`);
  }
  return { ...query, values: values.map((value) => (value instanceof Date ? latest : value)) };
}

interface Write {
  readonly table: string;
  /** The columns that it sets, where rows neither come nor go. */
  readonly set: readonly string[] | undefined;
}

/** The writes in a statement, whether it is one or has some in parts of its own. */
function* writesOf(text: string): Iterable<Write> {
  const lower = text.toLowerCase();
  for (const { 1: table = '' } of lower.matchAll(
    /\b(?:insert into|delete from|merge into|truncate)\s+(\w+)/g,
  ))
    yield { table, set: undefined };
  for (const { 1: table = '', 2: rest = '' } of lower.matchAll(
    /(?<!\bfor (?:no key )?|\bdo )\bupdate\s+(\w+)(?=\s+(?:(?:as\s+)?\w+\s+)??set\b(.*))/gs,
  ))
    yield { table, set: columnsSet(rest) };
}

/** The columns on the left of what follows `set`; undefined where that is not understood. */
function columnsSet(rest: string): string[] | undefined {
  const columns: string[] = [];
  let depth = 0;
  let part = '';
  const take = () => {
    const column = /^\s*(\w+)\s*=/.exec(part)?.[1];
    if (column !== undefined) columns.push(column);
    part = '';
    return column !== undefined;
  };
  for (const token of rest.match(/\w+|\s+|./gs) ?? []) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    const isOver = depth < 0 || (depth === 0 && /^(where|from|returning)$/.test(token));
    if (isOver) return take() ? columns : undefined;
    if (depth === 0 && token === ',') {
      if (!take()) return undefined;
    } else part += token;
  }
  return take() ? columns : undefined;
}

/** Whether a statement names a parameter once, and as the end of what it looks for. */
function asksForPast(text: string, place: number): boolean {
  const uses = text.match(new RegExp(`(<= )?\\$${place}(?!\\d)`, 'g')) ?? [];
  return uses.length === 1 && uses[0] === `<= $${place}`;
}

function keyOf({ name, text, values = [] }: pg.QueryConfig): string {
  return `${name ?? text}\n${values.map(valueKey).join('\n')}`;
}

function valueKey(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  return JSON.stringify(value, (_name, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner)) ?? '';
}
