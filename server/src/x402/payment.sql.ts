import { awaitLockOf } from '#db/advisory-lock.ts';
import { statement } from '#db/statement.ts';

// Two requests with one payment wait for each other: the second finds what the first has stored.
export const lockOffer = statement(
  'x402_lock_offer',
  ['text'],
  { locked: 'bool?' },
  `select true as locked from ${awaitLockOf('x402Offer', '$1::text')}`,
);
