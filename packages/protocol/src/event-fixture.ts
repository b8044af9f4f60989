import type { EventType } from './event.ts';
import { type OperationExample, operationExamples } from './example.ts';
import { initializedSession, paidView } from './example-session.ts';
import type { ExceptionKind } from './exception.ts';
import type { JsonObject } from './openapi-schema.ts';

/**
 * `data` of an example event of each type: the documents' examples, as the matching read returns them. Their ids exist
 * in no installation.
 */
export function eventFixture(type: EventType, origin: string): JsonObject {
  const examples = operationExamples(origin);
  const [subject = '', action = ''] = splitType(type);
  switch (subject) {
    case 'account':
      return { account: dataOf(examples['getAccount']) };
    case 'product':
      return { product: { ...dataOf(examples['createProduct']), status: productStatus(action) } };
    case 'payment.link':
      return {
        link: { ...dataOf(examples['getLink']), status: action === 'disabled' ? 'disabled' : 'active' },
      };
    case 'refund':
      return { refund: refundData(dataOf(examples['getRefund']), action) };
    case 'session':
      return sessionData(action, origin);
    default:
      return type === 'webhook.paused'
        ? { webhook: pausedWebhook(dataOf(examples['getWebhook'])) }
        : { message: 'A test of the webhook Orders' };
  }
}

/** `payment.link.created` is `payment.link` and `created`. */
function splitType(type: EventType): [string, string] {
  const dot = type.lastIndexOf('.');
  return [type.slice(0, dot), type.slice(dot + 1)];
}

function dataOf(example: OperationExample | undefined): JsonObject {
  const data = example?.data;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new Error('no such example');
  return data as JsonObject;
}

function productStatus(action: string): string {
  return action === 'archived' || action === 'removed' ? 'archived' : 'active';
}

function refundData(completed: JsonObject, action: string): JsonObject {
  if (action === 'completed') return completed;
  return { ...completed, status: action === 'failed' ? 'failed' : 'pending', txHash: '' };
}

function pausedWebhook({ key: _key, ...webhook }: JsonObject): JsonObject {
  return { ...webhook, status: 'paused' };
}

function sessionData(action: string, origin: string): JsonObject {
  const waiting = initializedSession(origin);
  const paid = paidView(origin, 'paid');
  const { intendedPayer, initiateTx } = paid.session;
  switch (action) {
    case 'payment_detected':
      return { session: { ...waiting, signedOnce: 1, intendedPayer, initiateTx } };
    case 'paid':
    case 'settling':
    case 'completed':
    case 'settlement_pending':
      return paidView(origin, action);
    case 'exception':
      return exceptionFixture('duplicate', origin);
    default:
      return { session: { ...waiting, status: action === 'created' ? 'initialized' : action } };
  }
}

/** Kinds with their own transaction; money at a deposit address may have come in several. */
const kindsOfTransactions: ReadonlySet<ExceptionKind> = new Set([
  'duplicate',
  'duplicate_settled',
  'refunded',
  'reclaimed',
]);

/** Kinds that wait for the merchant's decision. */
const decidableKinds: ReadonlySet<ExceptionKind> = new Set(['underpaid', 'late']);

/** `data` of an example session.exception of each kind. */
export function exceptionFixture(kind: ExceptionKind, origin: string): JsonObject {
  const isDecidable = decidableKinds.has(kind);
  const { session } = paidView(origin, 'paid');
  const exception = {
    ...raised,
    kind,
    payer: session.intendedPayer,
    amountInToken: amounts[kind],
    txHash: kindsOfTransactions.has(kind) ? raised.txHash : '',
    decision: '',
    decideBy: isDecidable ? '2026-01-03 03:29:05' : '',
  };
  return {
    exception,
    session: isDecidable ? { ...initializedSession(origin), signedOnce: 1, status: 'expired' } : session,
  };
}

const amounts: Readonly<Record<ExceptionKind, string>> = {
  duplicate: '24500000',
  duplicate_settled: '24500000',
  refunded: '24500000',
  reclaimed: '24500000',
  underpaid: '23500000',
  overpaid: '1500000',
  late: '24500000',
  wrong_token: '24500000',
};

const raised = {
  exceptionId: 'exc_7Yc2WmQ4tR9uKpB1vXsJ0d',
  orderId: '0x7a4f0e1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7',
  tokenId: 'ethereum::usdc',
  amountInToken: '24500000',
  txHash: '0x3b1e9d0c8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c',
} as const;
