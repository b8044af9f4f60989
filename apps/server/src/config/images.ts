import { isAbsolute } from 'node:path';
import type { Secret } from '#outside/secret.ts';
import { ConfigError, type Fields, type SecretSource } from './field.ts';

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

/** Reads the setting `images`: a folder, or a bucket of an S3-compatible store. */
export function imagesOf(
  fields: Fields,
  secrets: SecretSource,
  environment: 'local' | 'production',
): ImagesConfig {
  const allowLoopback = fields.flag('allowLoopback', false);
  if (allowLoopback && environment === 'production') {
    throw new ConfigError(
      'images.allowLoopback is true: remove it, because production must not call its own machine',
    );
  }
  const folder = fields.optionalText('folder');
  if (folder !== undefined && fields.has('s3')) {
    throw new ConfigError('images has folder and s3: keep one of them');
  }
  if (folder !== undefined && !isAbsolute(folder)) {
    throw new ConfigError(`images.folder is ${folder}: give an absolute path`);
  }
  if (folder !== undefined) return { allowLoopback, store: { kind: 'folder', folder } };
  const readBucket = (bucket: Fields) => bucketOf(bucket, secrets, environment);
  return { allowLoopback, store: fields.optional('s3', (name) => fields.section(name, readBucket)) };
}

function bucketOf(
  fields: Fields,
  secrets: SecretSource,
  environment: 'local' | 'production',
): ImagesConfig['store'] {
  const endpoint = fields.text('endpoint');
  const url = URL.parse(endpoint);
  if (url === null || url.origin !== endpoint) {
    throw new ConfigError(
      `images.s3.endpoint is ${endpoint}: give scheme, host and port only, such as https://s3.example.com`,
    );
  }
  if (url.protocol !== 'https:' && environment === 'production') {
    throw new ConfigError(`images.s3.endpoint is ${endpoint}: production needs https`);
  }
  const bucket = fields.text('bucket');
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new ConfigError(
      `images.s3.bucket is ${bucket}: a bucket has 3 to 63 lower-case letters, digits, . and -`,
    );
  }
  const prefix = fields.optionalText('prefix') ?? '';
  if (!/^([A-Za-z0-9_-]+\/)*$/.test(prefix)) {
    throw new ConfigError(
      `images.s3.prefix is ${prefix}: write names that each end in a slash, such as florin/`,
    );
  }
  const accessKeyId = fields.optionalText('accessKeyId');
  return {
    kind: 's3',
    endpoint,
    region: fields.text('region'),
    bucket,
    prefix,
    credentials:
      accessKeyId === undefined
        ? undefined
        : {
            accessKeyId,
            secretAccessKey: secrets.read('FLORIN_IMAGES_SECRET_KEY', 'imagesSecretKey', /^\S+$/, 'one word'),
          },
  };
}
