import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMigrations } from '@florin/pg';
import { schema } from './schema.ts';

// Processes are updated one after another, on a database with years of rows. So a migration may not stop what runs: not the
// requests that use a table, and not the version before.

/** The last one from before the rules. No release is older, and none of their tables had many rows then. */
const lastFree = 342;
/** Later ones from before a rule that they break: 0343 checks the keys of the API, of which there are few. */
const free: ReadonlySet<number> = new Set([343]);

const table = String.raw`^alter table (?:if exists )?(?:only )?(?<table>[\w.]+)\b`;
const addColumn = String.raw`add (?:column )?(?:if not exists )?(?!(?:constraint|check|foreign|primary|unique|exclude|not)\b)\w+ .*`;
// `now()` is the same for all rows, so that PostgreSQL stores it once. Of other functions the text does not say that.
const costlyDefault = String.raw`default (?:.*?\W)?(?!now\b)\w+ ?\(`;
const costlyPart = String.raw`\b(?:generated (?:always|by default) as|(?:big|small)?serial[248]?\b|primary key|unique|references|check|${costlyDefault})`;

/**
 * What one statement may not do while the version before uses the tables, with what to do instead. An `alter table` of several
 * actions is as many statements.
 */
const rules: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  {
    pattern:
      /^create (?:unique )?index (?!concurrently)(?:if not exists )?(?:\w+ )?on (?:only )?(?<table>[\w.]+)/,
    instead: 'build it concurrently, in a file of its own whose first line is "-- Outside a transaction."',
  },
  {
    pattern: new RegExp(
      String.raw`${table} (?:${addColumn}${costlyPart}|alter (?:column )?\w+ (?:set data )?type|alter (?:column )?\w+ add generated|add (?:constraint \w+ )?(?:primary key|unique|exclude)\b(?! using index))`,
    ),
    instead:
      'it rewrites or reads the whole table under a lock: add a plain column and fill it in batches, add a constraint "not valid", or build the index first',
  },
  {
    pattern: new RegExp(
      String.raw`${table} (?:add (?:constraint \w+ )?(?:check|foreign key|not null)\b(?!.* not valid\b)|alter (?:column )?\w+ set not null)`,
    ),
    instead:
      'it reads the whole table under a lock: add the constraint "not valid", and validate it in another file',
  },
  {
    // Without a condition, which the statement's parts in parentheses have for themselves.
    pattern: /^(?:update|delete from) (?:only )?(?<table>[\w.]+)\b(?!.*\bwhere\b)/,
    instead: 'it locks every row until the migration ends: let the program change them in batches',
  },
  {
    pattern: new RegExp(
      String.raw`^drop (?!index concurrently)|${table} (?:drop (?!constraint \w+_check)|rename |alter (?:column )?\w+ drop (?!not null|default))`,
    ),
    instead: 'the version before may use it: drop it in the release after the one that no longer does',
  },
  {
    pattern: /^drop index concurrently/,
    instead: 'the version before may use it: drop it in the release after the one that no longer does',
  },
];

/** Names the first release that does not use what is dropped. */
const unusedMark = /^-- Unused since (\d+\.\d+\.\d+)\.$/m;

/** Why a migration must not run while the version before does, a sentence each. */
function problemsOf({ file, text }: { file: string; text: string }, releases: readonly string[]): string[] {
  if (text.startsWith('-- Older programs must stop first.')) return [];
  const unusedSince = unusedMark.exec(text)?.[1];
  const mayDrop = unusedSince !== undefined && releases.includes(unusedSince);
  // Texts, and bodies of functions among them, are no statements of the migration.
  const statements = text
    .replace(/--[^\n]*|'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$/gs, (part) => (part.startsWith('--') ? ' ' : "''"))
    .split(';')
    .flatMap((statement) =>
      actionsOf(statement.replaceAll('"', '').replace(/\s+/g, ' ').trim().toLowerCase()),
    );
  const own = new Set(
    statements.flatMap(
      (statement) => /^create (?:unlogged )?table (?:if not exists )?([\w.]+)/.exec(statement)?.[1] ?? [],
    ),
  );
  return statements.flatMap((statement) =>
    rules.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(/^(?:update|delete)/.test(statement) ? outerOf(statement) : statement);
      if (found === null || own.has(found.groups?.['table'] ?? '')) return [];
      if (mayDrop && instead.startsWith('the version before')) return [];
      return [`${file}: ${statement.slice(0, 60)}: ${instead}`];
    }),
  );
}

