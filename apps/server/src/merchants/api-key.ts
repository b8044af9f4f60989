import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Queryable, Row, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { base62Alphabet, newId } from '@florin/protocol/id.ts';
import {
  type Permission,
  type PermissionPreset,
  permissionPresets,
  permissions,
} from '@florin/protocol/permission.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import {
  apiKeyByHash,
  apiKeysByHashes,
  apiKeysOfMerchant,
  insertApiKey,
  insertKeyOrigins,
  renameKey,
  revokeKey,
} from './api-key.sql.ts';
import {
  type ApiKeyLimits,
  amountOf,
  assertOrigin,
  isClientAllowed,
  limitsOf,
  type RequestSource,
} from './api-key-limits.ts';
import type { Caller } from './caller.ts';

export type ApiKeyKind = 'secret' | 'restricted';

/** The caller of the merchant API. The key's addresses and origins have been checked already. */
export interface ApiKeyIdentity extends Caller {
  readonly kind: ApiKeyKind;
  readonly permissions: ReadonlySet<Permission>;
  /** The web origin of the request, when the key lists it. A page of that origin may read the answer. */
  readonly webOrigin: string | undefined;
}

/** A key as lists show it: never the key itself. */
export interface ApiKeySummary extends ApiKeyLimits {
  readonly keyId: string;
  readonly kind: ApiKeyKind;
  /** What it is for, in the words of who made it; empty without a name. */
  readonly name: string;
  readonly last4: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: Date | undefined;
  readonly revokedAt: Date | undefined;
  /** At most a minute behind; undefined when the key was never used. */
  readonly lastUsedAt: Date | undefined;
  readonly createdAt: Date;
  /** The id of the member who made it; empty: the operator. */
  readonly createdBy: string;
}

const prefixes: Record<ApiKeyKind, string> = { secret: 'sk_live_', restricted: 'rk_live_' };
/** 256 random bits and a 32-bit checksum, in base62. */
const secretLength = 43;
const checksumLength = 6;
/** Finds keys in any text, for secret scanners. The last six characters are a checksum of the others. */
export const keyInTextPattern = `\\b[sr]k_live_[0-9A-Za-z]{${secretLength + checksumLength}}\\b`;
const keyPattern = new RegExp(`^[sr]k_live_[0-9A-Za-z]{${secretLength + checksumLength}}$`);

