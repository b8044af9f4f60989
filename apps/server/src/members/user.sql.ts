import { statement } from '@florin/pg';

export const insertUser = statement({
  name: 'user_insert',
  parameters: { userId: 'text', name: 'text', email: 'text', at: 'timestamptz' },
  columns: { id: 'text' },
  text: `insert into sign_in."user" (id, name, email, "createdAt", "updatedAt")
   values (:userId, :name, :email, :at, :at) on conflict do nothing returning id`,
});

export const nameOfUser = statement({
  name: 'user_name',
  parameters: { userId: 'text' },
  columns: { name: 'text', email: 'text' },
  text: 'select name, email from sign_in."user" where id = :userId',
});

export const emailOfUser = statement({
  name: 'user_email',
  parameters: { userId: 'text' },
  columns: { email: 'text' },
  text: 'select email from sign_in."user" where id = :userId',
});

// As the library stores a password: the account of the person at this installation.
export const insertPassword = statement({
  name: 'user_insert_password',
  parameters: { id: 'text', userId: 'text', password: 'text', at: 'timestamptz' },
  text: `insert into sign_in.account (id, "accountId", "providerId", "userId", password, "createdAt", "updatedAt")
   values (:id, :userId, 'credential', :userId, :password, :at, :at)`,
});

export const insertRecoveryCodes = statement({
  name: 'recovery_codes_insert',
  parameters: { userId: 'text', ids: 'text[]', codeHashes: 'text[]' },
  text: `insert into sign_in."recoveryCode" (id, "userId", "codeHash")
   select id, :userId, code_hash from unnest(:ids::text[], :codeHashes::text[]) as made (id, code_hash)`,
});

export const deleteRecoveryCodes = statement({
  name: 'recovery_codes_delete',
  parameters: { userId: 'text' },
  text: 'delete from sign_in."recoveryCode" where "userId" = :userId',
});

export const userOverview = statement({
  name: 'user_overview',
  parameters: { userId: 'text' },
  columns: {
    has_password: 'bool',
    has_second_factor: 'bool',
    passkeys: 'int8',
    wallets: 'text[]',
    recovery_codes: 'int8',
    is_staff: 'bool',
  },
  text: `select
     exists (select from sign_in.account where "userId" = :userId and password is not null) as has_password,
     exists (select from sign_in."user" where id = :userId and "twoFactorEnabled") as has_second_factor,
     (select count(*) from sign_in.passkey where "userId" = :userId) as passkeys,
     array(select address from sign_in.wallet where "userId" = :userId order by address) as wallets,
     (select count(*) from sign_in."recoveryCode" where "userId" = :userId) as recovery_codes,
     exists (select from staff where user_id = :userId) as is_staff`,
});

export const sessionsOfUser = statement({
  name: 'sessions_of_user',
  parameters: { userId: 'text', now: 'timestamptz' },
  columns: {
    id: 'text',
    method: 'text',
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
    client_address: 'text?',
    user_agent: 'text?',
    is_new_device: 'bool',
  },
  text: `select id, method, "createdAt" as created_at, "expiresAt" as expires_at, "ipAddress" as client_address,
     "userAgent" as user_agent, "isNewDevice" as is_new_device
   from sign_in.session where "userId" = :userId and "expiresAt" > :now order by "createdAt" desc, id`,
});

export const deleteSession = statement({
  name: 'session_of_user_delete',
  parameters: { userId: 'text', sessionId: 'text' },
  columns: { id: 'text' },
  text: 'delete from sign_in.session where "userId" = :userId and id = :sessionId returning id',
});

export const deleteOtherSessions = statement({
  name: 'sessions_of_user_delete_others',
  parameters: { userId: 'text', sessionId: 'text' },
  text: 'delete from sign_in.session where "userId" = :userId and id <> :sessionId',
});

// Only a session that still exists: a revoked one must not come back.
export const renewProof = statement({
  name: 'session_renew_proof',
  parameters: { sessionId: 'text', method: 'text', at: 'timestamptz' },
  columns: { id: 'text' },
  text: 'update sign_in.session set method = :method, "provenAt" = :at where id = :sessionId returning id',
});

export const lockOfCodes = statement({
  name: 'second_factor_lock',
  parameters: { userId: 'text' },
  columns: { locked_until: 'timestamptz?' },
  text: 'select "lockedUntil" as locked_until from sign_in."twoFactor" where "userId" = :userId',
});

// Until the transaction ends no other one finds that nothing was told.
export const lockCodes = statement({
  name: 'second_factor_await',
  parameters: { userId: 'text' },
  columns: { id: 'text' },
  text: 'select id from sign_in."twoFactor" where "userId" = :userId for update',
});

// After an act that shuts others out, their devices are new ones again.
export const deleteOtherDevices = statement({
  name: 'devices_of_user_delete_others',
  parameters: { userId: 'text', deviceHash: 'text' },
  text: 'delete from sign_in.device where "userId" = :userId and "deviceHash" <> :deviceHash',
});

export const deleteWallet = statement({
  name: 'wallet_of_user_delete',
  parameters: { userId: 'text', address: 'text' },
  columns: { address: 'text' },
  text: 'delete from sign_in.wallet where "userId" = :userId and address = :address returning address',
});

export const passwordOfUser = statement({
  name: 'user_password',
  parameters: { userId: 'text' },
  columns: { password: 'text?' },
  text: `select password from sign_in.account where "userId" = :userId and "providerId" = 'credential'`,
});
