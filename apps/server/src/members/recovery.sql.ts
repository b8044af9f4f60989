import { statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { recoveryMoves } from './recovery.machine.ts';

const columns = {
  recovery_id: 'text',
  user_id: 'text',
  asked_by: 'text',
  created_at: 'timestamptz',
  effective_at: 'timestamptz?',
  status: 'text',
} as const;

const columnList = Object.keys(columns).join(', ');
const isOpen = "status in ('asked', 'waiting')";

export const openRecovery = statement({
  name: 'recovery_open',
  parameters: { userId: 'text' },
  columns,
  text: `select ${columnList} from recoveries where user_id = :userId and ${isOpen}`,
});

export const openRecoveriesOfMerchant = statement({
  name: 'recoveries_open_of_merchant',
  parameters: { merchantId: 'text' },
  columns,
  text: `select ${columnList} from recoveries
   where ${isOpen} and user_id in (select user_id from memberships where merchant_id = :merchantId)`,
});

export const lockPerson = statement({
  name: 'recovery_lock_person',
  parameters: { userId: 'text' },
  columns: { id: 'text' },
  text: 'select id from sign_in."user" where id = :userId for no key update',
});

export const lockRecovery = statement({
  name: 'recovery_lock_by_token',
  parameters: { tokenHash: 'bytea' },
  columns: { ...columns, email: 'text' },
  text: `select ${columnList}, (select email from sign_in."user" u where u.id = recoveries.user_id) as email
   from recoveries where token_hash = :tokenHash for update`,
});

export const insertRecovery = statement({
  name: 'recovery_insert',
  parameters: {
    recoveryId: 'text',
    userId: 'text',
    askedBy: 'text',
    tokenHash: 'bytea?',
    createdAt: 'timestamptz',
    effectiveAt: 'timestamptz?',
    status: 'text',
  },
  text: `insert into recoveries (recovery_id, user_id, asked_by, token_hash, created_at, effective_at, status)
   values (:recoveryId, :userId, :askedBy, :tokenHash, :createdAt, :effectiveAt, :status)`,
});

const cancelled = sqlMove(recoveryMoves, 'cancel');
export const cancelOpen = statement({
  name: 'recovery_cancel',
  parameters: { userId: 'text' },
  columns: { recovery_id: 'text' },
  text: `update recoveries set status = ${cancelled.to} where user_id = :userId and status in (${cancelled.from})
   returning recovery_id`,
});

const completed = sqlMove(recoveryMoves, 'complete');
export const setUsed = statement({
  name: 'recovery_set_used',
  parameters: { recoveryId: 'text' },
  text: `update recoveries set status = ${completed.to} where recovery_id = :recoveryId and status in (${completed.from})`,
});

// An owner who came, or became one, within the delay could be a thief's accomplice.
export const ownersSince = statement({
  name: 'recovery_owner_since',
  parameters: { merchantId: 'text', userId: 'text', since: 'timestamptz' },
  columns: { is_owner: 'bool' },
  text: `select exists (select from memberships where merchant_id = :merchantId and user_id = :userId and role = 'owner'
     and updated_at <= :since) as is_owner`,
});

export const actsElsewhere = statement({
  name: 'recovery_acts_elsewhere',
  parameters: { merchantId: 'text', userId: 'text' },
  columns: { is_elsewhere: 'bool' },
  text: `select exists (select from memberships where user_id = :userId and merchant_id <> :merchantId)
     or exists (select from staff where user_id = :userId) as is_elsewhere`,
});

// Every old way in may be in other hands.
export const resetSignIn = statement({
  name: 'recovery_reset_sign_in',
  parameters: { userId: 'text', password: 'text', at: 'timestamptz' },
  text: `with passkeys as (delete from sign_in.passkey where "userId" = :userId),
     factors as (delete from sign_in."twoFactor" where "userId" = :userId),
     wallets as (delete from sign_in.wallet where "userId" = :userId),
     sessions as (delete from sign_in.session where "userId" = :userId),
     devices as (delete from sign_in.device where "userId" = :userId),
     person as (update sign_in."user" set "twoFactorEnabled" = false, "updatedAt" = :at where id = :userId)
   update sign_in.account set password = :password, "updatedAt" = :at
   where "userId" = :userId and "providerId" = 'credential'`,
});
