import type { Rate } from './token-bucket.ts';

/** The most rows that one call of an operation without a key writes. Each call counts as one of `signedRequests`. */
interface FreeOperation {
  /** Method and path, below any base path. */
  readonly operation: string;
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
    sessions: 1,
    orders: 0,
    besides: 'payable sessions of a payer; sessions of a link in a minute',
  },
  { operation: 'POST /payment/prepare', sessions: 0, orders: 2, besides: 'payable orders of a session' },
  {
    operation: 'POST /payment/submit',
    sessions: 0,
    orders: 0,
    besides: 'one for each order, which has to pass a simulation; budgets of gas',
  },
  { operation: 'POST /checkout/api/session', sessions: 1, orders: 0, besides: '' },
  { operation: 'POST /checkout/api/prepare', sessions: 0, orders: 2, besides: 'payable orders of a session' },
  { operation: 'POST /checkout/api/deposit', sessions: 0, orders: 2, besides: 'payable orders of a session' },
  {
    operation: 'POST /checkout/api/deposit/hide',
    sessions: 0,
    orders: 0,
    besides: 'needs the session’s secret',
  },
  {
    operation: 'POST /checkout/api/deposit/again',
    sessions: 0,
    orders: 0,
    besides: 'needs the session’s secret',
  },
  { operation: 'POST /link/:linkId', sessions: 1, orders: 0, besides: 'a form of our own page' },
  {
    operation: 'POST /checkout/:sessionId/deposit',
    sessions: 0,
    orders: 2,
    besides: 'payable orders of a session; a form of our own page',
  },
  {
    operation: 'GET /x402/link/:linkId',
    sessions: 1,
    orders: 2,
    besides: 'only with a payment; an offer writes nothing',
  },
  {
    operation: 'GET /x402/session/:sessionId',
    sessions: 0,
    orders: 2,
    besides: 'only with a payment; an offer writes nothing',
  },
];

/** How many requests one client network can send within an hour, starting with a full burst. */
export function mostInAnHour({ count, seconds, burst }: Rate): number {
  return burst + Math.floor((count * 3_600) / seconds);
}
