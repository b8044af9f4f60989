import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMigrations } from '@florin/pg';
import { schema } from './schema.ts';

// Processes are updated one after another, on a database with years of rows. So a migration may not stop what runs: not the
// requests that use a table, and not the version before.

/** The last one from before the rules. No release is older, and none of their tables had many rows then. */
const lastFree = 342;

/** What one statement may not do while the version before uses the tables, with what to do instead. */
const rules: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  {
    pattern: /^create (?:unique )?index (?!concurrently)(?:if not exists )?\w+ on (?:only )?(?<table>\w+)/,
    instead: 'build it concurrently, in a file of its own whose first line is "-- Outside a transaction."',
  },
  {
    pattern:
      /^alter table (?:if exists )?(?:only )?(?<table>\w+)\b.*\b(?:add (?:column )?(?:if not exists )?\w+ .*\b(?:generated always as \(.*\) stored|primary key|unique)|alter (?:column )?\w+ (?:set data )?type|add (?:constraint \w+ )?(?:primary key|unique|exclude) \()/,
    instead:
      'it rewrites or reads the whole table under a lock: add a plain column and fill it in batches, or build the index first',
  },
  {
    pattern:
      /^alter table (?:if exists )?(?:only )?(?<table>\w+)\b(?:.*\badd (?:constraint \w+ )?(?:check|foreign key)\b(?!.* not valid)|.*\balter (?:column )?\w+ set not null)/,
    instead:
      'it reads the whole table under a lock: add the constraint "not valid", and validate it in another file',
  },
  {
    pattern:
      /^(?:drop (?!index concurrently)|alter table (?:if exists )?(?:only )?(?<table>\w+)\b.*\b(?:drop (?!not null|default|constraint \w+_check)|rename ))/,
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
  // Bodies of functions are no statements of the migration.
  const statements = text
    .replace(/\$(\w*)\$.*?\$\1\$/gs, "''")
    .replace(/^\s*--.*$/gm, '')
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim().toLowerCase());
  const own = new Set(
    statements.flatMap(
      (statement) => /^create (?:unlogged )?table (?:if not exists )?(\w+)/.exec(statement)?.[1] ?? [],
    ),
  );
  return statements.flatMap((statement) =>
    rules.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(statement);
      if (found === null || own.has(found.groups?.['table'] ?? '')) return [];
      if (mayDrop && instead.startsWith('the version before')) return [];
      return [`${file}: ${statement.slice(0, 60)}: ${instead}`];
    }),
  );
}

/** The versions that are released, none yet: what one of them no longer uses may go. */
const releases: readonly string[] = [];

test('migrations neither lock tables that grow nor take away what the version before uses', async () => {
  const migrations = (await readMigrations(schema)).filter(({ version }) => version > lastFree);
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
  ['alter table links drop constraint links_url_check;', false],
  ['alter table links drop constraint links_pkey;', true],
  ['alter table links validate constraint short;', false],
  ['create function f() returns trigger language plpgsql as $$ begin drop table x; end $$;', false],
] as const) {
  test(`a migration is ${isRefused ? 'refused' : 'accepted'}: ${text.replaceAll('\n', ' ')}`, () => {
    assert.equal(problemsOf({ file: '0999_x.sql', text }, ['0.1.0']).length > 0, isRefused);
  });
}
