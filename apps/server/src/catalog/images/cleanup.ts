import type { Database } from '@florin/pg';
import { runRounds } from '#telemetry/rounds.ts';
import type { ImageContext } from '../context.ts';
import { deleteImage, recordSearch, retainImage, startRemoval, unusedImages } from './image.sql.ts';
import { imageFile, imagePath, imageSizes } from './image-name.ts';

/**
 * Searches up to `limit` of a merchant's sessions after the ordinal `after` for a text in their line items. Sessions belong to a
 * room that this one must not import.
 */
export type SessionSearch = (search: {
  readonly merchantId: string;
  readonly text: string;
  readonly after: bigint;
  readonly limit: number;
}) => Promise<{ readonly isFound: boolean; readonly last: bigint | undefined }>;

/** The dependencies of the cleanup. */
type Cleanup = Pick<ImageContext, 'clock' | 'log' | 'store'> & {
  readonly db: Database;
  readonly searchSessions: SessionSearch;
};

/** How long unused images are kept: caches and repeated answers may still show them. */
export const unusedRetentionMs = 30 * 24 * 3_600_000;
const intervalMs = 3_600_000;
/** Images checked in one round, sessions searched by one query, and the pause between two searches. */
const batchSize = 100;
const searchSize = 1_000;
const restMs = 50;

/** Removes unused images once an hour until the signal aborts. */
export function runImageCleanup(deps: Cleanup, signal: AbortSignal): Promise<void> {
  return runRounds({ ...deps, intervalMs, failure: 'images.cleanup_failed' }, signal, async () => {
    await removeUnusedImages(deps, signal);
    return false;
  });
}

/**
 * Removes up to a hundred images that no product has used for 30 days and that no session shows. Images in sessions stay for
 * ever, like the sessions. Links show products, so they need no check of their own. Returns the names of removed images.
 */
export async function removeUnusedImages(deps: Cleanup, signal: AbortSignal): Promise<string[]> {
  const { db, clock, store } = deps;
  const oldest = new Date(clock.now().getTime() - unusedRetentionMs);
  const removed: string[] = [];
  for (const row of await db.query(unusedImages, { touchedBefore: oldest, limit: batchSize })) {
    const name = row.image_name;
    const image = { name, merchantId: row.merchant_id, after: row.searched_ordinal };
    if (!(await isInNoSession(deps, image, signal))) continue;
    if ((await db.query(startRemoval, { imageName: name, touchedAt: oldest })).length === 0) continue;
    for (const size of imageSizes) await store.remove(imageFile(name, size));
    await db.query(deleteImage, { imageName: name });
    removed.push(name);
  }
  return removed;
}

/** True when all sessions have been searched and none shows the image. Continues where the last search ended. */
async function isInNoSession(
  deps: Cleanup,
  image: { name: string; merchantId: string; after: bigint },
  signal: AbortSignal,
): Promise<boolean> {
  const { db, clock, searchSessions } = deps;
  const { merchantId, name } = image;
  for (let after = image.after; !signal.aborted; ) {
    const text = `${imagePath}${name}-`;
    const { isFound, last } = await searchSessions({ merchantId, text, after, limit: searchSize });
    if (isFound) {
      await db.query(retainImage, { imageName: name });
      return false;
    }
    if (last === undefined) return true;
    after = last;
    await db.query(recordSearch, { imageName: name, searchedOrdinal: after });
    await clock.sleep(restMs, signal);
  }
  return false;
}
