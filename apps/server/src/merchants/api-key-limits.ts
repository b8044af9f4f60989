import { BlockList, isIP } from 'node:net';
import type { Queryable, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { type MicroUsd, maxMicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { addSpending, keyOfOrigin, setLastUsed } from './api-key.sql.ts';

/** Limits of a key besides its permissions. */
export interface ApiKeyLimits {
  /** IP addresses and CIDR blocks from which the key may be used; empty: any. */
  readonly ipAllowList: readonly string[];
  /** Web origins, as browsers send them, from which the key may be used; empty: any, and requests without one. */
  readonly origins: readonly string[];
  /** Maximum of one session in Micro-USD; undefined: no limit of the key's own. */
  readonly maxSessionAmount: MicroUsd | undefined;
  /** Maximum in Micro-USD of all sessions that the key creates in one UTC day, paid or not; undefined: no limit. */
  readonly maxDayAmount: MicroUsd | undefined;
}

/** The origin and network address of a request. */
export interface RequestSource {
  readonly clientAddress?: string | undefined;
  /** The header Origin. */
  readonly origin?: string | undefined;
}

const maxAddresses = 50;
const maxOrigins = 20;
/** A million sessions of the largest amount; a bigint column holds no more. */
const maxDayAmount = maxMicroUsd * 900_000n;

/** Completes the limits of a new key. Refuses invalid addresses, origins and amounts (400101). */
export function limitsOf(request: Partial<ApiKeyLimits>): ApiKeyLimits {
  const limits = {
    ipAllowList: request.ipAllowList ?? [],
    origins: request.origins ?? [],
    maxSessionAmount: request.maxSessionAmount,
    maxDayAmount: request.maxDayAmount,
  };
  assertList('ipAllowList', limits.ipAllowList, { maxLength: maxAddresses, isEntry: isNetwork });
  assertList('origins', limits.origins, { maxLength: maxOrigins, isEntry: isWebOrigin });
  assertAmount('maxSessionAmount', limits.maxSessionAmount, maxMicroUsd);
  assertAmount('maxDayAmount', limits.maxDayAmount, maxDayAmount);
  const { maxSessionAmount: ofSession, maxDayAmount: ofDay } = limits;
  if (ofSession !== undefined && ofDay !== undefined && ofSession > ofDay)
    throw fieldRefusal('maxSessionAmount', 'must be at most maxDayAmount');
  return limits;
}

function assertList(
  name: string,
  list: readonly string[],
  rule: { maxLength: number; isEntry: (entry: string) => boolean },
): void {
  if (list.length > rule.maxLength) throw fieldRefusal(name, `must have at most ${rule.maxLength} entries`);
  const wrong = list.findIndex((entry) => !rule.isEntry(entry));
  if (wrong >= 0) {
    const form = name === 'origins' ? 'an https origin' : 'an IP address or CIDR block';
    throw fieldRefusal(`${name}[${wrong}]`, `must be ${form}`);
  }
}

function assertAmount(name: string, amount: bigint | undefined, most: bigint): void {
  if (amount !== undefined && (amount < 1n || amount > most)) {
    throw fieldRefusal(name, `must be from 1 to ${most} Micro-USD`);
  }
}

interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Reads an address like `203.0.113.7` or a block like `203.0.113.0/24`, in IPv4 or IPv6; undefined for other texts. */
function parseNetwork(text: string): Network | undefined {
  const match = /^([0-9A-Fa-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text);
  const address = match?.[1] ?? '';
  const version = isIP(address);
  if (version === 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = match?.[2] === undefined ? bits : Number(match[2]);
  if (prefix > bits) return undefined;
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

function isNetwork(text: string): boolean {
  return parseNetwork(text) !== undefined;
}

/** An origin as browsers write it: https, or http on localhost. */
function isWebOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.origin !== text) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && url.hostname === 'localhost');
}

/** Whether a request may come from this address. With an allow list, an unknown address is refused. */
export function isClientAllowed(ipAllowList: readonly string[], clientAddress: string | undefined): boolean {
  return ipAllowList.length === 0 || isAddressIn(ipAllowList, clientAddress ?? '');
}

/**
 * Refuses a web page whose origin the key does not list, and any web page with a secret key (200103). The message may say
 * why: the key's holder can read it in the page anyway.
 */
export function assertOrigin(
  key: { readonly kind: 'secret' | 'restricted'; readonly origins: readonly string[] },
  origin: string | undefined,
): void {
  if (key.kind === 'secret') {
    if (origin === undefined) return;
    throw new Refusal(
      'api_key_forbidden',
      'a secret key is for servers and is refused in browsers; replace it, because the page that sent it is public',
    );
  }
  if (key.origins.length === 0 || key.origins.includes(origin ?? '')) return;
  const problem =
    origin === undefined ? 'and the request has no Origin' : "and the request's Origin is none of them";
  throw new Refusal('api_key_forbidden', `the key is bound to web origins, ${problem}`);
}

/** IPv4-mapped IPv6 addresses, which dual-stack sockets report, count as IPv4. */
function isAddressIn(networks: readonly string[], address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const list = new BlockList();
  for (const text of networks) {
    const network = parseNetwork(text);
    if (network !== undefined) list.addSubnet(network.address, network.prefix, network.family);
  }
  return list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Refuses a session above the key's limit for one session (100209). */
export function assertSessionAmount(limits: Pick<ApiKeyLimits, 'maxSessionAmount'>, amount: MicroUsd): void {
  const { maxSessionAmount } = limits;
  if (maxSessionAmount === undefined || amount <= maxSessionAmount) return;
  throw new Refusal(
    'amount_out_of_range',
    `the API key's limit for one session is ${maxSessionAmount} Micro-USD`,
  );
}

/**
 * Counts a session towards the key's UTC day, in the transaction that creates it. Refuses a session that would exceed the
 * limit of the day (100209); then nothing is counted.
 */
export async function countDayAmount(
  transaction: Transaction,
  deps: { clock: Clock },
  request: { keyId: string; maxDayAmount: MicroUsd; amount: MicroUsd },
): Promise<void> {
  const { keyId, amount } = request;
  const day = new Date(deps.clock.now());
  day.setUTCHours(0, 0, 0, 0);
  const counted = await transaction.query(addSpending, {
    keyId,
    dayStart: day,
    amount,
    mostPerDay: request.maxDayAmount,
  });
  if (counted.length === 1) return;
  throw new Refusal(
    'amount_out_of_range',
    `the API key's limit for one day is ${request.maxDayAmount} Micro-USD`,
  );
}

/** Whether a valid key lists this web origin. Only then does the answer to a preflight request allow the origin. */
export async function isOriginListed(queryable: Queryable, origin: string, now: Date): Promise<boolean> {
  return (await queryable.query(keyOfOrigin, { origin, now })).length > 0;
}

/** Reads the column of a limit. */
export function amountOf(value: bigint | null): MicroUsd | undefined {
  return value === null ? undefined : microUsd(value);
}

/** Records that a key was used just now. It never rejects. */
export type KeyUseRecorder = (keyId: string) => Promise<void>;

const recordIntervalMs = 60_000;
/** Keys whose last record is cached; the oldest record is dropped first. */
const maxCachedKeys = 10_000;

/** A recorder that writes each key's time at most once a minute. Requests do not wait for it. */
export function keyUseRecorder(deps: { db: Queryable; clock: Clock; log: Log }): KeyUseRecorder {
  const recordedAtMs = new Map<string, number>();
  return async (keyId) => {
    const nowMs = deps.clock.monotonicMs();
    const last = recordedAtMs.get(keyId);
    if (last !== undefined && nowMs - last < recordIntervalMs) return;
    recordedAtMs.delete(keyId);
    recordedAtMs.set(keyId, nowMs);
    const oldest = recordedAtMs.keys().next();
    if (recordedAtMs.size > maxCachedKeys && oldest.done !== true) recordedAtMs.delete(oldest.value);
    try {
      await deps.db.query(setLastUsed, { keyId, lastUsedAt: deps.clock.now() });
    } catch (error) {
      // The time is only shown to people. Requests themselves report an unreachable database.
      deps.log.warn('api_key_use_not_recorded', { keyId, message: String(error) });
    }
  };
}
