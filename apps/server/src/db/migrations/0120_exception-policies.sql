-- What becomes of payments by deposit that are short or late: a link's policy, the terms under which each deposit address
-- was given out, and what the merchant has decided (docs/decisions/0033).

-- The members that the merchant gave; what is missing is the configuration's. Null: nothing given.
alter table links add column exception_policy jsonb;

-- Paid by a deposit that was accepted after the session had expired.
alter table sessions add column is_late boolean not null default false;

-- The terms of a deposit address, as they were when the payer got it. Addresses without a row take the total, in time.
create table deposit_terms (
  order_id text primary key references orders,
  -- The order that the same payer can pay by wallet.
  wallet_order_id text not null unique references orders,
  -- How much less than the total counts as paid, in units of the token; and the most that the operator adds at all.
  tolerance numeric(78, 0) not null check (tolerance >= 0),
  most_added numeric(78, 0) not null check (most_added >= tolerance),
  -- return: what comes late goes back. ask: the merchant decides. accept: it pays.
  late_payment text not null check (late_payment in ('return', 'ask', 'accept')),
  created_at timestamptz not null
);
-- A merchant's decision reads them; they are of the merchant whose order it is.
select protect_table('deposit_terms'::regclass, 'merchant_scope',
  'case (select current_setting(''florin.merchant'', true)) when ''*'' then true
   else (select true from orders p where p.order_id = deposit_terms.order_id) end');

-- add: what a deposit lacks comes out of the service's wallet, once for an order.
alter table deposit_moves drop constraint deposit_moves_move_check;
alter table deposit_moves add constraint deposit_moves_move_check check (move in ('collect', 'rescue', 'add'));
-- Of an addition, in units of the token.
alter table deposit_moves add column amount numeric(78, 0) not null default 0;
-- Decides for a merchant's refund: the payer is not given back what the operator has added.
create policy readable on deposit_moves for select
  using ((select current_setting('florin.merchant', true)) <> '');
alter table sent_transactions drop constraint sent_transactions_purpose_check;
alter table sent_transactions add constraint sent_transactions_purpose_check
  check (purpose in ('settle', 'payout', 'mint', 'refund', 'fill', 'relay', 'collect', 'rescue', 'add'));

-- What the merchant (or the link's policy) says of money that came late or short; empty while nothing is said.
alter table exceptions add column decision text not null default '' check (decision in ('', 'accept', 'refund'));
-- Until when accepting is possible; null: not at all.
alter table exceptions add column decide_by timestamptz;
