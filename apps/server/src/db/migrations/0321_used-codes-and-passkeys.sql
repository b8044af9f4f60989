-- The codes of authenticator apps that were accepted in the last minutes: each works once.
create table sign_in."usedCode" (
  id text primary key,
  "userId" text not null references sign_in."user" on delete cascade,
  code text not null,
  "usedAt" timestamptz not null
);
create unique index "usedCode_userId_code_uidx" on sign_in."usedCode" ("userId", code);
select protect_table('sign_in."usedCode"'::regclass, 'system_scope',
  'case (select current_setting(''florin.merchant'', true)) when ''*'' then true else false end');

-- A passkey signs in one person, the first who added it.
delete from sign_in.passkey late using sign_in.passkey early
where late."credentialID" = early."credentialID"
  and (coalesce(late."createdAt", 'epoch'), late.id) > (coalesce(early."createdAt", 'epoch'), early.id);
drop index sign_in.passkey_by_credential;
create unique index passkey_by_credential on sign_in.passkey ("credentialID");
