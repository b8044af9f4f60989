import type { Queryable } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';
import { type Downloader, EgressFailure } from '#outside/egress.ts';
import type { Log } from '#telemetry/log.ts';
import { type DecodedImage, DecodeFailure, type ImageDecoder, maxImageBytes } from './image-decoder.ts';
import { hostedImageUrl, imageFile, imageNameOf, nameOfHostedUrl } from './image-name.ts';
import { type ImageStore, ImageStoreFailure } from './image-store.ts';
import { enterImage, holdImage, noImage, type ProductImage } from './product-image.ts';

export interface IntakeDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The public origin, without a slash at the end. */
  readonly origin: string;
  readonly downloader: Downloader;
  readonly decoder: ImageDecoder;
  readonly store: ImageStore;
  /** The key of image names. */
  readonly nameKey: Uint8Array;
}

/** An image that a merchant names by URL; empty for none. */
export interface ImageRequest {
  readonly merchantId: string;
  readonly url: string;
}

/** Gets the images that merchants name, outside of any transaction. */
export interface ImageIntake {
  /** Says what is to be stored with the product. Refuses with 900301 when the image is there and cannot be stored. */
  take(queryable: Queryable, request: ImageRequest): Promise<ProductImage>;
}

const downloadTimeoutMs = 10_000;
/** Images that one process gets at once, and of these, for one merchant; more are left to the background. */
export const imageLimits = { atOnce: 16, perMerchant: 4 } as const;
/** Why an image is pending whose source was not asked. */
export const noPlace = 'too many images at once';

/** An installation without a place for images makes its products without. */
export const noIntake: ImageIntake = {
  take: async (_queryable, { url }) =>
    url === '' ? noImage : { status: 'failed', reason: 'this installation hosts no images' },
};

/** The intake of a process: keeps a merchant with slow images from taking every place. */
export function imageIntake(deps: IntakeDeps): ImageIntake {
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
        return { status: 'pending', sourceUrl: url, reason: noPlace };
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

/** The merchant sends back what a read returned: the image stays, and nothing is asked of the network. */
async function takeOwn(
  queryable: Queryable,
  deps: IntakeDeps,
  image: { merchantId: string; name: string },
): Promise<ProductImage> {
  const isHeld = image.name !== '' && (await holdImage(queryable, { ...image, at: deps.clock.now() }));
  return isHeld ? hosted(deps, image.name) : { status: 'failed', reason: 'no such hosted image' };
}

/** Downloads, decodes and stores one image. Throws ImageStoreFailure only; every fault of the source is an outcome. */
export async function fetchImage(
  queryable: Queryable,
  deps: IntakeDeps,
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
  if (!(await enterImage(queryable, { merchantId, name, at: deps.clock.now() }))) {
    return later('an image of this content is just being removed');
  }
  for (const { size, bytes } of image.files) await deps.store.put(imageFile(name, size), bytes);
  return hosted(deps, name);
}

function hosted({ origin }: IntakeDeps, name: string): ProductImage {
  return { status: 'hosted', name, url: hostedImageUrl(origin, name) };
}

/** An answer that cannot be an image. */
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
  // Asked for as it is; what comes packed stays packed, since it could unfold to any size.
  if (contentEncoding !== '' && contentEncoding !== 'identity') throw new SourceFailure('came compressed');
  return bytes;
}
