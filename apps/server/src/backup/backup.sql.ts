import { statement } from '@florin/pg';

export const columnsOfTables = statement({
  name: 'backup_tables',
  parameters: {},
  columns: { name: 'text', columns: 'text[]', parents: 'text[]' },
  text: `select c.relname::text as name,
     array(
       select a.attname::text from pg_attribute a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum
     ) as columns,
     array(
       select distinct p.relname::text from pg_constraint k join pg_class p on p.oid = k.confrelid
       where k.conrelid = c.oid and k.contype = 'f'
     ) as parents
   from pg_class c
   where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> 'schema_migrations'
   order by c.relname`,
});

// Sequences of identity columns, and their next values.
export const identityColumns = statement({
  name: 'restore_identity_columns',
  parameters: {},
  columns: { name: 'text', column_name: 'text' },
  text: `select c.relname::text as name, a.attname::text as column_name
   from pg_attribute a join pg_class c on c.oid = a.attrelid
   where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0
     and a.attidentity <> '' and not a.attisdropped
   order by c.relname`,
});

export const ownTables = statement({
  name: 'restore_own_tables',
  parameters: {},
  columns: { tables: 'int8' },
  text: `select count(*) as tables from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`,
});
