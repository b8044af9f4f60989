-- Additions from before: a few a day at most.
update orders o set added = m.amount from deposit_moves m
where m.order_id = o.order_id and m.move = 'add' and m.status <> 'failed';
