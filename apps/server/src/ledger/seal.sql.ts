import { type Row, statement } from '@florin/pg';

// Sealers take turns by this lock. Nobody else ever waits for it.
export const lockHead = statement(
  'ledger_head_lock',
  [],
  { seal_number: 'int8', hash: 'bytea' },
  'select seal_number, hash from ledger_head for update',
);

export const readHead = statement(
  'ledger_head',
  [],
  { seal_number: 'int8', hash: 'bytea' },
  'select seal_number, hash from ledger_head',
);

const contentColumns = {
  entry_id: 'int8',
  entry_key: 'text',
  kind: 'text',
  order_id: 'text',
  chain_id: 'int8',
  tx_hash: 'text',
  booked_at: 'text',
  accounts: 'text[]',
  assets: 'text[]',
  amounts: 'text[]',
} as const;

// Times to the microsecond: what a JavaScript date leaves out could be changed unseen.
const contentList = `e.entry_id, e.entry_key, e.kind, e.order_id, e.chain_id, e.tx_hash,
     extract(epoch from e.created_at)::text as booked_at,
     array(select ledger_account from ledger_postings p where p.entry_id = e.entry_id order by position) as accounts,
     array(select asset from ledger_postings p where p.entry_id = e.entry_id order by position) as assets,
     array(select amount::text from ledger_postings p where p.entry_id = e.entry_id order by position) as amounts`;

// Committed ones only: what commits late gets a later seal, whatever its number.
export const unsealedEntries = statement(
  'ledger_unsealed',
  ['int8'],
  contentColumns,
  `select ${contentList}
   from ledger_unsealed u join ledger_entries e on e.entry_id = u.entry_id order by u.entry_id limit $1`,
);
export type EntryContent = Row<typeof unsealedEntries>;

export const insertSeals = statement(
  'ledger_seals_insert',
  ['int8[]', 'int8[]', 'bytea[]', 'timestamptz'],
  { entry_id: 'int8' },
  `with sealed as (
     insert into ledger_seals (seal_number, entry_id, hash, sealed_at)
     select seal.seal_number, seal.entry_id, seal.hash, $4
     from unnest($1::int8[], $2::int8[], $3::bytea[]) as seal (seal_number, entry_id, hash)
     returning entry_id
   )
   delete from ledger_unsealed where entry_id in (select entry_id from sealed) returning entry_id`,
);

export const moveHead = statement(
  'ledger_head_move',
  ['int8', 'bytea'],
  {},
  'update ledger_head set seal_number = $1, hash = $2',
);

export const sealedEntries = statement(
  'ledger_sealed',
  ['int8', 'int8', 'int8'],
  { ...contentColumns, seal_number: 'int8', hash: 'bytea' },
  `select ${contentList}, s.seal_number, s.hash
   from ledger_seals s join ledger_entries e on e.entry_id = s.entry_id
   where s.seal_number > $1 and s.seal_number <= $2 order by s.seal_number limit $3`,
);

// Looked for among all entries and not in the queue, which is not append-only.
export const countUnsealed = statement(
  'ledger_unsealed_count',
  [],
  { unsealed: 'int8', missing: 'int8' },
  `select count(*) as unsealed,
     count(*) filter (where not exists (select from ledger_unsealed u where u.entry_id = e.entry_id)) as missing
   from ledger_entries e where not exists (select from ledger_seals s where s.entry_id = e.entry_id)`,
);

export const unbalancedEntries = statement(
  'ledger_unbalanced',
  ['int8'],
  { entry_id: 'int8', asset: 'text', total: 'numeric' },
  `select entry_id, asset, sum(amount) as total from ledger_postings
   group by entry_id, asset having sum(amount) <> 0 order by entry_id limit $1`,
);