function base62(value: bigint, length: number): string {
  let text = '';
  let rest = value;
  for (let index = 0; index < length; index += 1) {
    text = (base62Alphabet[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}

/** The last six characters of a key: CRC-32 of the others. With it secret scanners distinguish keys from noise. */
function checksumOf(text: string): string {
  let checksum = '';
  let rest = crc32(text);
  for (let index = 0; index < checksumLength; index += 1) {
    checksum = (base62Alphabet[rest % 62] ?? '') + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}

function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

export interface ApiKeyRequest extends Partial<ApiKeyLimits> {
  readonly merchantId: string;
  readonly kind: ApiKeyKind;
  /** At most 60 characters; empty when absent. */
  readonly name?: string;
  /** For restricted keys; `read_only` when neither this nor `permissions` is given. */
  readonly preset?: PermissionPreset;
  readonly permissions?: readonly Permission[];
  readonly expiresAt?: Date;
  /** The id of the member who makes it; absent: the operator. */
  readonly createdBy?: string;
}

/**
 * Creates a key and returns it. This is the only time that it is shown: only its SHA-256 and last four characters are stored.
 * Refuses (400101) invalid limits, the preset `storefront` without origins, and a secret key with origins.
 */
export async function createApiKey(
  transaction: Transaction,
  deps: { clock: Clock; random: Random },
  request: ApiKeyRequest,
): Promise<{ keyId: string; key: string }> {
  const limits = limitsOf(request);
  assertPlaces(request, limits.origins);
  const secret = deps.random.bytes(32).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  const start = prefixes[request.kind] + base62(secret, secretLength);
  const key = start + checksumOf(start);
  const keyId = newId('apiKey', deps.random.bytes);
  const granted =
    request.kind === 'secret'
      ? permissions
      : (request.permissions ?? permissionPresets[request.preset ?? 'read_only']);
  await transaction.query(insertApiKey, {
    keyId,
    merchantId: request.merchantId,
    kind: request.kind,
    keyName: request.name ?? '',
    keyHash: hashOf(key),
    last4: key.slice(-4),
    permissions: [...granted],
    expiresAt: request.expiresAt ?? null,
    ipAllowList: limits.ipAllowList,
    origins: limits.origins,
    maxSessionAmount: limits.maxSessionAmount ?? null,
    maxDayAmount: limits.maxDayAmount ?? null,
    createdAt: deps.clock.now(),
    createdBy: request.createdBy ?? '',
  });
  await transaction.query(insertKeyOrigins, { keyId, origins: limits.origins });
  return { keyId, key };
}

/** A key in a web page is public: it must be bound to the page's origin, and must not be a secret key. */
function assertPlaces(request: ApiKeyRequest, origins: readonly string[]): void {
  if (request.kind === 'secret') {
    if (origins.length > 0)
      throw fieldRefusal('origins', 'must be empty for a secret key: it is for servers');
    return;
  }
  if (request.preset === 'storefront' && origins.length === 0) {
    throw fieldRefusal('origins', 'must have at least one entry for the preset storefront');
  }
}

/** Reads the header `Authorization: Bearer <API_KEY>`, exactly so. Refuses anything else with 200101. */
export function keyOfHeader(header: string | undefined): string {
  if (header === undefined || header === '')
    throw new Refusal('authorization_header_malformed', 'send Authorization: Bearer <API_KEY>');
  const match = /^Bearer ([!-~]+)$/.exec(header);
  if (match?.[1] === undefined) {
    throw new Refusal('authorization_header_malformed', 'it must read Bearer, one space and the API key');
  }
  return match[1];
}

/** Looks up a key by its SHA-256; undefined when there is none. */
export type ApiKeyLookup = (keyHash: Buffer) => Promise<Row<typeof apiKeyByHash> | undefined>;

/** A lookup with one query for each key. */
export function apiKeyLookup(queryable: Queryable): ApiKeyLookup {
  return async (keyHash) => (await queryable.query(apiKeyByHash, { keyHash }))[0];
}

/** Looks up many keys in one query, in the order given. A key that occurs several times is looked up once. */
export async function findApiKeys(
  queryable: Queryable,
  keyHashes: readonly Buffer[],
): Promise<(Row<typeof apiKeyByHash> | undefined)[]> {
  const names = keyHashes.map((keyHash) => keyHash.toString('latin1'));
  const distinct = [...new Map(names.map((name, index) => [name, keyHashes[index]] as const)).values()];
  const [only, ...others] = distinct.filter((keyHash) => keyHash !== undefined);
  if (only === undefined) return [];
  const rows = await (others.length === 0
    ? queryable.query(apiKeyByHash, { keyHash: only })
    : queryable.query(apiKeysByHashes, { keyHashes: [only, ...others] }));
  const byHash = new Map(rows.map((row) => [row.key_hash.toString('latin1'), row]));
  return names.map((name) => byHash.get(name));
}

/**
 * Identifies the caller. Refuses a missing or malformed header (200101). Refuses with 200102 a key that is unknown, expired,
 * revoked or not allowed from the request's address; callers cannot distinguish these. Refuses with 200103 a web page whose
 * origin the key does not list, and any page with a secret key.
 */
export async function authenticate(
  lookup: ApiKeyLookup,
  header: string | undefined,
  now: Date,
  source: RequestSource = {},
): Promise<ApiKeyIdentity> {
  const key = keyOfHeader(header);
  // Checking the checksum first keeps typing errors and guesses away from the database.
  const isWellFormed =
    keyPattern.test(key) && checksumOf(key.slice(0, -checksumLength)) === key.slice(-checksumLength);
  const row = isWellFormed ? await lookup(hashOf(key)) : undefined;
  const isExpired = row?.expires_at != null && row.expires_at <= now;
  if (row === undefined || row.revoked_at !== null || isExpired) throw new Refusal('api_key_invalid');
  if (!isClientAllowed(row.ip_allow_list, source.clientAddress)) throw new Refusal('api_key_invalid');
  const kind = row.kind as ApiKeyKind;
  assertOrigin({ kind, origins: row.origins }, source.origin);
  return {
    callerId: row.key_id,
    merchantId: row.merchant_id,
    kind,
    webOrigin: row.origins.length === 0 ? undefined : source.origin,
    permissions: new Set(row.permissions as Permission[]),
    limits: {
      maxSessionAmount: amountOf(row.max_session_amount),
      maxDayAmount: amountOf(row.max_day_amount),
    },
  };
}

/** Gives a key of the merchant another name; an empty one takes it away. False when there is no such key. */
export async function renameApiKey(
  transaction: Transaction,
  request: { readonly merchantId: string; readonly keyId: string; readonly name: string },
): Promise<boolean> {
  const { name: keyName, ...key } = request;
  return (await transaction.query(renameKey, { ...key, keyName })).length === 1;
}

/** Revokes a key permanently, and answers its merchant's id: undefined when there is no such key. Again changes nothing. */
export async function revokeApiKey(
  transaction: Transaction,
  keyId: string,
  now: Date,
): Promise<string | undefined> {
  return (await transaction.query(revokeKey, { keyId, revokedAt: now }))[0]?.merchant_id;
}

/** The merchant's keys, oldest first, revoked ones included. */
export async function listApiKeys(queryable: Queryable, merchantId: string): Promise<ApiKeySummary[]> {
  const rows = await queryable.query(apiKeysOfMerchant, { merchantId });
  return rows.map((row) => ({
    keyId: row.key_id,
    kind: row.kind as ApiKeyKind,
    name: row.key_name,
    last4: row.last4,
    permissions: row.permissions as Permission[],
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    ipAllowList: row.ip_allow_list,
    origins: row.origins,
    maxSessionAmount: amountOf(row.max_session_amount),
    maxDayAmount: amountOf(row.max_day_amount),
    lastUsedAt: row.last_used_at ?? undefined,
    createdAt: row.created_at,
    createdBy: row.created_by,
  }));
}

/** Whether a key opens anything at this time. */
export function isKeyLive({ expiresAt, revokedAt }: ApiKeySummary, now: Date): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}
