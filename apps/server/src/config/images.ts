import type { Secret } from '#outside/secret.ts';
import type { SecretSource } from './secret-source.ts';
import { ConfigError } from './setting.ts';
import type { Settings } from './settings.ts';

/** The image store; without one, products have no images. */
export interface ImagesConfig {
  readonly store:
    | { readonly kind: 'folder'; readonly folder: string }
    | {
        readonly kind: 's3';
        readonly endpoint: string;
        readonly region: string;
        readonly bucket: string;
        readonly prefix: string;
        /** Undefined: the machine's credentials. */
        readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: Secret } | undefined;
      }
    | undefined;
  readonly allowLoopback: boolean;
}

/** The settings of `images`: a folder, or a bucket of an S3-compatible store. */
export function imagesOf(
  { images: { allowLoopback, folder, s3 }, environment }: Settings,
  secrets: SecretSource,
): ImagesConfig {
  if (allowLoopback && environment === 'production')
    throw new ConfigError(
      'images.allowLoopback is true: remove it, because production must not call its own machine',
    );
  if (folder !== undefined && s3 !== undefined)
    throw new ConfigError('images has folder and s3: keep one of them');
  if (folder !== undefined) return { allowLoopback, store: { kind: 'folder', folder } };
  if (s3 === undefined) return { allowLoopback, store: undefined };
  const { endpoint, region, bucket, prefix = '', accessKeyId } = s3;
  if (!endpoint.startsWith('https:') && environment === 'production')
    throw new ConfigError(`images.s3.endpoint is ${endpoint}: production needs https`);
  const secret = () => secrets.read('FLORIN_IMAGES_SECRET_KEY', 'imagesSecretKey', /^\S+$/, 'one word');
  const credentials = accessKeyId === undefined ? undefined : { accessKeyId, secretAccessKey: secret() };
  return { allowLoopback, store: { kind: 's3', endpoint, region, bucket, prefix, credentials } };
}
