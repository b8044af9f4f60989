import { statement } from '@florin/pg';

const columns = { merchant_id: 'text', merchant_name: 'text', created_at: 'timestamptz' } as const;

export const insertMerchant = statement(
  'merchant_insert',
  ['text', 'text', 'timestamptz'],
  {},
  'insert into merchants (merchant_id, merchant_name, created_at) values ($1, $2, $3)',
);

export const merchantById = statement(
  'merchant_by_id',
  ['text'],
  columns,
  'select merchant_id, merchant_name, created_at from merchants where merchant_id = $1',
);

export const merchantList = statement(
  'merchant_list',
  [],
  columns,
  'select merchant_id, merchant_name, created_at from merchants order by created_at, merchant_id',
);
