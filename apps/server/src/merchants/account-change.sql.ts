import { statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { accountChangeMoves } from './account-change.machine.ts';

const columns = {
  change_id: 'text',
  kind: 'text',
  merchant_id: 'text',
  account_name: 'text',
  account_address: 'text',
  previous_address: 'text',
  settlement_currencies: 'text[]',
  settlement_mode: 'text',
  is_proven: 'bool',
  created_at: 'timestamptz',
  effective_at: 'timestamptz',
  status: 'text',
  account_id: 'text?',
} as const;

const columnList = Object.keys(columns).join(', ');

export const insertAccountChange = statement({
  name: 'account_change_insert',
  parameters: {
    changeId: 'text',
    kind: 'text',
    merchantId: 'text',
    accountName: 'text',
    accountAddress: 'text',
    previousAddress: 'text',
    settlementCurrencies: 'text[]',
    settlementMode: 'text',
    isProven: 'bool',
    requestedBy: 'text',
    createdAt: 'timestamptz',
    effectiveAt: 'timestamptz',
    status: 'text',
    accountId: 'text?',
  },
  columns,
  text: `insert into account_changes (change_id, kind, merchant_id, account_name, account_address, previous_address,
     settlement_currencies, settlement_mode, is_proven, requested_by, created_at, effective_at, status, account_id)
   values (:changeId, :kind, :merchantId, :accountName, :accountAddress, :previousAddress, :settlementCurrencies,
     :settlementMode, :isProven, :requestedBy, :createdAt, :effectiveAt, :status, :accountId)
   returning ${columnList}`,
});

export const accountChangesOfMerchant = statement({
  name: 'account_changes_of_merchant',
  parameters: { merchantId: 'text', limit: 'int8' },
  columns: { ...columns, requested_email: 'text?' },
  text: `select ${columnList}, (select u.email from sign_in."user" u where u.id = requested_by) as requested_email
   from account_changes where merchant_id = :merchantId
   order by created_at desc, change_id limit :limit`,
});

export const waitingChanges = statement({
  name: 'account_changes_waiting',
  parameters: { merchantId: 'text' },
  columns: { kind: 'text', account_address: 'text', account_id: 'text?' },
  text: `select kind, account_address, account_id from account_changes where merchant_id = :merchantId and status = 'waiting'`,
});

// Removed accounts count: a thief who removes the only account gets no first one.
export const everHadAccount = statement({
  name: 'account_ever_of_merchant',
  parameters: { merchantId: 'text' },
  columns: { ever_had: 'bool' },
  text: `select exists (select from accounts where merchant_id = :merchantId)
     or exists (select from account_changes where merchant_id = :merchantId and status = 'waiting') as ever_had`,
});

// One at a time, so that one that is refused does not hold up the others. Several workers skip each other's.
export const lockDueChange = statement({
  name: 'account_change_lock_due',
  parameters: { now: 'timestamptz' },
  columns,
  text: `select ${columnList} from account_changes where status = 'waiting' and effective_at <= :now
   order by effective_at limit 1 for update skip locked`,
});

const cancel = sqlMove(accountChangeMoves, 'cancel');
export const cancelChange = statement({
  name: 'account_change_cancel',
  parameters: { merchantId: 'text', changeId: 'text' },
  columns,
  text: `update account_changes set status = ${cancel.to}
   where merchant_id = :merchantId and change_id = :changeId and status in (${cancel.from})
   returning ${columnList}`,
});

const done = sqlMove(accountChangeMoves, 'take_effect');
export const finishChange = statement({
  name: 'account_change_finish',
  parameters: { changeId: 'text', accountId: 'text' },
  text: `update account_changes set status = ${done.to}, account_id = :accountId
   where change_id = :changeId and status in (${done.from})`,
});

const refuse = sqlMove(accountChangeMoves, 'refuse');
export const refuseChange = statement({
  name: 'account_change_refuse',
  parameters: { changeId: 'text' },
  text: `update account_changes set status = ${refuse.to} where change_id = :changeId and status in (${refuse.from})`,
});
