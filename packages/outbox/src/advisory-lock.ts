import { lockRegistry } from '@florin/pg';

/** The outbox's advisory locks. An application adds them to its own registry, which refuses equal keys. */
export const outboxLocks = {
  deliveries: { key: 7_301_965, guards: 'the order of deliveries; turns of parts share it' },
  deliveryPart: { key: 'delivery part ', guards: 'the order of deliveries of one part of the owners' },
} as const;

export const { awaitLockOf, awaitShare, tryLockOf } = lockRegistry(outboxLocks);
