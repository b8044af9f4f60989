import { type EventDataName, type EventEntry, type EventType, events } from './event.ts';
import { operationExamples } from './example.ts';
import { initializedSession, paidView } from './example-session.ts';
import type { ExceptionKind } from './exception.ts';
import type { JsonObject } from './openapi-schema.ts';

/** The `data` of an example event, in its state. */
type Example = (origin: string, state: NonNullable<EventEntry['state']>) => JsonObject;

const examples: Readonly<Record<EventDataName, Example>> = {
  account: (origin, state) => ({ account: { ...dataOf(origin, 'getAccount'), ...state } }),
  accountChange: (origin, state) => ({ accountChange: { ...waitingChange(origin), ...state } }),
  product: (origin, state) => ({ product: { ...dataOf(origin, 'createProduct'), ...state } }),
  link: (origin, state) => ({ link: { ...dataOf(origin, 'getLink'), ...state } }),
  session: (origin, state) => ({ session: { ...initializedSession(origin), ...state } }),
  paidSession: (origin, { status }) => paidView(origin, String(status)),
  exception: (origin) => exceptionFixture('duplicate', origin),
  refund: (origin, state) => ({ refund: { ...dataOf(origin, 'getRefund'), ...state } }),
  message: () => ({ message: 'A test of the webhook Orders' }),
  webhook: (origin, state) => {
    const { key: _key, ...keyless } = dataOf(origin, 'getWebhook');
    return { webhook: { ...keyless, ...state } };
  },
};

function waitingChange(origin: string): object {
  const { accountName, accountAddress, settlementCurrencies, settlementMode, createAt } = dataOf(
    origin,
    'getAccount',
  );
  return {
    ...{ changeId: 'acg_3kTq8ZbYw1LhVx5RmN7pCd', kind: 'add', status: 'waiting' },
    ...{ accountName, accountAddress, previousAddress: '' },
    ...{ settlementCurrencies, settlementMode, isProven: true, accountId: '' },
    ...{ effectiveAt: createAt, createAt },
  };
}

function dataOf(origin: string, operation: string): JsonObject {
  // The examples are constants: a test builds every fixture.
  return operationExamples(origin)[operation]?.data as JsonObject;
}

/**
 * `data` of an example event of each type: the documents' examples, in the state that the event tells of. Their ids
 * exist in no installation.
 */
export function eventFixture(type: EventType, origin: string): JsonObject {
  const { data, state = {} }: EventEntry = events[type];
  const fixture = examples[data](origin, state);
  if (type !== 'session.payment_detected') return fixture;
  const { intendedPayer, initiateTx } = paidView(origin, 'paid').session;
  return { session: { ...(fixture['session'] as JsonObject), intendedPayer, initiateTx } };
}

/** Kinds with their own transaction; money at a deposit address may have come in several. */
const kindsOfTransactions: ReadonlySet<ExceptionKind> = new Set([
  'duplicate',
  'duplicate_settled',
  'refunded',
  'reclaimed',
  'unsettled',
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
  unsettled: '24500000',
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
