import type { Database } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { forgetImage, keepImage, noteSearch, startRemoval, unusedImages } from './image.sql.ts';
import { imageFile, imagePath, imageSizes } from './image-name.ts';
import type { ImageStore } from './image-store.ts';

/**
 * Looks through a merchant's sessions for a text in what they show, in order of creation, from behind `after`; a piece at
 * a time. Sessions belong to a room that this one does not know.
 */
export type SessionSearch = (search: {
  readonly merchantId: string;
  readonly text: string;
  readonly after: bigint;
  readonly limit: number;
}) => Promise<{ readonly isFound: boolean; readonly last: bigint | undefined }>;

export interface CleanupDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly store: ImageStore;
  readonly searchSessions: SessionSearch;
}

/** What nothing shows any more is kept so long: caches, and answers that are repeated for their idempotency key. */
export const unusedKeptMs = 30 * 24 * 3_600_000;
const intervalMs = 3_600_000;
/** Images looked at in one go, sessions looked through at once, and between two such pieces a rest. */
const batchSize = 100;
const searchSize = 1_000;
const restMs = 50;

/** Removes unused images until the signal aborts: looks once an hour. */
export function runImageCleanup(deps: CleanupDeps, signal: AbortSignal): Promise<void> {
  return runRounds({ ...deps, intervalMs, failure: 'images.cleanup_failed' }, signal, async () => {
    await removeUnusedImages(deps, signal);
    return false;
  });
}

/**
 * Removes up to a hundred images that no product has shown for 30 days and no session's snapshot shows; the latter stay
 * for good, like the sessions. Links show live products and need no look of their own. Returns the names removed.
 */
export async function removeUnusedImages(deps: CleanupDeps, signal: AbortSignal): Promise<string[]> {
  const { db, clock, store } = deps;
  const oldest = new Date(clock.now().getTime() - unusedKeptMs);
  const removed: string[] = [];
  for (const row of await db.query(unusedImages, { touchedBefore: oldest, limit: batchSize })) {
    const name = row.image_name;
    const image = { name, merchantId: row.merchant_id, after: row.searched_ordinal };
    if (!(await isSearchedInVain(deps, image, signal))) continue;
    if ((await db.query(startRemoval, { imageName: name, touchedAt: oldest })).length === 0) continue;
    for (const size of imageSizes) await store.remove(imageFile(name, size));
    await db.query(forgetImage, { imageName: name });
    removed.push(name);
  }
  return removed;
}

/** True once all sessions have been looked through and none shows the image. Goes on where the last search ended. */
async function isSearchedInVain(
  deps: CleanupDeps,
  image: { name: string; merchantId: string; after: bigint },
  signal: AbortSignal,
): Promise<boolean> {
  const { db, clock, searchSessions } = deps;
  const { merchantId, name } = image;
  for (let after = image.after; !signal.aborted; ) {
    const text = `${imagePath}${name}-`;
    const { isFound, last } = await searchSessions({ merchantId, text, after, limit: searchSize });
    if (isFound) {
      await db.query(keepImage, { imageName: name });
      return false;
    }
    if (last === undefined) return true;
    after = last;
    await db.query(noteSearch, { imageName: name, searchedOrdinal: after });
    await clock.sleep(restMs, signal);
  }
  return false;
}
