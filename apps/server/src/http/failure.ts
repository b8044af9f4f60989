import { BatchOverload, isDatabaseAway } from '@florin/pg';
import { type ErrorName, errorCatalogue, Refusal, type RefusalDetails } from '@florin/protocol/error.ts';
import type { Route } from '@florin/protocol/route.ts';
import { SignerFailure } from '@florin/signing';
import type { Failure } from './envelope.ts';

/** The answer to a thrown value, and its severity. */
export interface FailureReport {
  readonly failure: Failure;
  /**
   * expected: a refusal. outage: the database or the order signer does not answer. bug: everything else, answered
   * generically.
   */
  readonly cause: 'expected' | 'outage' | 'bug';
}

function failureOf(refusal: Refusal): Failure {
  const { detail: _, param = '', data = null, retryAfterSeconds } = refusal.details;
  const entry = errorCatalogue[refusal.slug];
  return { slug: refusal.slug, entry, message: refusal.message, param, data, retryAfterSeconds };
}

function refused(slug: ErrorName, details: RefusalDetails = {}): FailureReport {
  return { failure: failureOf(new Refusal(slug, details)), cause: 'expected' };
}

const outageOf = { query: 'query_failed', create: 'create_failed', update: 'update_failed' } as const;
const outages: ReadonlySet<ErrorName> = new Set(Object.values(outageOf));

/** Whether a refusal says that the database does not answer: the same request may work in some seconds. */
export function isOutage(slug: ErrorName): boolean {
  return outages.has(slug);
}

/**
 * Turns an error of a request handler into its answer. Never shows a client the details of a bug.
 * @param limitBytes Of the route's request bodies.
 */
export function reportFailure(
  error: unknown,
  effect: Route['effect'],
  limitBytes: number = bodyLimitBytes,
): FailureReport {
  if (error instanceof Refusal) return { failure: failureOf(error), cause: 'expected' };
  const layer = httpLayerFailure(error, limitBytes);
  if (layer !== undefined) return layer;
  if (error instanceof BatchOverload) {
    return refused(outageOf[effect], {
      detail: 'too many requests at once, try again',
      retryAfterSeconds: 1,
    });
  }
  if (isDatabaseOutage(error)) {
    return { failure: failureOf(new Refusal(outageOf[effect], 'try again')), cause: 'outage' };
  }
  if (error instanceof SignerFailure) {
    const refusal = new Refusal('chain_unavailable', 'orders cannot be signed at the moment, try again');
    return { failure: failureOf(refusal), cause: 'outage' };
  }
  return { failure: failureOf(new Refusal('internal')), cause: 'bug' };
}

/** Failures that fastify raises before a handler runs. Each carries its own 4xx status. */
function httpLayerFailure(error: unknown, limitBytes: number): FailureReport | undefined {
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number')
    return undefined;
  if (error.statusCode === 413) return refused('body_too_large', { detail: `at most ${limitBytes} bytes` });
  if (error.statusCode === 415) return refused('media_type_unsupported', { detail: 'send application/json' });
  if (error.statusCode >= 400 && error.statusCode < 500) {
    return refused('json_malformed', { detail: 'the body could not be read' });
  }
  return undefined;
}

/** The largest request body, in bytes. */
export const bodyLimitBytes = 256 * 1024;

// Further SQLSTATEs that mean "not now" rather than "never": resources (53), operator (57), system (58), a lock that was
// not free in time (55P03), and a retry that the pool gave up (40).
const retryableStates = /^(40|53|57|58)...$|^55P03$/;
// Messages of pg that have no code.
const busyMessages =
  /^(Query read timeout|timeout exceeded when trying to connect|Cannot use a pool after calling end)/;

/** Whether the database was unreachable or asked to retry later. */
function isDatabaseOutage(error: unknown): boolean {
  if (isDatabaseAway(error)) return true;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseOutage);
  if (!(error instanceof Error)) return false;
  return busyMessages.test(error.message) || ('code' in error && retryableStates.test(String(error.code)));
}
