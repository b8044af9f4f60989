import { lockRegistry } from '@florin/pg';

/** The package's advisory locks. An application adds them to its own registry, which refuses equal keys. */
export const evmLocks = {
  nonces: { key: 'nonces ', guards: 'the nonces of a wallet on a chain, given out in the order of asking' },
} as const;

export const { awaitLockOf } = lockRegistry(evmLocks);
