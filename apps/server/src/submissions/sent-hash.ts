/**
 * The hash of a submission's mined attempt, or of the newest one, which replaces the older ones in the nodes. `alias`
 * names the submission in the statement.
 */
export function sentHash(alias: string): string {
  return `(select coalesce(nullif(t.mined_hash, ''), (
     select a.tx_hash from sent_attempts a where a.transaction_id = t.transaction_id
     order by a.created_at desc limit 1))
   from sent_transactions t where t.transaction_id = ${alias}.transaction_id)`;
}
