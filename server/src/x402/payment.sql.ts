import { statement } from '#db/statement.ts';

// Two requests with one payment wait for each other: the second finds what the first has stored.
export const lockOffer = statement(
  'x402_lock_offer',
  ['text'],
  { locked: 'bool?' },
  `select true as locked from pg_advisory_xact_lock(hashtextextended('x402 ' || $1::text, 0))`,
);
