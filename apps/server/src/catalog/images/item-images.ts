import type { Queryable } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import { type ImageIntake, noPlace } from './intake.ts';

/** Gets the images that one request names for items of its own, outside of any transaction. */
export interface ItemImages {
  /**
   * The hosted URL for each URL that there is an image for; the others are left out. Items are for one sale, so nothing is
   * tried again later. Refuses with 900301 when an image is there and cannot be stored.
   */
  take(
    queryable: Queryable,
    request: { readonly merchantId: string; readonly urls: readonly string[] },
  ): Promise<ReadonlyMap<string, string>>;
}

/** Images of one request that are got at once: as many as one merchant may. */
const maxAtOnce = 4;
/** After this time of one request no more images are asked for: they are left out. */
const takeMs = 10_000;
/** Requests for what a shop sells name the same images again and again; a source that fails is asked again sooner. */
const hostedKnownMs = 600_000;
const failureKnownMs = 60_000;
const maxKnown = 2_000;

interface Known {
  /** Undefined: there is no image. */
  readonly hostedUrl: string | undefined;
  readonly untilMs: number;
}

/** Hosts the images of items by way of the intake, and remembers for some minutes what became of each URL. */
export function itemImages(intake: ImageIntake, clock: Clock): ItemImages {
  const known = new Map<string, Known>();
  const remember = (key: string, hostedUrl: string | undefined) => {
    const [oldest] = known.keys();
    if (known.size >= maxKnown && oldest !== undefined) known.delete(oldest);
    const forMs = hostedUrl === undefined ? failureKnownMs : hostedKnownMs;
    known.delete(key);
    known.set(key, { hostedUrl, untilMs: clock.monotonicMs() + forMs });
  };
  return {
    async take(queryable, { merchantId, urls }) {
      const found = new Map<string, string>();
      const endsAtMs = clock.monotonicMs() + takeMs;
      const takeOne = async (url: string) => {
        const key = `${merchantId} ${url}`;
        const earlier = known.get(key);
        if (earlier === undefined || earlier.untilMs <= clock.monotonicMs()) {
          const image = await intake.take(queryable, { merchantId, url });
          // Says nothing of the source, which the next request may ask.
          if (image.status === 'pending' && image.reason === noPlace) return;
          remember(key, image.status === 'hosted' ? image.url : undefined);
        }
        const hostedUrl = known.get(key)?.hostedUrl;
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
