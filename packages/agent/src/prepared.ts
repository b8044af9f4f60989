import type { TypedData } from './account.ts';
import {
  addressOf,
  bytesOf,
  chainIdOf,
  type Hex,
  integerOf,
  listOf,
  member,
  refuseAnswer,
  textOf,
} from './json.ts';
import type { Offer } from './policy.ts';
import { authorizationTypes, permit2Address, permitTypes, typedMessage } from './typed-data.ts';

/** The conditions for everything that is signed or sent for one payment. */
export interface Agreement {
  readonly sessionId: string;
  /** Lower case. */
  readonly payer: Hex;
  readonly offer: Offer;
}

export interface OrderCall {
  readonly to: Hex;
  readonly data: Hex;
}

/** A signature that pays, and its receiver. */
export interface PayingSignature {
  readonly method: 'eip3009' | 'permit2';
  readonly typedData: TypedData;
  /** Whether the service takes the order's id with the signature. */
  readonly isOrderNamed: boolean;
}

/** An order from the service, checked against the agreement. */
export interface Prepared {
  readonly orderId: Hex;
  /** The order's single-use key on its chain. */
  readonly metaData: Hex;
  readonly executor: Hex;
  readonly approvals: readonly OrderCall[];
  readonly payment: OrderCall;
  /** The methods that pay by signature alone. */
  readonly consents: readonly PayingSignature[];
}

/** Selector of `pay(Order,bytes)`, and the position of the order's words after it. */
export const paySelector = '0x9699ab66';
const orderWords = { metaData: 1, payer: 2, token: 3, total: 5 } as const;
export const approveSelector = '0x095ea7b3';
/** Tether's allowance is set to zero first. */
const maxApprovals = 2;

/**
 * Reads the answer to a prepare request. Refuses it unless it takes exactly the agreed amount of the agreed token from
 * the payer, once.
 */
export function parsePrepared(view: unknown, agreement: Agreement): Prepared {
  const { offer, sessionId } = agreement;
  const guide = member(view, 'aiView', 'paymentExecutionGuide');
  const request = member(guide, 'executionRequest', 'txRequest');
  const executor = addressOf(view, 'executorContract');
  if (textOf(view, 'sessionId') !== sessionId) refuseAnswer('another session');
  if (executor === offer.token || executor === agreement.payer) refuseAnswer('no contract that pays');
  const payment = callOf(request, offer.chainId);
  if (payment.to !== executor) refuseAnswer('a transaction to another contract');
  const metaData = checkPayment(payment, agreement);
  const orderId = bytesOf(guide, 'order', 'orderId');
  const approvals = listOf(guide, 'prerequisites');
  if (approvals.length > maxApprovals) refuseAnswer('more approvals than a payment needs');
  return {
    orderId,
    metaData,
    executor,
    approvals: approvals.map((each) => {
      const call = callOf(member(each, 'txRequest'), offer.chainId);
      checkApproval(call, executor, offer);
      return call;
    }),
    payment,
    consents: listOf(guide, 'alternatives').flatMap((each) =>
      consentOf(each, { agreement, executor, orderId, metaData }),
    ),
  };
}

function callOf(request: unknown, chainId: number): OrderCall {
  if (chainIdOf(request, 'chainId') !== chainId) refuseAnswer('a transaction on another chain');
  if (integerOf(request, 'value') !== 0n) refuseAnswer('a transaction that spends coin');
  return { to: addressOf(request, 'to'), data: bytesOf(request, 'data') };
}

/** The 32-byte word at an index after the selector. */
function wordOf(data: Hex, index: number): Hex {
  const word = data.slice(10 + index * 64, 74 + index * 64);
  return word.length === 64 ? `0x${word}` : refuseAnswer('a transaction that is cut short');
}

function addressWord(address: Hex): Hex {
  return `0x${address.slice(2).padStart(64, '0')}`;
}

