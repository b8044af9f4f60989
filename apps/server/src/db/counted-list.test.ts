import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withSystemScope } from '@florin/pg';
import type { Route } from '@florin/protocol/route.ts';
import { sessionRoutes } from '@florin/protocol/session-api.ts';
import pg from 'pg';
import { Target } from '../../test/fuzz/target.ts';
import { type CountedList, chooseList, countedLists } from './counted-list.ts';
import { countingText, indexText, lackingText, recountText } from './list-migration.ts';
import { schema } from './schema.ts';

// Two merchants have objects of each kind, which then change in ways that no operation changes them.
let target: Target;
let client: pg.Client;
before(async () => {
  target = await Target.open();
  client = new pg.Client({ connectionString: withSystemScope(target.world.database.url, schema) });
  await client.connect();
  await target.restock();
  // Rows get values that no operation writes. Rows go that others refer to, and sessions, which their table keeps.
  await client.query(`do $$
    declare
      each record;
    begin
      for each in
        select conrelid::regclass as child, conname from pg_constraint
        where contype in ('f', 'c') and connamespace = 'public'::regnamespace and conrelid <> 0 order by coninhcount
      loop
        execute format('alter table %s drop constraint %I', each.child, each.conname);
      end loop;
    end $$;
    alter table sessions disable trigger sessions_stay`);
});
after(async () => {
  await client.end();
  await target.close();
});

/** Gives rows of the list other values, takes some out of it, removes some, and checks the totals each time. */
async function checkTotals(name: string, list: CountedList): Promise<void> {
  const { table, by, condition = '' } = list;
  const others = Object.values<CountedList>(countedLists).filter((each) => each.table === table);
  const fixed = [list, ...others].flatMap(({ by: columns, isFixed }) =>
    isFixed === true ? Object.values(columns) : [],
  );
  const check = async (when: string) => {
    const { rows } = await client.query(lackingText(name, list));
    assert.deepEqual(rows, [], `${name} ${when}`);
  };
  const { rows } = await client.query(`select count(*)::int as count from ${table}`);
  assert.ok(rows[0].count >= 3, `${table} has ${rows[0].count} rows`);
  await check('at first');
  for (const column of Object.values(by).filter((each) => !fixed.includes(each))) {
    await client.query(`update ${table} set ${column} = (select max(${column}) || 'x' from ${table})
      where ordinal % 2 = 0`);
    await check(`after other values of ${column}`);
  }
  const [, column, excluded] = /^(\w+) <> ('\w*')$/.exec(condition) ?? [];
  if (column !== undefined) {
    await client.query(`update ${table} set ${column} = ${excluded} where ordinal % 3 = 1`);
    await check('after rows left the list');
  }
  await client.query(`delete from ${table} where ordinal % 3 = 0`);
  await check('after rows went');
}

for (const [name, list] of Object.entries(countedLists))
  test(`the totals of the list ${name} are what count(*) says, whatever becomes of its rows`, () =>
    checkTotals(name, list));

/** Lists that are new to the database. */
const added: Readonly<Record<string, CountedList>> = {
  accounts_of_sessions: { table: 'sessions', by: { accountId: 'account_id' }, isFixed: true },
  tokens_of_sessions: { table: 'sessions', by: { status: 'status', token: 'settlement_token' } },
  names_of_links: { table: 'links', condition: "status <> 'deleted'", by: { name: 'link_name' } },
};
for (const [name, list] of Object.entries(added))
  test(`the migrations of the list ${name} count what was there, what comes and what goes`, async () => {
    assert.notDeepEqual((await client.query(lackingText(name, list))).rows, []);
    await client.query(countingText(name, list));
    await client.query(recountText(name, list));
    for (const statement of indexText(name, list).split(';')) await client.query(statement);
    await target.restock();
    await client.query(`with gone as (delete from only sessions where ordinal % 5 = 0 returning *)
      insert into sessions_archive select * from gone`);
    await checkTotals(name, list);
  });

test('each list of sessions is counted by all filters that its route takes together', () => {
  const lists = Object.values<Route>(sessionRoutes).flatMap(({ path, query }) => {
    const [, status] = /^\/session\/list\/(\w+)\//.exec(path) ?? [];
    const filters = Object.keys(query?.properties ?? {}).filter((name) => name !== 'after');
    return status === undefined ? [] : [status === 'all' ? filters : ['status', ...filters]];
  });
  assert.ok(lists.length > 1);
  for (const filters of lists)
    for (let chosen = 0; chosen < 2 ** filters.length; chosen += 1) {
      const given = filters.filter((_filter, index) => (chosen >> index) % 2 === 1);
      const found = chooseList('sessions', Object.fromEntries(given.map((name) => [name, 'x'])));
      assert.equal(found?.values.length ?? 0, given.length);
    }
});
