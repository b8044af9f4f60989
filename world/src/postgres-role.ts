import pg from 'pg';

/** The role that the service connects as. The cluster's own role is a superuser, which ignores row-level security. */
export const SERVICE_ROLE = 'florin_service';

/** It may create databases, for the rehearsal of a restore, for tests and for benchmarks. */
const rolePowers = 'nosuperuser nobypassrls nocreaterole noreplication createdb';

/** Transfers what an older start left to the superuser: the database, and everything that migrations created in it. */
const takeOver = `do $$
declare command text;
begin
  for command in
    select format('alter table %s owner to ${SERVICE_ROLE}', c.oid::regclass)
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
      and c.relowner <> '${SERVICE_ROLE}'::regrole
    union all
    select format('alter routine %s owner to ${SERVICE_ROLE}', p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proowner <> '${SERVICE_ROLE}'::regrole
  loop
    execute command;
  end loop;
end $$`;

/**
 * Creates the service's role when missing, and gives it the database of the superuser's URL with everything in it. Has
 * no further effect the second time.
 */
export const ensureServiceRole = async (
  superuserUrl: string,
  options: { readonly password: string },
): Promise<void> => {
  const client = new pg.Client({ connectionString: superuserUrl, application_name: 'florin-world' });
  await client.connect();
  try {
    const database = pg.escapeIdentifier(new URL(superuserUrl).pathname.slice(1));
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [SERVICE_ROLE]);
    const login = `login password ${pg.escapeLiteral(options.password)}`;
    await client.query('begin');
    if (rowCount === 0) await client.query(`create role ${SERVICE_ROLE} ${login}`);
    await client.query(`alter role ${SERVICE_ROLE} ${rolePowers} ${login}`);
    await client.query(takeOver);
    await client.query(`alter database ${database} owner to ${SERVICE_ROLE}`);
    await client.query('commit');
  } finally {
    await client.end();
  }
};
