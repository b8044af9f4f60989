import type { Queryable } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { type Downloader, EgressFailure } from '#outside/egress.ts';
import type { ImageContext } from '../context.ts';
import { type DecodedImage, DecodeFailure, maxImageBytes } from './image-decoder.ts';
import { hostedImageUrl, imageFile, imageNameOf, nameOfHostedUrl } from './image-name.ts';
import { ImageStoreFailure } from './image-store.ts';
import { insertHostedImage, noImage, type ProductImage, touchHostedImage } from './product-image.ts';

/** An image that a merchant names by URL; empty for none. */
export interface ImageRequest {
  readonly merchantId: string;
  readonly url: string;
}

/** Downloads the images that merchants name, outside of any transaction. */
export interface ImageIntake {
  /** Returns the values to store with the product. Refuses with 900301 when the image cannot be stored. */
  take(queryable: Queryable, request: ImageRequest): Promise<ProductImage>;
}

const downloadTimeoutMs = 10_000;
/** Images that one process downloads at once, in all and for one merchant. Others are downloaded in the background. */
export const imageLimits = { atOnce: 16, perMerchant: 4 } as const;
/** The reason of a pending image whose source was not requested. */
export const tooManyImages = 'too many images at once';

/** For an installation that stores no images. */
export const noIntake: ImageIntake = {
  take: async (_queryable, { url }) =>
    url === '' ? noImage : { status: 'failed', reason: 'this installation hosts no images' },
};

/** The intake of a process. Its limits keep a merchant with slow images from delaying the others. */
export function imageIntake(deps: ImageContext): ImageIntake {
  const underWay = new Map<string, number>();
  let total = 0;
  return {
    async take(queryable, request) {
      const { merchantId, url } = request;
      if (url === '') return noImage;
      const own = nameOfHostedUrl(deps.origin, url);
      if (own !== undefined) return takeOwn(queryable, deps, { merchantId, name: own });
      const count = underWay.get(merchantId) ?? 0;
      if (total >= imageLimits.atOnce || count >= imageLimits.perMerchant) {
        return { status: 'pending', sourceUrl: url, reason: tooManyImages };
      }
      total += 1;
      underWay.set(merchantId, count + 1);
      try {
        return await fetchImage(queryable, deps, request);
      } catch (error) {
        if (!(error instanceof ImageStoreFailure)) throw error;
        deps.log.error('images.store_unavailable', error);
        throw new Refusal('image_store_unavailable', 'try again, or leave imageUrl out');
      } finally {
        total -= 1;
        const left = (underWay.get(merchantId) ?? 1) - 1;
        if (left === 0) underWay.delete(merchantId);
        else underWay.set(merchantId, left);
      }
    },
  };
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
  let image: DecodedImage;
  try {
    image = await deps.decoder.decode(await download(deps.downloader, url));
  } catch (error) {
    if (error instanceof EgressFailure && error.reason === 'address not allowed') {
      return { status: 'failed', reason: error.reason };
    }
    if (error instanceof EgressFailure || error instanceof DecodeFailure || error instanceof SourceFailure) {
      return later(error.message);
    }
    throw error;
  }
  const name = imageNameOf(deps.nameKey, { merchantId, files: image.files.map((file) => file.bytes) });
  if (!(await insertHostedImage(queryable, { merchantId, name, at: deps.clock.now() }))) {
    return later('an image of this content is just being removed');
  }
  for (const { size, bytes } of image.files) await deps.store.put(imageFile(name, size), bytes);
  return hosted(deps, name);
}

function hosted({ origin }: ImageContext, name: string): ProductImage {
  return { status: 'hosted', name, url: hostedImageUrl(origin, name) };
}

/** The source's response cannot be an image. */
class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
}

async function download(downloader: Downloader, url: string): Promise<Uint8Array> {
  const { status, contentEncoding, bytes } = await downloader.download(url, {
    headers: { accept: 'image/webp,image/png,image/jpeg', 'user-agent': 'Florin-Images/1' },
    maxBytes: maxImageBytes,
    timeoutMs: downloadTimeoutMs,
  });
  if (status !== 200) throw new SourceFailure(`answered ${status}`);
  // We ask for no compression. A compressed response could unpack to any size.
  if (contentEncoding !== '' && contentEncoding !== 'identity') throw new SourceFailure('came compressed');
  return bytes;
}
