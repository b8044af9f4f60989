import { isIPv6 } from 'node:net';
import { Refusal } from '@florin/protocol/error.ts';
import { type Route, rateClassOf } from '@florin/protocol/route.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#outside/clock.ts';
import type { Door } from './server.ts';
import type { Rate, RateVerdict, Take } from './token-bucket.ts';

/** The request limits of an installation. */
export interface RateLimits {
  /** For each API key. */
  readonly keyReads: Rate;
  readonly keyWrites: Rate;
  readonly keyLists: Rate;
  /** For each client address: requests without a valid key, and requests to public routes. */
  readonly failedAuthentications: Rate;
  readonly publicReads: Rate;
  /** For each client address and operation of the AI protocol that carries a signature. */
  readonly signedRequests: Rate;
  /** For each payment link: sessions that payers signed for. */
  readonly linkCreations: Rate;
  /** For each client address: signatures whose check runs smart account code on a chain. */
  readonly walletCalls: Rate;
}

export const defaultRateLimits: RateLimits = {
  keyReads: { count: 100, seconds: 1, burst: 200 },
  keyWrites: { count: 50, seconds: 1, burst: 100 },
  keyLists: { count: 20, seconds: 1, burst: 40 },
  failedAuthentications: { count: 60, seconds: 60, burst: 60 },
  publicReads: { count: 20, seconds: 1, burst: 40 },
  signedRequests: { count: 60, seconds: 60, burst: 60 },
  linkCreations: { count: 600, seconds: 60, burst: 600 },
  walletCalls: { count: 20, seconds: 60, burst: 20 },
};

/** The limits of an installation, and what counts requests against them. A name is one limit in all processes. */
export interface Limits {
  readonly rates: RateLimits;
  readonly clock: Clock;
  /** For requests: counted in this process, and told to the others soon after. */
  readonly bucketsOf: (name: string, rate: Rate) => Take;
  /** For attempts that must never be more in all processes together; each asks the database. */
  readonly exactly: (name: string, rate: Rate) => (caller: string) => Promise<RateVerdict>;
}

/** The most event streams of one process, in total and for each client network. Further pages poll. */
export const streamLimits = { inAll: 2_000, ofNetwork: 50 } as const;

/** Lets a caller's request pass or refuses it (900101), and reports the quota in headers. */
export type RateGuard = (caller: string, reply: FastifyReply, waitedMs?: number) => void;

function rateGuard({ rates, bucketsOf }: Limits, door: string, limit: keyof RateLimits): RateGuard {
  const rate = rates[limit];
  const take = bucketsOf(`${door} ${limit}`, rate);
  const policy = `${rate.count};w=${rate.seconds};burst=${rate.burst}`;
  return (caller, reply, waitedMs) => {
    const verdict = take(caller, waitedMs);
    reply.headers({
      'ratelimit-policy': policy,
      'ratelimit-limit': String(rate.burst),
      'ratelimit-remaining': String(verdict.remaining),
      'ratelimit-reset': String(verdict.resetSeconds),
    });
    if (verdict.isAllowed) return;
    const { retryAfterSeconds } = verdict;
    throw new Refusal('rate_limited', { detail: `${policyText(rate)}, try again later`, retryAfterSeconds });
  };
}

function policyText({ count, seconds }: Rate): string {
  return seconds === 1 ? `at most ${count} a second` : `at most ${count} in ${seconds} seconds`;
}

/** The guards of the merchant API. */
export interface MerchantGuards {
  /** For a request with a valid key, or of a person who is signed in. */
  readonly ofKey: (route: Route, callerId: string, reply: FastifyReply) => void;
  /** For a request whose authentication failed. */
  readonly failedAuthentication: RateGuard;
  readonly publicRead: RateGuard;
}

/**
 * Builds the guards of a door whose callers are looked up; without limits every request passes. The door notes when each
 * request came, before any look-up of its own. Each door counts its own requests, by its name.
 */
