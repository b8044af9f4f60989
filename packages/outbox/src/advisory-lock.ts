import { lockRegistry } from '@florin/pg';

/** The outbox's advisory locks. An application adds them to its own registry, which refuses equal keys. */
export const outboxLocks = {
  deliveries: { key: 7_301_965, guards: 'the order of deliveries' },
} as const;

export const { awaitLock } = lockRegistry(outboxLocks);
