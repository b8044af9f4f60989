import { paidView, sessionId } from './example-session.ts';
import type { JsonObject } from './openapi-schema.ts';

const eventId = 'evt_5ZqkV0cX2bYw1R8mH3nTgL';
const deliveryId = 'dlv_8uYdK2sWqJ4oZc6RfXb1Ne';
const webhookId = 'wkid_1iujKnMMYEjNQPik00dzen';
const refundId = 'rfd_2HkLmN7pQs9tVwXyZ0aBcD';
const firstPage = { page: 1, size: 20 } as const;

/** The body of a notification. */
export function eventExample(origin: string): JsonObject {
  return {
    id: eventId,
    type: 'session.completed',
    apiVersion: 'v1',
    timestamp: '2026-01-02T03:04:20.123Z',
    sequence: 5,
    data: paidView(origin, 'completed'),
  };
}

const delivery = {
  deliveryId,
  eventId,
  eventType: 'session.completed',
  status: 'succeeded',
  attempts: [
    {
      attempt: 1,
      at: '2026-01-02 03:04:20',
      httpStatus: 500,
      latencyMs: 41,
      error: 'status 500',
      responseBody: '',
    },
    { attempt: 2, at: '2026-01-02 03:04:25', httpStatus: 204, latencyMs: 38, error: '', responseBody: '' },
  ],
  nextAttemptAt: null,
  createAt: '2026-01-02 03:04:20',
} as const;

/** The same delivery in full. */
function deliveryExample(origin: string): JsonObject {
  const headers = (timestamp: string) => ({
    'content-type': 'application/json',
    'user-agent': 'Florin-Webhooks/1',
    'accept-encoding': 'identity',
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
  });
  const url = 'https://shop.example.com/webhooks/florin';
  const [first, second] = delivery.attempts;
  return {
    ...delivery,
    webhookId,
    body: JSON.stringify(eventExample(origin)),
    attempts: [
      { ...first, request: { url, headers: headers('1767323060') }, changes: [] },
      { ...second, request: { url, headers: headers('1767323065') }, changes: ['httpStatus', 'error'] },
    ],
  };
}

const refund = {
  refundId,
  sessionId,
  orderId: '0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e',
  exceptionId: '',
  amount: 24_500_000,
  status: 'pending',
  reason: 'Sold out',
  txHash: '',
  cancelledAt: '',
  createAt: '2026-01-02 03:04:10',
  updateAt: '2026-01-02 03:04:10',
} as const;

const completedRefund = {
  ...refund,
  status: 'completed',
  txHash: '0x0d1a7c0e7ad0f6b7f0a5f5a2f1d9d9b1c8a2d4f7c3b5e6a9f8071625344352ab',
  updateAt: '2026-01-02 03:20:00',
} as const;

const cancelledRefund = {
  ...refund,
  status: 'cancelled',
  cancelledAt: '2026-01-02 03:20:00',
  updateAt: '2026-01-02 03:20:00',
} as const;

const exception = {
  exceptionId: 'exc_5vTzQ0sWq8Yp3NkLrHd2Xc',
  kind: 'overpaid',
  orderId: '0x6a5f5475aa56be08bad2a2c1e94129b6fc007a431bf76521b7f915b0f20d14a7',
  payer: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  tokenId: 'base::usdc',
  amountInToken: '1500000',
  txHash: '',
  decision: '',
  decideBy: '',
  sessionId,
  status: 'resolved',
  resolvedTx: '0x3b7a1c0e7ad0f6b7f0a5f5a2f1d9d9b1c8a2d4f7c3b5e6a9f8071625344352cd',
  isGone: false,
  createAt: '2026-01-02 03:04:10',
  updateAt: '2026-01-02 03:06:30',
} as const;

/** Examples of the operations about events, deliveries, exceptions and refunds. */
export function eventExamples(origin: string) {
  return {
    testWebhook: { body: { webhookId }, data: { eventId: 'evt_0Test4v7Yb2KqLs8WnXc5Zd', deliveryId } },
    listDeliveries: {
      params: { webhookId, ...firstPage },
      data: { total: 1, ...firstPage, hasMore: false, nextCursor: '', deliveries: [delivery] },
    },
    getDelivery: { params: { deliveryId }, data: deliveryExample(origin) },
    resendDeliveries: {
      body: { webhookId, since: 1_767_315_600 },
      data: { success: true, resent: 1, hasMore: false, last: deliveryId },
    },
    resendDelivery: { body: { deliveryId }, data: { success: true } },
    listEvents: {
      params: firstPage,
      query: { type: 'session.*' },
      data: { total: 1, ...firstPage, hasMore: false, events: [eventExample(origin)] },
    },
    getEvent: { params: { eventId }, data: eventExample(origin) },
    listExceptions: {
      params: firstPage,
      data: { total: 1, ...firstPage, hasMore: false, nextCursor: '', exceptions: [exception] },
    },
    acceptException: { body: { exceptionId: exception.exceptionId }, data: { success: true } },
    refundException: { body: { exceptionId: exception.exceptionId }, data: { success: true } },
    resolveException: { body: { exceptionId: exception.exceptionId }, data: { success: true } },
    createRefund: { body: { sessionId, reason: refund.reason }, data: refund },
    cancelRefund: { body: { refundId }, data: cancelledRefund },
    getRefund: { params: { refundId }, data: completedRefund },
    listRefunds: {
      params: firstPage,
      data: { total: 1, ...firstPage, hasMore: false, nextCursor: '', refunds: [completedRefund] },
    },
  } as const;
}
