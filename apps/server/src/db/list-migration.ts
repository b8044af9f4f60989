import { type CountedList, countedLists, valueSeparator } from './counted-list.ts';

/** What counts a new list in the database, as SQL of migrations: they are written once and then never change. */

/** Tables that take rows of another one, which lists show as well. */
const archives: Readonly<Record<string, string>> = { sessions: 'sessions_archive' };
/** The lists that migrations from before these texts count. */
const earlier: ReadonlySet<string> = new Set([
  'sessions',
  'events',
  'deliveries',
  'refunds',
  'products',
  'links',
]);

/** What a list needs, in its order: each is a migration, which begins with `head` and has a title for each list. */
const parts = [
  { name: 'count-lists', head: '', title: 'Triggers', textOf: countingText },
  { name: 'recount-lists', head: '', title: 'Rows from before the triggers', textOf: recountText },
  { name: 'index-lists', head: '-- Outside a transaction.\n', title: 'Indexes', textOf: indexText },
] as const;

/** The migrations that the counted lists lack, each with its file name. `migrations` are those that exist. */
export function missingListMigrations(
  migrations: readonly { readonly version: number; readonly text: string }[],
): readonly { readonly file: string; readonly text: string }[] {
  const known = migrations.map(({ text }) => text).join('\n');
  let version = Math.max(...migrations.map((each) => each.version));
  return parts.flatMap(({ name, head, title, textOf }) => {
    const texts = Object.entries<CountedList>(countedLists).flatMap(([list, declared]) => {
      const first = `-- ${title} of the list ${list}.\n`;
      return earlier.has(list) || known.includes(first) ? [] : [`${first}${textOf(list, declared)}`];
    });
    if (texts.length === 0) return [];
    version += 1;
    return [{ file: `${String(version).padStart(4, '0')}_${name}.sql`, text: head + texts.join('\n') }];
  });
}

/** The triggers that note what a statement adds to a list or removes from it (docs/decisions/0009). */
export function countingText(name: string, list: CountedList): string {
  const { table, isFixed = false } = list;
  const added = { table: 'new table as added', changes: rowsText(list, 'added', 1) };
  const gone = { table: 'old table as gone', changes: rowsText(list, 'gone', -1) };
  const run = (trigger: string) => `  for each statement execute function ${name}_${trigger}();\n`;
  const noting = (trigger: string, event: string, sides: readonly (typeof added)[]) =>
    `create function ${name}_${trigger}() returns trigger language plpgsql as $$
begin
  insert into list_total_changes (merchant_id, list, facet, change)
  select merchant_id, '${name}', value, sum(change) from (
    ${sides.map(({ changes }) => changes).join('\n    union all ')}
  ) as changed
  group by merchant_id, value having sum(change) <> 0;
  return null;
end $$;
create trigger ${name}_${trigger} after ${event} on ${table} referencing ${sides.map((side) => side.table).join(' ')}
${run(trigger)}`;
  const archive = archives[table];
  return [
    noting('added', 'insert', [added]),
    ...(isFixed ? [] : [noting('changed', 'update', [added, gone])]),
    noting('gone', 'delete', [gone]),
    ...(archive === undefined
      ? []
      : [
          `create trigger ${name}_archived after insert on ${archive} referencing ${added.table}\n`,
          run('added'),
        ]),
  ].join('');
}

/** Counts the rows from before the triggers. */
export function recountText(name: string, list: CountedList): string {
  return `insert into list_total_changes (merchant_id, list, facet, change)
${lackingText(name, list)};
`;
}

/**
 * Selects what the totals of a list lack. It takes no lock: the triggers note every change, and one snapshot has the rows and what
 * is noted of them.
 */
export function lackingText(name: string, list: CountedList): string {
  return `select merchant_id, '${name}', value, sum(change) from (
  ${rowsText(list, list.table, 1)}
  union all select merchant_id, facet, -row_count from list_totals where list = '${name}'
  union all select merchant_id, facet, -change from list_total_changes where list = '${name}'
) as known
group by merchant_id, value having sum(change) <> 0`;
}

/** The indexes of the list's pages, on the table and on its archive. */
export function indexText(name: string, { table, by, condition }: CountedList): string {
  const columns = ['merchant_id', ...Object.values(by), 'ordinal'].join(', ');
  const where = condition === undefined ? '' : ` where ${condition}`;
  const archive = archives[table];
  return [
    `create index concurrently ${name}_page on ${table} (${columns})${where};\n`,
    ...(archive === undefined
      ? []
      : [`create index concurrently ${name}_archive_page on ${archive} (${columns})${where};\n`]),
  ].join('');
}

/** The rows of the list among `rows`, each with the value that counts it. */
function rowsText({ by, condition }: CountedList, rows: string, change: 1 | -1): string {
  const columns = Object.values(by);
  const value = columns.length === 0 ? "'*'" : columns.join(` || '${valueSeparator}' || `);
  const where = condition === undefined ? '' : ` where ${condition}`;
  return `select merchant_id, ${value} as value, ${change} as change from ${rows}${where}`;
}
