import { statement } from '@florin/pg';

/** The connection's rights under row-level security, and the parts of the schema outside it. */
export const scopeOfConnection = statement({
  name: 'scope_of_connection',
  columns: { role: 'text', is_above: 'bool', scope: 'text', unprotected: 'text[]' },
  text: `select current_user::text as role, rolsuper or rolbypassrls as is_above,
     coalesce(current_setting('florin.merchant', true), '') as scope,
     array(
       select c.relname::text from pg_class c
       where c.relnamespace in (current_schema()::regnamespace, to_regnamespace('sign_in')) and c.relkind in ('r', 'p')
         and c.relname <> 'schema_migrations' and not (c.relrowsecurity and c.relforcerowsecurity)
       order by c.relname
     ) as unprotected
   from pg_roles where rolname = current_user`,
});

/** The merchants that a connection can see, and its scope; always one row. */
export const visibleMerchants = statement({
  name: 'scope_visible_merchants',
  columns: { scope: 'text', is_any: 'bool' },
  text: `select coalesce(current_setting('florin.merchant', true), '') as scope, exists (select from merchants) as is_any`,
});
