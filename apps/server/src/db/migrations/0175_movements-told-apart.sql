-- One transfer can be where two differences stand, of the gateways and of the vaults: its place in the block alone tells
-- them no more apart than the settlement that a direct payment tells of. The index is built anew, some seconds for a
-- million events.
alter table chain_events drop constraint chain_events_pkey;
alter table chain_events add primary key (chain_id, block_number, log_index, contract, event_name);
alter table dropped_events drop constraint dropped_events_pkey;
alter table dropped_events add primary key (chain_id, block_hash, log_index, contract, event_name);

-- What of a transaction is booked beside orders: asked before more of it is. Entries about payments stay out of the index.
create index ledger_entries_movements on ledger_entries (tx_hash)
  where kind in ('settlement_refund', 'rescue', 'fee_withdrawal', 'float_deposit', 'float_withdrawal', 'unmatched');
