import type { Queryable } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { type Downloader, EgressFailure } from '#outside/egress.ts';
import type { ImageContext } from '../context.ts';
import { DecodeFailure, maxImageBytes } from './image-decoder.ts';
import { hostedImageUrl, imageFile, imageNameOf, nameOfHostedUrl } from './image-name.ts';
import { ImageStoreFailure } from './image-store.ts';
import { insertHostedImage, noImage, type ProductImage, touchHostedImage } from './product-image.ts';

/** An image that a merchant names by URL; empty for none. */
export interface ImageRequest {
  readonly merchantId: string;
  readonly url: string;
}

/** Hosts the images that merchants name or upload, outside of any transaction. */
export interface ImageIntake {
  /** Returns the values to store with the product. Refuses with 900301 when the image cannot be stored. */
  take(queryable: Queryable, request: ImageRequest): Promise<ProductImage>;
  /** A place for one image of the merchant; the function leaves it. Refuses (900101) while too many are under way. */
  enter(merchantId: string): () => void;
  /**
   * Hosts an uploaded image, whose upload has a place, and returns its URL, which `take` keeps. Refuses bytes that are no
   * image (400101), and with 900101 or 900301 what may succeed later.
   */
  host(queryable: Queryable, upload: ImageUpload): Promise<string>;
}

/** The bytes of an image, as a merchant's browser sends them. */
export interface ImageUpload {
  readonly merchantId: string;
  readonly bytes: Uint8Array;
}

const downloadTimeoutMs = 10_000;
/** Images that one process downloads at once, in all and for one merchant. Others are downloaded in the background. */
export const imageLimits = { atOnce: 16, perMerchant: 4 } as const;
/** The reason of a pending image whose source was not requested. */
export const tooManyImages = 'too many images at once';

const noHosting = 'this installation hosts no images';

/** For an installation that stores no images. */
export const noIntake: ImageIntake = {
  take: async (_queryable, { url }) => (url === '' ? noImage : { status: 'failed', reason: noHosting }),
  enter: () => () => undefined,
  host: async () => {
    throw fieldRefusal('image', `cannot be used: ${noHosting}`);
  },
};

/** The intake of a process. Its limits keep a merchant with slow images from delaying the others. */
export function imageIntake(deps: ImageContext): ImageIntake {
  const places = imagePlaces();
  return {
    enter(merchantId) {
      const leave = places.enter(merchantId);
      if (leave === undefined) throw tryLater();
      return leave;
    },
    async host(queryable, upload) {
      try {
        return (await hostImage(queryable, deps, upload)).url;
      } catch (error) {
        if (error instanceof ImageStoreFailure) throw storeRefusal(deps, error, 'try again');
        if (error instanceof HostingFailure) throw tryLater();
        if (!(error instanceof DecodeFailure)) throw error;
        if (error.reason === 'could not be decoded now') throw tryLater();
        throw fieldRefusal('image', `cannot be used: ${error.reason}`);
      }
    },
    async take(queryable, request) {
      const { merchantId, url } = request;
      if (url === '') return noImage;
      const own = nameOfHostedUrl(deps.origin, url);
      if (own !== undefined) return takeOwn(queryable, deps, { merchantId, name: own });
      const leave = places.enter(merchantId);
      if (leave === undefined) return { status: 'pending', sourceUrl: url, reason: tooManyImages };
      try {
        return await fetchImage(queryable, deps, request);
      } catch (error) {
        if (!(error instanceof ImageStoreFailure)) throw error;
        throw storeRefusal(deps, error, 'try again, or leave imageUrl out');
      } finally {
        leave();
      }
    },
  };
}

/** Counts the images under way. `enter` returns undefined at a limit. */
function imagePlaces(): { enter(merchantId: string): (() => void) | undefined } {
  const underWay = new Map<string, number>();
  let total = 0;
  return {
    enter(merchantId) {
      const count = underWay.get(merchantId) ?? 0;
      if (total >= imageLimits.atOnce || count >= imageLimits.perMerchant) return undefined;
      total += 1;
      underWay.set(merchantId, count + 1);
      return () => {
        total -= 1;
        const left = (underWay.get(merchantId) ?? 1) - 1;
        if (left === 0) underWay.delete(merchantId);
        else underWay.set(merchantId, left);
      };
    },
  };
}

function tryLater(): Refusal {
  return new Refusal('rate_limited', { detail: `${tooManyImages}, try again`, retryAfterSeconds: 5 });
}

function storeRefusal(deps: ImageContext, failure: ImageStoreFailure, advice: string): Refusal {
  deps.log.error('images.store_unavailable', failure);
  return new Refusal('image_store_unavailable', advice);
}

/** The merchant names an image that is hosted here: no download is needed. */
async function takeOwn(
  queryable: Queryable,
  deps: ImageContext,
  image: { merchantId: string; name: string },
): Promise<ProductImage> {
  const isThere =
    image.name !== '' && (await touchHostedImage(queryable, { ...image, at: deps.clock.now() }));
  return isThere ? hosted(deps, image.name) : { status: 'failed', reason: 'no such hosted image' };
}

/** Downloads, decodes and stores one image. Throws ImageStoreFailure only: faults of the source are results. */
export async function fetchImage(
  queryable: Queryable,
  deps: ImageContext,
  request: ImageRequest,
): Promise<ProductImage> {
  const { merchantId, url } = request;
  const later = (reason: string): ProductImage => ({ status: 'pending', sourceUrl: url, reason });
  try {
    const bytes = await download(deps.downloader, url);
    return await hostImage(queryable, deps, { merchantId, bytes });
  } catch (error) {
    if (error instanceof EgressFailure && error.reason === 'address not allowed') {
      return { status: 'failed', reason: error.reason };
    }
    if (error instanceof EgressFailure || error instanceof DecodeFailure || error instanceof HostingFailure) {
      return later(error.message);
    }
    throw error;
  }
}

type HostedImage = Extract<ProductImage, { status: 'hosted' }>;

/** Decodes and stores one image. Throws DecodeFailure, HostingFailure or ImageStoreFailure. */
async function hostImage(
  queryable: Queryable,
  deps: ImageContext,
  { merchantId, bytes }: ImageUpload,
): Promise<HostedImage> {
  const { files } = await deps.decoder.decode(bytes);
  const name = imageNameOf(deps.nameKey, { merchantId, files: files.map((file) => file.bytes) });
  if (!(await insertHostedImage(queryable, { merchantId, name, at: deps.clock.now() }))) {
    throw new HostingFailure('an image of this content is just being removed');
  }
  for (const file of files) await deps.store.put(imageFile(name, file.size), file.bytes);
  return hosted(deps, name);
}

function hosted({ origin }: ImageContext, name: string): HostedImage {
  return { status: 'hosted', name, url: hostedImageUrl(origin, name) };
}

/** Why an image cannot be hosted now: its source's response, or the same image is being removed. Merchants see it. */
class HostingFailure extends Error {
  override readonly name = 'HostingFailure';
}

async function download(downloader: Downloader, url: string): Promise<Uint8Array> {
  const { status, contentEncoding, bytes } = await downloader.download(url, {
    headers: { accept: 'image/webp,image/png,image/jpeg', 'user-agent': 'Florin-Images/1' },
    maxBytes: maxImageBytes,
    timeoutMs: downloadTimeoutMs,
  });
  if (status !== 200) throw new HostingFailure(`answered ${status}`);
  // We ask for no compression. A compressed response could unpack to any size.
  if (contentEncoding !== '' && contentEncoding !== 'identity') throw new HostingFailure('came compressed');
  return bytes;
}
