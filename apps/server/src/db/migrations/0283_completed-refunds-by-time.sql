-- The sums of a period read the refunds that were completed in it, and no other.
create index refunds_completed on refunds (merchant_id, updated_at) where status = 'completed';
