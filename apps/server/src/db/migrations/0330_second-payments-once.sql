-- A second payment that was settled is open once: as what the merchant returns, and not as what goes back by itself, too.
update exceptions as announced
set status = 'resolved', resolved_tx = settled.tx_hash, updated_at = greatest(announced.updated_at, settled.created_at)
from exceptions as settled
where announced.kind = 'duplicate' and announced.resolved_tx = ''
  and settled.order_id = announced.order_id and settled.kind = 'duplicate_settled';