/** Checks the payment call and returns the order's key. */
function checkPayment({ data }: OrderCall, { payer, offer }: Agreement): Hex {
  if (!data.startsWith(paySelector)) refuseAnswer('a transaction that is no payment');
  if (wordOf(data, orderWords.payer) !== addressWord(payer)) refuseAnswer('an order for another payer');
  if (wordOf(data, orderWords.token) !== addressWord(offer.token)) refuseAnswer('an order in another token');
  if (BigInt(wordOf(data, orderWords.total)) !== offer.amount) refuseAnswer('an order over another amount');
  return wordOf(data, orderWords.metaData);
}

/** Exactly the amount, or the zero that Tether needs first. */
function checkApproval({ to, data }: OrderCall, spender: Hex, { token, amount }: Offer): void {
  if (to !== token || !data.startsWith(approveSelector))
    refuseAnswer('a prerequisite that is no approval of the token');
  if (wordOf(data, 0) !== addressWord(spender)) refuseAnswer('an approval for another account');
  const approved = BigInt(wordOf(data, 1));
  if (approved !== amount && approved !== 0n) refuseAnswer('an approval of another amount');
}

interface ConsentTerms {
  readonly agreement: Agreement;
  readonly executor: Hex;
  readonly orderId: Hex;
  readonly metaData: Hex;
}

/** Alternatives without a gas cost for the payer; omits others. */
function consentOf(alternative: unknown, terms: ConsentTerms): PayingSignature[] {
  const method = member(alternative, 'method');
  if (member(alternative, 'gasless') !== true || (method !== 'eip3009' && method !== 'permit2')) return [];
  const types = method === 'eip3009' ? authorizationTypes : permitTypes;
  const primaryType = method === 'eip3009' ? 'ReceiveWithAuthorization' : 'PermitWitnessTransferFrom';
  const given = member(alternative, 'typedData');
  const message = typedMessage(types, primaryType, member(given, 'message'));
  const domain = domainOf(
    member(given, 'domain'),
    terms,
    method === 'eip3009' ? terms.agreement.offer.token : permit2Address,
  );
  if (method === 'eip3009') checkAuthorization(message, terms);
  else checkPermit(message, terms);
  const isOrderNamed = member(alternative, 'submit', 'body', 'orderId') !== undefined;
  return [{ method, typedData: { domain, types, primaryType, message }, isOrderNamed }];
}

function domainOf(domain: unknown, { agreement }: ConsentTerms, contract: Hex): TypedData['domain'] {
  if (addressOf(domain, 'verifyingContract') !== contract) refuseAnswer('a signature for another contract');
  if (String(member(domain, 'chainId')) !== String(agreement.offer.chainId))
    refuseAnswer('a signature on another chain');
  const version = member(domain, 'version');
  return {
    name: textOf(domain, 'name'),
    ...(typeof version === 'string' ? { version } : {}),
    chainId: agreement.offer.chainId,
    verifyingContract: contract,
  };
}

function isSame(value: unknown, address: Hex): boolean {
  return typeof value === 'string' && value.toLowerCase() === address;
}

function checkAuthorization(message: Record<string, unknown>, terms: ConsentTerms): void {
  const { agreement, executor, orderId } = terms;
  if (!isSame(message['from'], agreement.payer) || !isSame(message['to'], executor))
    refuseAnswer('an authorization between others');
  if (message['value'] !== agreement.offer.amount) refuseAnswer('an authorization of another amount');
  // The order's own id as nonce makes all attempts one payment.
  if (!isSame(message['nonce'], orderId)) refuseAnswer('an authorization of another order');
}

function checkPermit(message: Record<string, unknown>, terms: ConsentTerms): void {
  const { agreement, executor, metaData } = terms;
  const { offer, payer } = agreement;
  const [permitted, order] = [message['permitted'], message['witness']];
  if (!isSame(message['spender'], executor)) refuseAnswer('a permit for another account');
  if (!isSame(member(permitted, 'token'), offer.token) || member(permitted, 'amount') !== offer.amount)
    refuseAnswer('a permit of another amount');
  if (!isSame(member(order, 'payer'), payer) || !isSame(member(order, 'metaData'), metaData))
    refuseAnswer('a permit of another order');
}
