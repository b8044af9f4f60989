import type { RateLimits } from './rate-limit.ts';
import type { Rate } from './token-bucket.ts';

/** The most rows that one call of an operation without a key writes. */
interface FreeOperation {
  /** Method and path, below any base path. */
  readonly operation: string;
  readonly rate: keyof RateLimits;
  readonly sessions: number;
  /** Includes the second order for late and short deposits. */
  readonly orders: number;
  /** Further limits of the operation. */
  readonly besides: string;
}

/**
 * Every operation with which callers without a key can write. A test compares the list with the routes, and with the
 * rows that they write.
 */
export const freeOperations: readonly FreeOperation[] = [
  {
    operation: 'POST /payment/session/create',
    rate: 'signedRequests',
    sessions: 1,
    orders: 0,
    besides: 'payable sessions of a payer; sessions of a link in a minute',
  },
  {
    operation: 'POST /payment/prepare',
    rate: 'signedRequests',
    sessions: 0,
    orders: 2,
    besides: 'payable orders of a session',
  },
  {
    operation: 'POST /payment/submit',
    rate: 'signedRequests',
    sessions: 0,
    orders: 0,
    besides: 'one for each order, which has to pass a simulation; budgets of gas',
  },
  { operation: 'POST /checkout/api/session', rate: 'signedRequests', sessions: 1, orders: 0, besides: '' },
  {
    operation: 'POST /checkout/api/prepare',
    rate: 'signedRequests',
    sessions: 0,
    orders: 2,
    besides: 'payable orders of a session',
  },
  {
    operation: 'POST /checkout/api/deposit',
    rate: 'signedRequests',
    sessions: 0,
    orders: 2,
    besides: 'payable orders of a session',
  },
  {
    operation: 'POST /checkout/api/deposit/hide',
    rate: 'signedRequests',
    sessions: 0,
    orders: 0,
    besides: 'needs the session’s secret',
  },
  {
    operation: 'POST /checkout/api/deposit/again',
    rate: 'signedRequests',
    sessions: 0,
    orders: 0,
    besides: 'needs the session’s secret',
  },
  {
    operation: 'POST /link/:linkId',
    rate: 'signedRequests',
    sessions: 1,
    orders: 0,
    besides: 'a form of our own page',
  },
  {
    operation: 'POST /checkout/:sessionId/deposit',
    rate: 'signedRequests',
    sessions: 0,
    orders: 2,
    besides: 'payable orders of a session; a form of our own page',
  },
  {
    operation: 'GET /x402/link/:linkId',
    rate: 'signedRequests',
    sessions: 1,
    orders: 2,
    besides: 'only with a payment; an offer writes nothing',
  },
  {
    operation: 'GET /x402/session/:sessionId',
    rate: 'signedRequests',
    sessions: 0,
    orders: 2,
    besides: 'only with a payment; an offer writes nothing',
  },
];

/** How many requests one client network can send within an hour, starting with a full burst. */
export function mostInAnHour({ count, seconds, burst }: Rate): number {
  return burst + Math.floor((count * 3_600) / seconds);
}
