import type { Database } from '@florin/pg';
import type { ImageContext } from '../context.ts';
import { settleProductImage } from '../product.ts';
import { leaseDownload, lockDownload, postponeDownload } from './image.sql.ts';
import { ImageStoreFailure } from './image-store.ts';
import { fetchImage } from './intake.ts';
import { type ProductImage, retryDelaysMs } from './product-image.ts';

type RetryContext = ImageContext & { readonly db: Database };

/** After this time another process may retry the download. */
const leaseMs = 120_000;
/** An unreachable store does not use up the source's retries. */
const storeDelayMs = 60_000;
const pollMs = 5_000;
/** Images that are retried at once, so that one slow source does not delay the others. */
const concurrency = 4;

/** Retries failed images until the signal aborts. */
export async function runImageRetries(deps: RetryContext, signal: AbortSignal): Promise<void> {
  const retryEach = async () => {
    while (!signal.aborted) {
      try {
        if (await retryOneImage(deps)) continue;
      } catch (error) {
        deps.log.error('images.retry_failed', error);
      }
      await deps.clock.sleep(pollMs, signal);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, retryEach));
}

interface Retry {
  readonly merchantId: string;
  readonly productId: string;
  readonly ordinal: bigint;
  /** Retries, this one included. */
  readonly attempts: number;
}

/**
 * Makes the next retry that is due; false when none is. The product gets its image, with its event, or waits for the next
 * retry. After the last one it has no image, with its event. A retry changes nothing if the product was updated meanwhile.
 */
export async function retryOneImage(deps: RetryContext): Promise<boolean> {
  const { db, clock } = deps;
  const now = clock.now();
  const [leased] = await db.query(leaseDownload, { now, nextAt: new Date(now.getTime() + leaseMs) });
  if (leased === undefined) return false;
  const tried: Retry = {
    merchantId: leased.merchant_id,
    productId: leased.product_id,
    ordinal: leased.ordinal,
    attempts: leased.attempts,
  };
  // A process that dies, or a bug, uses up a retry without a result.
  if (tried.attempts > retryDelaysMs.length) {
    await finish(deps, tried, { status: 'failed', reason: 'could not be had' });
    return true;
  }
  try {
    const request = { merchantId: tried.merchantId, url: leased.source_url };
    await finish(deps, tried, await fetchImage(db, deps, request));
  } catch (error) {
    if (!(error instanceof ImageStoreFailure)) throw error;
    deps.log.error('images.store_unavailable', error);
    await postpone(deps, { ...tried, attempts: tried.attempts - 1 }, storeDelayMs);
  }
  return true;
}

async function finish(deps: RetryContext, tried: Retry, outcome: ProductImage): Promise<void> {
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
      isAwaited: async () => (await transaction.query(lockDownload, tried)).length > 0,
    }),
  );
}

async function postpone(deps: RetryContext, tried: Retry, delayMs: number): Promise<void> {
  const nextAt = new Date(deps.clock.now().getTime() + delayMs);
  await deps.db.query(postponeDownload, { ...tried, nextAt });
}
