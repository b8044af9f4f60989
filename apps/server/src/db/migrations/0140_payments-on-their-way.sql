-- Payments that the service has sent and of which it does not know the end yet: few, and looked through each minute for
-- those whose wallet nobody follows any more.
create index submissions_on_their_way on submissions (updated_at) where status = 'sent';
create index deposit_moves_on_their_way on deposit_moves (updated_at) where status = 'sent';
