import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A store with the part of S3 that images need. It accepts only requests with a valid signature. */
export interface S3Fake {
  readonly endpoint: string;
  /** Objects by path, bucket included. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** Answers every request with this status from now on; undefined: normal answers. */
  fail(status: number | undefined): void;
  /** The number of requests refused because of their signature. */
  refusedCount(): number;
  requestCount(): number;
  close(): Promise<void>;
}

const maxSkewMs = 15 * 60_000;

/** Starts the fake on a free port of 127.0.0.1. */
export async function startS3Fake(account: {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  bucket: string;
}): Promise<S3Fake> {
  const objects = new Map<string, Buffer>();
  let status: number | undefined;
  let refused = 0;
  let requests = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    requests += 1;
    if (status !== undefined) {
      response.writeHead(status).end('<Error/>');
      return;
    }
    if (!isSigned(request, body, account)) {
      refused += 1;
      response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
      return;
    }
    serve(objects, request, body, response, account.bucket);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    fail: (given) => {
      status = given;
    },
    refusedCount: () => refused,
    requestCount: () => requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serve(
  objects: Map<string, Buffer>,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  bucket: string,
): void {
  const [path = ''] = (request.url ?? '').split('?');
  if (!path.startsWith(`/${bucket}/`)) {
    response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    return;
  }
  const found = objects.get(path);
  switch (request.method) {
    case 'PUT':
      objects.set(path, body);
      response.writeHead(200).end();
      return;
    case 'GET':
      if (found === undefined) response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
      else response.writeHead(200).end(found);
      return;
    case 'DELETE':
      objects.delete(path);
      response.writeHead(204).end();
      return;
    default:
      response.writeHead(405).end();
  }
}

/** Verifies Signature Version 4, written from its description and not from the signer's code. */
function isSigned(
  request: IncomingMessage,
  body: Buffer,
  account: { accessKeyId: string; secretAccessKey: string; region: string },
): boolean {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    );
  if (given === null) return false;
  const [, accessKeyId, day = '', region = '', signedHeaders = '', signature] = given;
  const date = String(request.headers['x-amz-date'] ?? '');
  const hash = createHash('sha256').update(body).digest('hex');
  const names = signedHeaders.split(';');
  const isWhole = ['host', 'x-amz-date', 'x-amz-content-sha256'].every((name) => names.includes(name));
  if (!isWhole || accessKeyId !== account.accessKeyId || region !== account.region) return false;
  if (!date.startsWith(day) || Math.abs(timeOf(date) - Date.now()) > maxSkewMs) return false;
  if (request.headers['x-amz-content-sha256'] !== hash) return false;
  const headers = names.map((name) => `${name}:${request.headers[name]}\n`).join('');
  const [path, query = ''] = (request.url ?? '').split('?');
  const canonical = `${request.method}\n${path}\n${query}\n${headers}\n${signedHeaders}\n${hash}`;
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
  let key: Buffer | string = `AWS4${account.secretAccessKey}`;
  for (const part of [day, region, 's3', 'aws4_request', text]) {
    key = createHmac('sha256', key).update(part).digest();
  }
  return Buffer.from(key).toString('hex') === signature;
}

function timeOf(date: string): number {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}
