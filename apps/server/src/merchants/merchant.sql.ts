import { statement } from '@florin/pg';

const columns = {
  merchant_id: 'text',
  merchant_name: 'text',
  created_at: 'timestamptz',
  suspended_at: 'timestamptz?',
} as const;

export const insertMerchant = statement({
  name: 'merchant_insert',
  parameters: { merchantId: 'text', merchantName: 'text', createdAt: 'timestamptz' },
  text: 'insert into merchants (merchant_id, merchant_name, created_at) values (:merchantId, :merchantName, :createdAt)',
});

export const updateMerchantName = statement({
  name: 'merchant_rename',
  parameters: { merchantId: 'text', merchantName: 'text', ifMerchantName: 'text?' },
  columns: { merchant_id: 'text' },
  text: `update merchants set merchant_name = :merchantName
   where merchant_id = :merchantId and merchant_name = coalesce(:ifMerchantName, merchant_name) returning merchant_id`,
});

export const merchantById = statement({
  name: 'merchant_by_id',
  parameters: { merchantId: 'text' },
  columns,
  text: 'select merchant_id, merchant_name, created_at, suspended_at from merchants where merchant_id = :merchantId',
});

export const merchantList = statement({
  name: 'merchant_list',
  columns,
  text: 'select merchant_id, merchant_name, created_at, suspended_at from merchants order by created_at, merchant_id',
});
