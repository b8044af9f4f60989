import type { Queryable } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import { type ImageIntake, tooManyImages } from './intake.ts';

/** Hosts the images that a request names for its own items, outside of any transaction. */
export interface ItemImages {
  /**
   * The hosted URL of each image; URLs without an image are left out. The items are for one sale, so nothing is retried
   * later. Refuses with 900301 when an image cannot be stored.
   */
  take(
    queryable: Queryable,
    request: { readonly merchantId: string; readonly urls: readonly string[] },
  ): Promise<ReadonlyMap<string, string>>;
}

/** Images that one request downloads at once: the limit of one merchant. */
const maxAtOnce = 4;
/** After this time a request starts no more downloads. */
const takeMs = 10_000;
/** How long results are cached: a shop names the same images again and again. */
const hostedCacheMs = 600_000;
const failureCacheMs = 60_000;
const maxCached = 2_000;

interface CachedResult {
  /** Undefined: there is no image. */
  readonly hostedUrl: string | undefined;
  readonly untilMs: number;
}

/** Hosts the images of items through the intake, and caches the result of each URL for some minutes. */
export function itemImages(intake: ImageIntake, clock: Clock): ItemImages {
  const cache = new Map<string, CachedResult>();
  const remember = (key: string, hostedUrl: string | undefined) => {
    const [oldest] = cache.keys();
    if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest);
    const forMs = hostedUrl === undefined ? failureCacheMs : hostedCacheMs;
    cache.delete(key);
    cache.set(key, { hostedUrl, untilMs: clock.monotonicMs() + forMs });
  };
  return {
    async take(queryable, { merchantId, urls }) {
      const found = new Map<string, string>();
      const endsAtMs = clock.monotonicMs() + takeMs;
      const takeOne = async (url: string) => {
        const key = `${merchantId} ${url}`;
        const earlier = cache.get(key);
        if (earlier === undefined || earlier.untilMs <= clock.monotonicMs()) {
          const image = await intake.take(queryable, { merchantId, url });
          // The source was not requested, so the next request may try it.
          if (image.status === 'pending' && image.reason === tooManyImages) return;
          remember(key, image.status === 'hosted' ? image.url : undefined);
        }
        const hostedUrl = cache.get(key)?.hostedUrl;
        if (hostedUrl !== undefined) found.set(url, hostedUrl);
      };
      const waiting = [...new Set(urls)];
      while (waiting.length > 0 && clock.monotonicMs() < endsAtMs) {
        await Promise.all(waiting.splice(0, maxAtOnce).map(takeOne));
      }
      return found;
    },
  };
}
