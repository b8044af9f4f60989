import type { Database } from '@florin/pg';
import { type CatalogDeps, settleProductImage } from '../product.ts';
import { claimDownload, lockDownload, postponeDownload } from './image.sql.ts';
import { ImageStoreFailure } from './image-store.ts';
import { fetchImage, type IntakeDeps } from './intake.ts';
import { type ProductImage, retryDelaysMs } from './product-image.ts';

export type RetryDeps = IntakeDeps & CatalogDeps & { readonly db: Database };

/** A try is given back after so long, when the process that made it died. */
const leaseMs = 120_000;
/** A store that is away does not use up the source's tries. */
const storeDelayMs = 60_000;
const pollMs = 5_000;
/** Images tried at once, so that one slow source does not hold up all others. */
const lanes = 4;

/** Tries images that failed again until the signal aborts. */
export async function runImageRetries(deps: RetryDeps, signal: AbortSignal): Promise<void> {
  const lane = async () => {
    while (!signal.aborted) {
      try {
        if (await retryOneImage(deps)) continue;
      } catch (error) {
        deps.log.error('images.retry_failed', error);
      }
      await deps.clock.sleep(pollMs, signal);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

interface Try {
  readonly merchantId: string;
  readonly productId: string;
  readonly ordinal: bigint;
  /** Tries after the first, this one included. */
  readonly attempts: number;
}

/**
 * Makes the next try that is due; false when none is. The product gets its image, with its event, or waits for the next
 * try; after the last one it has none, with its event. A try that was overtaken by an update changes nothing.
 */
export async function retryOneImage(deps: RetryDeps): Promise<boolean> {
  const { db, clock } = deps;
  const now = clock.now();
  const [claimed] = await db.query(claimDownload, { now, nextAt: new Date(now.getTime() + leaseMs) });
  if (claimed === undefined) return false;
  const tried: Try = {
    merchantId: claimed.merchant_id,
    productId: claimed.product_id,
    ordinal: claimed.ordinal,
    attempts: claimed.attempts,
  };
  // A process that dies, or a bug, uses up a try without an outcome.
  if (tried.attempts > retryDelaysMs.length) {
    await finish(deps, tried, { status: 'failed', reason: 'could not be had' });
    return true;
  }
  try {
    const request = { merchantId: tried.merchantId, url: claimed.source_url };
    await finish(deps, tried, await fetchImage(db, deps, request));
  } catch (error) {
    if (!(error instanceof ImageStoreFailure)) throw error;
    deps.log.error('images.store_unavailable', error);
    await postpone(deps, { ...tried, attempts: tried.attempts - 1 }, storeDelayMs);
  }
  return true;
}

async function finish(deps: RetryDeps, tried: Try, outcome: ProductImage): Promise<void> {
  const delayMs = retryDelaysMs[tried.attempts];
  if (outcome.status === 'pending' && delayMs !== undefined) {
    await postpone(deps, tried, delayMs);
    return;
  }
  const image: ProductImage =
    outcome.status === 'pending' ? { status: 'failed', reason: outcome.reason } : outcome;
  await deps.db.transaction((transaction) =>
    settleProductImage(transaction, deps, {
      ...tried,
      image,
      isAwaited: async () =>
        (await transaction.query(lockDownload, { productId: tried.productId, ordinal: tried.ordinal }))
          .length > 0,
    }),
  );
}

async function postpone(deps: RetryDeps, tried: Try, delayMs: number): Promise<void> {
  const nextAt = new Date(deps.clock.now().getTime() + delayMs);
  await deps.db.query(postponeDownload, {
    productId: tried.productId,
    ordinal: tried.ordinal,
    attempts: tried.attempts,
    nextAt,
  });
}
