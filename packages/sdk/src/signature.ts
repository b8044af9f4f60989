import { refuseUnknown } from './argument.ts';
import { FlorinError, wrongArgument } from './error.ts';
import { parseEvent } from './events.ts';
import type { FlorinEvent } from './wire.gen.ts';

/** The headers of a request, as servers and runtimes have them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A webhook's `key`, or several while a key is being replaced. */
export type WebhookSecret = string | readonly string[];

export interface UnwrapOptions {
  /** Seconds that the sender's clock and yours may differ, the way of the message included; 300 when absent. */
  readonly toleranceSeconds?: number | undefined;
  /** Milliseconds since 1970; tests replace the clock. */
  readonly now?: (() => number) | undefined;
}

const optionNames = ['toleranceSeconds', 'now'] as const satisfies readonly (keyof UnwrapOptions)[];
const defaultToleranceSeconds = 300;
/** Signatures that are compared; the service sends one for each key of a webhook, at most two. */
const maxSignatures = 10;
const secretPrefix = 'whsec_';
/** Of a key, by Standard Webhooks: a shorter one was cut. */
const leastSecretBytes = 24;

/**
 * The event in a notification, once its signature is verified (Standard Webhooks). `body` is the body as it came: a parsed one
 * has other bytes. With several secrets one of them has to fit, so that keys can be replaced. Throws FlorinError:
 * `webhook_unsigned`, `webhook_signature_wrong`, `webhook_too_old`, `webhook_malformed`; `argument_invalid` for a fault of yours.
 *
 * @example const event = await unwrap(await request.text(), request.headers, process.env.FLORIN_WEBHOOK_KEY);
 */
export async function unwrap(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: WebhookSecret | undefined,
  options?: UnwrapOptions,
): Promise<FlorinEvent> {
  refuseUnknown(options, optionNames);
  const { toleranceSeconds = defaultToleranceSeconds, now = Date.now }: UnwrapOptions = Object(options);
  checkTolerance(toleranceSeconds);
  if (Object(headers) !== headers) throw wrongArgument('headers', 'give the headers of the request');
  const bytes = bytesOf(body);
  const secrets = secretsOf(secret);
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (
    id === undefined ||
    timestamp === undefined ||
    signatures === undefined ||
    !/^[0-9]{1,12}$/.test(timestamp)
  )
    throw new FlorinError(
      'webhook_unsigned',
      'webhook-id, webhook-timestamp or webhook-signature is missing',
    );
  const signed = joined(`${id}.${timestamp}.`, bytes);
  const given = signatures
    .split(' ')
    .slice(0, maxSignatures)
    .flatMap((each) => (each.startsWith('v1,') ? [decode(each.slice(3))] : []));
  if (!(await isSignedBy(secrets, signed, given)))
    throw new FlorinError(
      'webhook_signature_wrong',
      'no signature fits this body and a secret of this webhook',
    );
  const ageSeconds = now() / 1_000 - Number(timestamp);
  if (!(Math.abs(ageSeconds) <= toleranceSeconds))
    throw new FlorinError(
      'webhook_too_old',
      ageSeconds < 0
        ? `signed ${Math.round(-ageSeconds)} seconds in the future: the clocks differ`
        : `signed ${Math.round(ageSeconds)} seconds ago: the clocks differ, or it is a replay`,
    );
  const event = parseEvent(parse(bytes));
  if (event.id !== id) throw new FlorinError('webhook_malformed', 'webhook-id is not the id of the event');
  return event;
}

/** The headers of a notification with this body, signed with every secret as the service signs. */
export async function signedHeaders(options: {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
  readonly secret: WebhookSecret | undefined;
}): Promise<Record<string, string>> {
  const { id, timestampSeconds, body, secret } = options;
  const secrets = secretsOf(secret);
  const signed = joined(`${id}.${timestampSeconds}.`, bytesOf(body));
  const signatures = await Promise.all(
    secrets.map(async (each) => {
      const key = await importSecret(each, 'sign');
      return `v1,${encode(new Uint8Array(await crypto.subtle.sign('HMAC', key, signed)))}`;
    }),
  );
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

/** Refuses what is no time: of a text or NaN every comparison is false, so that no message would be too old. */
export function checkTolerance(seconds: number = defaultToleranceSeconds): void {
  if (Number.isFinite(seconds) && seconds >= 0) return;
  throw wrongArgument('toleranceSeconds', 'toleranceSeconds is a number of seconds, such as 300');
}

/** Refuses a secret that is missing, or is no key of a webhook. */
export function checkSecret(secret: WebhookSecret | undefined): void {
  secretsOf(secret).map(bytesOfSecret);
}

function secretsOf(secret: WebhookSecret | undefined): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : [...(secret ?? [])];
  if (secrets.length > 0 && secrets[0] !== '') return secrets;
  throw wrongArgument('secret', 'the secret of the webhook is missing');
}

type Bytes = Uint8Array<ArrayBuffer>;
/** Not every runtime's types name it. */
type HmacKey = Parameters<typeof crypto.subtle.sign>[1];

async function isSignedBy(
  secrets: readonly string[],
  signed: Bytes,
  given: readonly Bytes[],
): Promise<boolean> {
  let isSigned = false;
  for (const secret of secrets) {
    const key = await importSecret(secret, 'verify');
    // WebCrypto compares in constant time.
    for (const signature of given)
      isSigned = (await crypto.subtle.verify('HMAC', key, signature, signed)) || isSigned;
  }
  return isSigned;
}

async function importSecret(secret: string, use: 'sign' | 'verify'): Promise<HmacKey> {
  const bytes = bytesOfSecret(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
}

function bytesOfSecret(secret: string): Bytes {
  // One of several may come from a variable that is not set.
  const given = String(secret ?? '');
  const text = given.startsWith(secretPrefix) ? given.slice(secretPrefix.length) : '';
  const bytes = decode(text);
  if (bytes.length >= leastSecretBytes) return bytes;
  throw wrongArgument('secret', 'a webhook’s secret is its whole key: whsec_ and base64');
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}

/** By its method: frameworks bring classes of their own. */
function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers['get'] === 'function';
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Bytes {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  // A copy: the view may be of shared memory, which WebCrypto refuses.
  if (body instanceof Uint8Array) return new Uint8Array(body);
  throw new FlorinError(
    'argument_invalid',
    'the body is parsed already: hand in its text or bytes as they came, before a JSON parser sees them',
  );
}

function joined(head: string, body: Bytes): Bytes {
  const start = new TextEncoder().encode(head);
  const all = new Uint8Array(start.length + body.length);
  all.set(start);
  all.set(body, start.length);
  return all;
}

function parse(bytes: Bytes): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new FlorinError('webhook_malformed', 'the body is signed, and no JSON');
  }
}

/** The bytes of base64; empty for anything else. */
function decode(base64: string): Bytes {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    // Not base64: no secret and no signature.
    return new Uint8Array();
  }
}

function encode(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes));
}