/** Each action of an `alter table` as a statement of its own; another statement as it is. */
function actionsOf(statement: string): string[] {
  const start = /^alter table (?:if exists )?(?:only )?[\w.]+ /.exec(statement)?.[0];
  if (start === undefined) return [statement];
  const actions: string[] = [''];
  let depth = 0;
  for (const sign of statement.slice(start.length)) {
    depth += { '(': 1, ')': -1 }[sign] ?? 0;
    if (sign === ',' && depth === 0) actions.push('');
    else actions.push(`${actions.pop()}${sign}`);
  }
  return actions.map((action) => `${start}${action.trim()}`);
}

/** A statement without what it has in parentheses. */
function outerOf(statement: string): string {
  const outer = statement.replace(/\([^()]*\)/g, '');
  return outer === statement ? outer : outerOf(outer);
}

/** The versions that are released, none yet: what one of them no longer uses may go. */
const releases: readonly string[] = [];

test('migrations neither lock tables that grow nor take away what the version before uses', async () => {
  const migrations = (await readMigrations(schema)).filter(
    ({ version }) => version > lastFree && !free.has(version),
  );
  assert.deepEqual(
    migrations.flatMap((migration) => problemsOf(migration, releases)),
    [],
  );
});

for (const [text, isRefused] of [
  ['create index deliveries_due on deliveries (next_attempt_at);', true],
  ['-- Why.\ncreate unique index a\n  on sessions (b);', true],
  ['create table news (id int primary key, at timestamptz);\ncreate index news_by_time on news (at);', false],
  ['-- Outside a transaction.\ncreate index concurrently deliveries_due on deliveries (at);', false],
  ['-- Outside a transaction.\ndrop index concurrently if exists deliveries_due;', true],
  [
    '-- Outside a transaction.\n-- Unused since 0.1.0.\ndrop index concurrently if exists deliveries_due;',
    false,
  ],
  ['-- Unused since 0.2.0.\ndrop table news;', true],
  ['-- Older programs must stop first.\ndrop table news;', false],
  ['alter table links add column origin text;', false],
  ["alter table mails add column payer text not null default '';", false],
  ['alter table links add column origin text generated always as (lower(url)) stored;', true],
  ['alter table links alter column url type varchar(9);', true],
  ['alter table links alter column url set not null;', true],
  ['alter table links alter column url drop not null;', false],
  ['alter table links drop column url;', true],
  ['alter table links rename column url to address;', true],
  ["alter table links add constraint short check (url <> '');", true],
  ["alter table links add constraint short check (url <> '') not valid;", false],
  ["alter table links add constraint a check (b <> ''), add constraint c check (d <> '') not valid;", true],
  [
    "alter table links add constraint a check (b <> '') not valid, add constraint c check (d > 0) not valid;",
    false,
  ],
  ["alter table links add check (url <> 'not valid');", true],
  ['alter table links add foreign key (a, b) references c (a, b);', true],
  ['alter table links add foreign key (a, b) references c (a, b) not valid;', false],
  ["alter table links add column a text not null default '' constraint short check (length(a) <= 60);", true],
  ['alter table links add column a text references merchants;', true],
  ['alter table links add column a text, add column b text references merchants;', true],
  ['alter table links add a uuid not null default gen_random_uuid();', true],
  ['alter table links add column a timestamptz not null default (clock_timestamp());', true],
  ['alter table links add column a timestamptz not null default now();', false],
  ["alter table links add column a numeric(10, 2) default 0, add column b text[] default '{}';", false],
  ['alter table links add column a bigserial;', true],
  ['alter table links add column a serial4;', true],
  ['alter table links add column serial_number int;', false],
  ['alter table links add column a bigint generated by default as identity;', true],
  ['alter table links alter column a add generated always as identity;', true],
  ['alter table links add primary key using index links_by_id;', false],
  ['create index on sessions (a);', true],
  ['create index if not exists by_a on only sessions (a);', true],
  ["update links set origin = '';", true],
  ['alter table sign_in.passkey add column "isLate" bigserial;', true],
  ['update links l set a = (select b from news n where n.id = l.id);', true],
  ["update links set origin = '' where link_id = 'lnk_1';", false],
  ['delete from links;', true],
  ['create table news (id int);\ninsert into news values (1);\nupdate news set id = 2;', false],
  ['alter table links drop constraint links_url_check;', false],
  ['alter table links drop constraint links_pkey;', true],
  ['alter table links validate constraint short;', false],
  ['create function f() returns trigger language plpgsql as $$ begin drop table x; end $$;', false],
] as const) {
  test(`a migration is ${isRefused ? 'refused' : 'accepted'}: ${text.replaceAll('\n', ' ')}`, () => {
    assert.equal(problemsOf({ file: '0999_x.sql', text }, ['0.1.0']).length > 0, isRefused);
  });
}
