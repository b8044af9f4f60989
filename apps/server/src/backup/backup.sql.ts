import { statement } from '@florin/pg';

/** The schemas of the database: the default one, and that of better-auth's tables. A database before its first migration has one. */
const schemas = "(current_schema()::regnamespace, to_regnamespace('sign_in'))";
/** A table's name, with its schema unless that is the default one. */
const nameOf = (table: string) =>
  `case ${table}.relnamespace when current_schema()::regnamespace then '' else ${table}.relnamespace::regnamespace || '.' end || ${table}.relname`;

export const columnsOfTables = statement({
  name: 'backup_tables',
  columns: { name: 'text', columns: 'text[]', parents: 'text[]' },
  text: `select ${nameOf('c')} as name,
     array(
       select a.attname::text from pg_attribute a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum
     ) as columns,
     array(
       select distinct ${nameOf('p')} from pg_constraint k join pg_class p on p.oid = k.confrelid
       where k.conrelid = c.oid and k.contype = 'f'
     ) as parents
   from pg_class c
   where c.relnamespace in ${schemas} and c.relkind = 'r' and c.relname <> 'schema_migrations'
   order by 1`,
});

// Sequences of identity columns, and their next values.
export const identityColumns = statement({
  name: 'restore_identity_columns',
  columns: { name: 'text', column_name: 'text' },
  text: `select c.relname::text as name, a.attname::text as column_name
   from pg_attribute a join pg_class c on c.oid = a.attrelid
   where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0
     and a.attidentity <> '' and not a.attisdropped
   order by c.relname`,
});

export const ownTables = statement({
  name: 'restore_own_tables',
  columns: { tables: 'int8' },
  text: `select count(*) as tables from pg_class where relnamespace in ${schemas} and relkind in ('r', 'p')`,
});
