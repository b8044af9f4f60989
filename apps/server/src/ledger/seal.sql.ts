import { type Row, statement } from '@florin/pg';

// Sealers take turns by this lock. No other statement waits for it.
export const lockHead = statement({
  name: 'ledger_head_lock',
  columns: { seal_number: 'int8', hash: 'bytea' },
  text: 'select seal_number, hash from ledger_head for update',
});

export const readHead = statement({
  name: 'ledger_head',
  columns: { seal_number: 'int8', hash: 'bytea' },
  text: 'select seal_number, hash from ledger_head',
});

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

// Times to the microsecond: a change below a JavaScript date's millisecond must break the seal, too.
const contentList = `e.entry_id, e.entry_key, e.kind, e.order_id, e.chain_id, e.tx_hash,
     extract(epoch from e.created_at)::text as booked_at,
     array(select ledger_account from ledger_postings p where p.entry_id = e.entry_id order by position) as accounts,
     array(select asset from ledger_postings p where p.entry_id = e.entry_id order by position) as assets,
     array(select amount::text from ledger_postings p where p.entry_id = e.entry_id order by position) as amounts`;

// Only committed entries. One that commits late gets a later seal than its number suggests.
export const unsealedEntries = statement({
  name: 'ledger_unsealed',
  parameters: { limit: 'int8' },
  columns: contentColumns,
  text: `select ${contentList}
   from ledger_unsealed u join ledger_entries e on e.entry_id = u.entry_id order by u.entry_id limit :limit`,
});
export type EntryContent = Row<typeof unsealedEntries>;

export const insertSeals = statement({
  name: 'ledger_seals_insert',
  parameters: { sealNumbers: 'int8[]', entryIds: 'int8[]', hashes: 'bytea[]', sealedAt: 'timestamptz' },
  columns: { entry_id: 'int8' },
  text: `with sealed as (
     insert into ledger_seals (seal_number, entry_id, hash, sealed_at)
     select seal.seal_number, seal.entry_id, seal.hash, :sealedAt
     from unnest(:sealNumbers::int8[], :entryIds::int8[], :hashes::bytea[]) as seal (seal_number, entry_id, hash)
     returning entry_id
   )
   delete from ledger_unsealed where entry_id in (select entry_id from sealed) returning entry_id`,
});

export const moveHead = statement({
  name: 'ledger_head_move',
  parameters: { sealNumber: 'int8', hash: 'bytea' },
  text: 'update ledger_head set seal_number = :sealNumber, hash = :hash',
});

export const sealedEntries = statement({
  name: 'ledger_sealed',
  parameters: { afterSeal: 'int8', untilSeal: 'int8', limit: 'int8' },
  columns: { ...contentColumns, seal_number: 'int8', hash: 'bytea' },
  text: `select ${contentList}, s.seal_number, s.hash
   from ledger_seals s join ledger_entries e on e.entry_id = s.entry_id
   where s.seal_number > :afterSeal and s.seal_number <= :untilSeal order by s.seal_number limit :limit`,
});

// Counts among all entries and not in the queue, because the queue is not append-only.
export const countUnsealed = statement({
  name: 'ledger_unsealed_count',
  columns: { unsealed: 'int8', missing: 'int8' },
  text: `select count(*) as unsealed,
     count(*) filter (where not exists (select from ledger_unsealed u where u.entry_id = e.entry_id)) as missing
   from ledger_entries e where not exists (select from ledger_seals s where s.entry_id = e.entry_id)`,
});

export const unbalancedEntries = statement({
  name: 'ledger_unbalanced',
  parameters: { limit: 'int8' },
  columns: { entry_id: 'int8', asset: 'text', total: 'numeric' },
  text: `select entry_id, asset, sum(amount) as total from ledger_postings
   group by entry_id, asset having sum(amount) <> 0 order by entry_id limit :limit`,
});
