import { Agent, type Dispatcher } from 'undici';
import {
  type AwsCredentials,
  amzDate,
  authorizationOf,
  encodeRfc3986,
  sha256Hex,
} from '#outside/aws-signature.ts';
import type { Clock } from '#outside/clock.ts';
import { type ImageStore, ImageStoreFailure } from './image-store.ts';

export interface S3StoreOptions extends AwsCredentials {
  /** Where the store answers, such as `https://s3.eu-central-1.amazonaws.com`, without a slash at the end. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Stands before every name, such as `florin/images/`; may be empty. */
  readonly prefix: string;
  readonly clock: Clock;
}

const timeoutMs = 10_000;
const connections = 32;
const attempts = 2;
/** No file of ours is larger; an answer that is, is none of ours. */
const maxFileBytes = 16 * 1024 * 1024;

/**
 * Keeps images in a bucket of an S3-compatible store (AWS, MinIO, Ceph, R2), addressed by path. The bucket stays private:
 * images are served by us. Requests are signed with AWS Signature Version 4, the body's hash included.
 */
export function s3Store(options: S3StoreOptions): ImageStore {
  const agent = new Agent({
    connections,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxFileBytes,
    connect: { timeout: timeoutMs },
  });
  const ask = (method: 'GET' | 'PUT' | 'DELETE', file: string, body: Uint8Array = new Uint8Array()) =>
    exchange(agent, options, { method, file, body });
  return {
    async put(file, bytes) {
      const { status } = await ask('PUT', file, bytes);
      if (status !== 200) throw refused('PUT', status);
    },
    async read(file) {
      const { status, bytes } = await ask('GET', file);
      if (status === 404) return undefined;
      if (status !== 200) throw refused('GET', status);
      return bytes;
    },
    async remove(file) {
      const { status } = await ask('DELETE', file);
      if (status !== 204 && status !== 200 && status !== 404) throw refused('DELETE', status);
    },
    close: () => agent.destroy(),
  };
}

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly file: string;
  readonly body: Uint8Array;
}

interface S3Answer {
  readonly status: number;
  readonly bytes: Uint8Array;
}

function refused(method: string, status: number): ImageStoreFailure {
  return new ImageStoreFailure(`the image store answered ${method} with ${status}`);
}

/** Every request may be repeated, so a connection that breaks, or a store that stumbles, gets one more try. */
async function exchange(agent: Agent, options: S3StoreOptions, request: S3Request): Promise<S3Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt >= attempts;
    try {
      const answer = await once(agent, options, request);
      if (answer.status < 500 || isLast) return answer;
    } catch (cause) {
      if (isLast) throw new ImageStoreFailure('the image store cannot be reached', { cause });
    }
  }
}

async function once(agent: Agent, options: S3StoreOptions, request: S3Request): Promise<S3Answer> {
  const { endpoint, bucket, prefix, region, clock } = options;
  const path = `/${`${bucket}/${prefix}${request.file}`.split('/').map(encodeRfc3986).join('/')}`;
  const bodyHash = sha256Hex(request.body);
  const signed = {
    host: new URL(endpoint).host,
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': amzDate(clock.now()),
    ...(request.method === 'PUT' ? { 'content-type': 'image/webp' } : {}),
  };
  const authorization = authorizationOf(
    { method: request.method, path, headers: signed, bodyHash },
    { region, service: 's3' },
    options,
  );
  const answer: Dispatcher.ResponseData = await agent.request({
    origin: endpoint,
    path,
    method: request.method,
    headers: { ...signed, authorization },
    body: request.method === 'PUT' ? request.body : null,
  });
  return { status: answer.statusCode, bytes: Buffer.from(await answer.body.arrayBuffer()) };
}