export function merchantGuards(
  server: FastifyInstance,
  door: string,
  limits: Limits | undefined,
): MerchantGuards {
  if (limits === undefined) {
    return { ofKey: () => {}, failedAuthentication: () => {}, publicRead: () => {} };
  }
  const { clock } = limits;
  const arrivalsMs = new WeakMap<FastifyRequest, number>();
  server.addHook('onRequest', (request, _reply, done) => {
    arrivalsMs.set(request, clock.monotonicMs());
    done();
  });
  const waited =
    (guard: RateGuard): RateGuard =>
    (caller, reply) => {
      const nowMs = clock.monotonicMs();
      guard(caller, reply, nowMs - (arrivalsMs.get(reply.request) ?? nowMs));
    };
  const byClass = {
    read: waited(rateGuard(limits, door, 'keyReads')),
    write: waited(rateGuard(limits, door, 'keyWrites')),
    list: waited(rateGuard(limits, door, 'keyLists')),
  };
  return {
    ofKey: (route, callerId, reply) => byClass[rateClassOf(route)](callerId, reply),
    failedAuthentication: waited(rateGuard(limits, door, 'failedAuthentications')),
    publicRead: rateGuard(limits, door, 'publicReads'),
  };
}

/**
 * Counts the sessions that all payers together sign for at one link: keys cost nothing, so a limit per payer would not
 * help. Refuses (900101) those above the limit. Call only after the signature check, so that
 * strangers cannot use up a link's share.
 */
export function creationGuard(limits: Limits | undefined): (linkId: string) => void {
  return guardOf(limits, 'linkCreations', (policy) => `this link takes ${policy}`);
}

/** Counts the account-code calls of one client address; refuses (900101) those above the limit. */
export type WalletCallGuard = (clientAddress: string) => void;

/**
 * Counts signatures whose check runs smart account code: millions of gas on the operator's node, free for the caller.
 * They are checked last, and have a limit below that of signed requests.
 */
export function walletCallGuard(limits: Limits | undefined): WalletCallGuard {
  const guard = guardOf(limits, 'walletCalls', (policy) => `${policy} by smart accounts`);
  return (clientAddress) => guard(networkOf(clientAddress));
}

/** Refuses (900101) a caller above a rate, over all doors; without limits every caller passes. */
function guardOf(
  limits: Limits | undefined,
  limit: keyof RateLimits,
  wordsFor: (policy: string) => string,
): (caller: string) => void {
  if (limits === undefined) return () => {};
  const rate = limits.rates[limit];
  const take = limits.bucketsOf(limit, rate);
  return (caller) => {
    const { isAllowed, retryAfterSeconds } = take(caller);
    if (isAllowed) return;
    const detail = `${wordsFor(policyText(rate))}, try again later`;
    throw new Refusal('rate_limited', { detail, retryAfterSeconds });
  };
}

/** The dependencies of one request, with account-code calls charged to its sender. */
export function chargedTo<Deps extends object>(
  deps: Deps,
  guard: WalletCallGuard,
  clientAddress: string,
): Deps & { readonly admitWalletCall: () => void } {
  return { ...deps, admitWalletCall: () => guard(clientAddress) };
}

/**
 * Adds limits by client address to a door without keys: for all reads together, and for each writing operation. Without
 * limits the door is unchanged.
 */
export function limitedDoor(name: string, door: Door, limits: Limits | undefined): Door {
  if (limits === undefined) return door;
  const reads = rateGuard(limits, name, 'publicReads');
  const signed = rateGuard(limits, name, 'signedRequests');
  return async (server) => {
    server.addHook('onRequest', async (request, reply) => {
      const network = networkOf(request.ip);
      const isPost = request.method === 'POST';
      if (!isPost) reads(network, reply);
      // An x402 client pays with a GET.
      if (isPost || request.headers['payment-signature'] !== undefined)
        signed(`${network} ${operationOf(request)}`, reply);
    });
    await door(server);
  };
}

/** The last two parts of the route's path: one operation may answer under several base paths. */
function operationOf(request: FastifyRequest): string {
  return (request.routeOptions.url ?? '').split('/').slice(-2).join('/');
}

/**
 * The unit that counts as one client: an IPv4 address, or the /64 network of an IPv6 address, because one host may own
 * all of it.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  const first = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(':')}::/64`;
}
