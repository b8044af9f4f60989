/**
 * Two members who change one row at a time: the second one is told. The parameter `ifUpdateAt` is `updateAt` as the caller
 * read it; null: the change is unconditional. Migration 0303 makes each change's time differ from the one before.
 */
export function isUnchangedSince(column: string): string {
  return `(:ifUpdateAt::text is null
       or to_char(${column} at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') = :ifUpdateAt)`;
}
