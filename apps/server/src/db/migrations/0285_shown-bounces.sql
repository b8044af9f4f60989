-- A merchant sees the bounces of its own members and of the people whom it invited. The policies of users and invitations
-- narrow the inner queries.
create policy bounces_readable on mail_bounces for select
  using (case (select current_setting('florin.merchant', true)) when '*' then true
    else exists (select from sign_in."user" u where u.email = address)
      or exists (select from invitations i where i.email = address) end);
-- The newest ones are listed, and the oldest deleted.
create index mail_bounces_by_time on mail_bounces (bounced_at);
-- E-mails that did not go out, or did not at their last attempt, newest first.
create index mails_in_trouble on mails (mail_id) where last_error <> '';
-- The e-mails about one session: their facts begin with its event and id.
create index mails_by_fact on mails (fact collate "C");
-- How many invitations a merchant has sent within a day.
create index mails_of_invitations on mails (merchant_id, created_at) where kind = 'invitation';
