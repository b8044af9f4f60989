-- Ways back to the shop, and the text of a session. Constant defaults change no row, and processes of the version before
-- insert without them.
alter table sessions add column cancel_url text not null default '',
  add column auto_return text not null default 'paid' constraint sessions_auto_return check (auto_return in ('never', 'paid')),
  add column custom_success_text text not null default '';
alter table links add column cancel_url text not null default '',
  add column auto_return text not null default 'paid' constraint links_auto_return check (auto_return in ('never', 'paid'));
