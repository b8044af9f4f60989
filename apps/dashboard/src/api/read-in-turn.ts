import { ApiFailure } from './failure.ts';

/** A member reads some twenty pages of a list in a second. */
const waitMs = 1_000;
const mostWaits = 60;

/** Reads a page of an export. When the service has had too many requests, it waits and asks again, while the export is wanted. */
export async function readInTurn<Page>(read: () => Promise<Page>, isWanted = () => true): Promise<Page> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await read();
    } catch (error) {
      const isTooFast = error instanceof ApiFailure && error.slug === 'rate_limited';
      if (!isTooFast || !isWanted() || waits === mostWaits) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}
