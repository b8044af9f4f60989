import { createHash, createHmac } from 'node:crypto';

/** Who signs. The secret key is used for nothing else. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A request as it will go out, without its Authorization header. */
export interface SignableRequest {
  readonly method: string;
  /** The path as it is sent: percent-encoded once. */
  readonly path: string;
  /** Decoded names and values. */
  readonly query?: readonly (readonly [string, string])[];
  /** Every header to be signed, `host` and `x-amz-date` among them; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body in hex. */
  readonly bodyHash: string;
}

export const signatureAlgorithm = 'AWS4-HMAC-SHA256';

/** `20130524T000000Z`: the value of x-amz-date. */
export function amzDate(time: Date): string {
  return `${time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** RFC 3986: everything but letters, digits and `-._~` is percent-encoded. */
export function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The Authorization header of AWS Signature Version 4. */
export function authorizationOf(
  request: SignableRequest,
  scope: { readonly region: string; readonly service: string },
  credentials: AwsCredentials,
): string {
  const date = request.headers['x-amz-date'] ?? '';
  const names = Object.keys(request.headers).sort();
  const day = date.slice(0, 8);
  const scopeText = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const toSign = [signatureAlgorithm, date, scopeText, sha256Hex(canonicalRequest(request, names))].join(
    '\n',
  );
  const key = [scope.region, scope.service, 'aws4_request'].reduce(
    (derived, part) => hmac(derived, part),
    hmac(`AWS4${credentials.secretAccessKey}`, day),
  );
  const signature = hmac(key, toSign).toString('hex');
  return `${signatureAlgorithm} Credential=${credentials.accessKeyId}/${scopeText}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
}

/** What both sides hash: method, path, sorted query, sorted headers with their inner spaces folded, body hash. */
function canonicalRequest(request: SignableRequest, names: readonly string[]): string {
  const query = (request.query ?? [])
    .map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`)
    .sort()
    .join('&');
  const headers = names.map(
    (name) => `${name}:${(request.headers[name] ?? '').trim().replaceAll(/ +/g, ' ')}\n`,
  );
  return [request.method, request.path, query, headers.join(''), names.join(';'), request.bodyHash].join(
    '\n',
  );
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
