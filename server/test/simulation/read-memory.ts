import type pg from 'pg';
import type { Query, Rows } from './connections.ts';

/** What PostgreSQL says of its own about a schema. */
interface Catalogue {
  readonly tables: readonly string[];
  /** Tables whose rows have effects elsewhere: by triggers, or by references that cascade. */
  readonly linked: ReadonlySet<string>;
  /** Functions and views of the schema, whose effects cannot be read off a statement. */
  readonly opaque: readonly string[];
}

interface Kind {
  /** Reads, and does nothing else: no locks, no time, no chance. */
  readonly isPure: boolean;
  /** The tables that it names; undefined: it may touch any. */
  readonly tables: readonly string[] | undefined;
}

const effects =
  /\b(insert|update|delete|merge|truncate|share|lock|nextval|setval|now|random|set_config|notify|listen|current_\w+|clock_timestamp|pg_\w+|gen_random_\w+)\b/i;

/** Answers that are kept at most; then all are forgotten. */
const maxAnswers = 5_000;

/**
 * Answers of PostgreSQL that still hold: those of statements that only read, over tables that no transaction has changed
 * since. Most of what an idle service asks it has asked before. What it is told is exactly what the server would say.
 */
export class ReadMemory {
  readonly #catalogue: Catalogue;
  readonly #kinds = new Map<string, Kind>();
  readonly #answers = new Map<string, { readonly rows: Rows; readonly age: number }>();
  /** By table, how often it has been changed. */
  readonly #changes = new Map<string, number>();
  #changesOfAll = 0;

  private constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  static async of(client: pg.Client): Promise<ReadMemory> {
    const names = async (text: string) =>
      (await client.query<{ name: string }>(text)).rows.map(({ name }) => name);
    const tables = await names(
      `select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
    );
    const linked = await names(
      `select tgrelid::regclass::text as name from pg_trigger where not tgisinternal
       union select confrelid::regclass::text from pg_constraint where contype = 'f' and confdeltype <> 'a'`,
    );
    const opaque = await names(
      `select proname as name from pg_proc where pronamespace = 'public'::regnamespace
       union select relname from pg_class where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace`,
    );
    return new ReadMemory({ tables, linked: new Set(linked), opaque });
  }

  /** Whether a statement only reads. */
  isPure(query: Query): boolean {
    return this.#kindOf(query.text).isPure;
  }

  /** What the server would answer, where that is known. */
  recall(query: Query): Rows | undefined {
    const kind = this.#kindOf(query.text);
    if (!kind.isPure) return undefined;
    const answer = this.#answers.get(keyOf(query));
    return answer?.age === this.#ageOf(kind) ? answer.rows : undefined;
  }

  /** Keeps what the server has answered to a statement outside of a transaction that has changed something. */
  keep(query: Query, rows: Rows): void {
    const kind = this.#kindOf(query.text);
    // What is asked as of a moment is not asked again.
    if (!kind.isPure || query.values?.some((value) => value instanceof Date) === true) return;
    if (this.#answers.size >= maxAnswers) this.#answers.clear();
    this.#answers.set(keyOf(query), { rows, age: this.#ageOf(kind) });
  }

  /** What these statements have changed is committed. */
  changed(queries: readonly Query[]): void {
    for (const { text } of queries) {
      const { tables } = this.#kindOf(text);
      if (tables === undefined) this.forget();
      else for (const table of tables) this.#changes.set(table, (this.#changes.get(table) ?? 0) + 1);
    }
  }

  /** Nothing that was known holds any more. */
  forget(): void {
    this.#changesOfAll += 1;
    this.#answers.clear();
  }

  #ageOf({ tables = [] }: Kind): number {
    // Counts only grow, so a sum is the same only where each of them is.
    return tables.reduce((sum, table) => sum + (this.#changes.get(table) ?? 0), this.#changesOfAll);
  }

  #kindOf(text: string): Kind {
    const known = this.#kinds.get(text);
    if (known !== undefined) return known;
    const kind = this.#classify(text);
    this.#kinds.set(text, kind);
    return kind;
  }

  #classify(text: string): Kind {
    const words = new Set(text.toLowerCase().match(/\w+/g) ?? []);
    const isOpaque = this.#catalogue.opaque.some((name) => words.has(name));
    const tables = this.#catalogue.tables.filter((name) => words.has(name));
    const isPure = /^\s*(select|with)\b/i.test(text) && !isOpaque && !effects.test(text);
    const reaches = isOpaque || (!isPure && tables.some((name) => this.#catalogue.linked.has(name)));
    return { isPure, tables: reaches ? undefined : tables };
  }
}

function keyOf({ name, text, values = [] }: Query): string {
  return `${name ?? text}\n${values.map(valueKey).join('\n')}`;
}

function valueKey(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  return JSON.stringify(value, (_name, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner)) ?? '';
}
