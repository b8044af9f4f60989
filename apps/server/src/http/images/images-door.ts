import { Refusal } from '@florin/protocol/error.ts';
import fresh from 'fresh';
import { imagePath, parseImageFile } from '#catalog/images/image-name.ts';
import { type ImageStore, ImageStoreFailure } from '#catalog/images/image-store.ts';
import type { Log } from '#telemetry/log.ts';
import type { Door } from '../server.ts';

export interface ImagesDoorOptions {
  readonly store: Pick<ImageStore, 'read'>;
  readonly log: Log;
}

/** A file never changes under its name, so caches keep it. No browser may run its content. */
const headers = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-disposition': 'inline',
  'content-security-policy': "default-src 'none'; sandbox",
  'content-type': 'image/webp',
  // Shops show their product images on their own pages.
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
} as const;

/** The hosted images: `GET /images/<name>-<size>.webp`, public to clients that know a name. */
export function imagesDoor({ store, log }: ImagesDoorOptions): Door {
  return (server) => {
    server.get<{ Params: { file: string } }>(`${imagePath}:file`, async (request, reply) => {
      const { file } = request.params;
      // Only names that the service issues reach the store, so that no file system or bucket can misread one.
      if (parseImageFile(file) === undefined) throw new Refusal('route_unknown');
      const tag = `"${file.slice(0, -'.webp'.length)}"`;
      if (fresh(request.headers, { etag: tag })) {
        return reply.code(304).headers({ 'cache-control': headers['cache-control'], etag: tag }).send();
      }
      const bytes = await readImage(store, log, file);
      if (bytes === 'unavailable') return reply.code(503).header('retry-after', '5').send();
      if (bytes === undefined) throw new Refusal('route_unknown');
      return reply.headers({ ...headers, etag: tag }).send(Buffer.from(bytes));
    });
  };
}

/** A missing store is an outage for readers, not a refusal with status 200 that a cache would keep. */
async function readImage(
  store: ImagesDoorOptions['store'],
  log: Log,
  file: string,
): Promise<Uint8Array | undefined | 'unavailable'> {
  try {
    return await store.read(file);
  } catch (error) {
    if (!(error instanceof ImageStoreFailure)) throw error;
    log.error('images.store_unavailable', error);
    return 'unavailable';
  }
}
