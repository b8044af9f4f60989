import { type ImageStore, ImageStoreFailure } from './image-store.ts';

export interface S3StoreOptions {
  /** The URL of the store, such as `https://s3.eu-central-1.amazonaws.com`, without a slash at the end. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** The prefix of every name, such as `florin/images/`; may be empty. */
  readonly prefix: string;
  /** Replaces the machine's credentials: the environment, shared files, or the role of its container or instance. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

const timeoutMs = 10_000;
const maxAttempts = 2;
/** The largest file in bytes. */
const maxFileBytes = 16 * 1024 * 1024;

/**
 * Keeps images in a bucket of an S3-compatible store (AWS, MinIO, Ceph, R2), addressed by path. The bucket stays private:
 * the service itself serves the images. A request that fails is sent once more; then it is an `ImageStoreFailure`.
 */
export function s3Store({ endpoint, region, bucket, prefix, credentials }: S3StoreOptions): ImageStore {
  // Loaded here, so that installations with images in a folder save its 34 MB of memory.
  const opened = import('@aws-sdk/client-s3').then((sdk) => ({
    sdk,
    client: new sdk.S3Client({
      endpoint,
      region,
      maxAttempts,
      forcePathStyle: true,
      // Many stores other than AWS's support only the signed hash of the body as a checksum.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: timeoutMs,
        requestTimeout: timeoutMs,
        throwOnRequestTimeout: true,
      },
      ...(credentials !== undefined && { credentials }),
    }),
  }));
  const placeOf = (file: string) => ({ Bucket: bucket, Key: `${prefix}${file}` });
  return {
    async put(file, bytes) {
      const { sdk, client } = await opened;
      const object = { ...placeOf(file), Body: bytes, ContentType: 'image/webp' };
      await asked('PUT', () => client.send(new sdk.PutObjectCommand(object)));
    },
    async read(file) {
      const { sdk, client } = await opened;
      return asked('GET', async () => {
        const { Body, ContentLength = 0 } = await client.send(new sdk.GetObjectCommand(placeOf(file)));
        if (ContentLength > maxFileBytes) throw new ImageStoreFailure(`${file} is too large for an image`);
        return Body?.transformToByteArray();
      });
    },
    async remove(file) {
      const { sdk, client } = await opened;
      await asked('DELETE', () => client.send(new sdk.DeleteObjectCommand(placeOf(file))));
    },
    close: async () => (await opened).client.destroy(),
  };
}

/** Undefined when the store does not have the file. */
async function asked<T>(method: string, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof ImageStoreFailure) throw cause;
    const status = statusOf(cause);
    if (status === undefined) throw new ImageStoreFailure('the image store cannot be reached', { cause });
    if (status === 404 && method !== 'PUT') return undefined;
    throw new ImageStoreFailure(`the image store answered ${method} with ${status}`);
  }
}

/** The HTTP status of the store's response; undefined without a response. */
function statusOf(error: unknown): number | undefined {
  const metadata = error instanceof Error ? Reflect.get(error, '$metadata') : undefined;
  const status: unknown = metadata?.httpStatusCode;
  return typeof status === 'number' ? status : undefined;
}
