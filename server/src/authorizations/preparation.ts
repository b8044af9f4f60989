import type { PreparePaymentBody } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData, erc20Abi } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { Queryable, Transaction } from '#db/database.ts';
import { assertPayable, findOrder, prepareOrder, quoteSession } from '#sessions/order.ts';
import { findSession, lockSession } from '#sessions/session.ts';
import type { StoredOrder, StoredSession } from '#sessions/stored-session.ts';
import {
  type AuthorizationDeps,
  assertInTime,
  assertPurpose,
  assertSigned,
  beginClaim,
  claim,
  findClaimed,
  parseSignedMessage,
  paymentChainOf,
  type SignedMessage,
} from './authorization.ts';
import type { AgentMessage } from './cryptography.ts';

/** An order with the session that it pays, and where it is executed. */
export interface AuthorizedOrder {
  readonly session: StoredSession;
  readonly order: StoredOrder;
  readonly isReplay: boolean;
}

interface PaymentPlace {
  readonly chain: Chain;
  readonly token: Token;
}

/** A request to prepare a payment that has passed every check, or was answered before. */
export type CheckedPreparation = PaymentPlace &
  (
    | { readonly kind: 'earlier'; readonly authorized: AuthorizedOrder }
    | {
        readonly kind: 'new';
        readonly signed: SignedMessage;
        readonly sessionId: string;
        readonly payerEmail: string;
      }
  );

/**
 * Checks a request to prepare a payment, in the order that decides which refusal a caller sees. Reads the database and
 * then, last, the payer's chain; writes nothing. Call outside a transaction.
 */
export async function checkPreparation(
  queryable: Queryable,
  deps: AuthorizationDeps,
  body: PreparePaymentBody,
): Promise<CheckedPreparation> {
  const { message } = body;
  const agentMessage: AgentMessage = { purpose: 'prepare_payment', message };
  const signed = parseSignedMessage(deps, agentMessage, body.signature);
  const claimed = await findClaimed(queryable, deps, signed);
  if (claimed !== undefined) {
    const authorized = await earlierOrder(queryable, claimed);
    return { kind: 'earlier', authorized, ...placeOfOrder(deps, authorized.order) };
  }
  assertPurpose(agentMessage);
  const session = await findSession(queryable, message.sessionId);
  if (session === undefined) throw new Refusal('session_not_found', message.sessionId);
  assertPayable(session, deps.clock.now());
  if (message.merchantId !== session.merchantId)
    throw new Refusal('merchant_mismatch', { param: 'message.merchantId' });
  assertPayer(session, signed, message.payerEmail);
  const place = placeOf(deps, session, signed);
  assertInTime(deps, signed);
  await assertSigned(deps, signed);
  return { kind: 'new', signed, sessionId: session.sessionId, payerEmail: message.payerEmail, ...place };
}

/** Signs and stores the order of a checked request and claims its nonce, in one transaction. */
export async function prepareAuthorizedOrder(
  transaction: Transaction,
  deps: AuthorizationDeps,
  checked: Extract<CheckedPreparation, { kind: 'new' }>,
): Promise<AuthorizedOrder> {
  const { signed, sessionId, payerEmail, token } = checked;
  const claimed = await beginClaim(transaction, signed);
  if (claimed !== undefined) return earlierOrder(transaction, claimed);
  const session = await lockSession(transaction, sessionId);
  if (session === undefined) throw new Error(`the session ${sessionId} has vanished`);
  const order = await prepareOrder(transaction, deps, { session, payer: signed.payer, payerEmail, token });
  await claim(transaction, signed, { sessionId, orderId: order.orderId, at: deps.clock.now() });
  return { session: { ...session, signedOnce: true }, order, isReplay: false };
}

/**
 * What the gateway may take from the payer of a checked request now, in units of the token. Reads the chain: call
 * outside a transaction. A new request is refused with chain_unavailable when the token gives no answer.
 */
export async function allowanceFor(deps: AuthorizationDeps, checked: CheckedPreparation): Promise<bigint> {
  if (checked.kind === 'new') return readAllowance(deps, checked, checked.signed.payer);
  try {
    return await readAllowance(deps, checked, checked.authorized.order.order.payer);
  } catch (error) {
    // A retry is answered whatever the chain says: an approval too many costs the payer a little gas, no answer at all
    // could make an agent begin a second payment.
    if (error instanceof Refusal && error.slug === 'chain_unavailable') return 0n;
    throw error;
  }
}

async function readAllowance(deps: AuthorizationDeps, place: PaymentPlace, payer: Hex): Promise<bigint> {
  const { chain, token } = place;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [payer, chain.gateway] });
  const call = { to: token.address, data, gas: allowanceGas };
  const answer = await deps.payerChain.callAt(chain.chainId, call);
  if (answer === undefined || !/^0x[0-9a-fA-F]{64}$/.test(answer)) {
    throw new Refusal('chain_unavailable', `the token ${token.tokenId} told no allowance`);
  }
  return BigInt(answer);
}

/** Far above what any token needs for the read. */
const allowanceGas = 500_000n;

async function earlierOrder(
  queryable: Queryable,
  claimed: { sessionId: string; orderId: string },
): Promise<AuthorizedOrder> {
  const [session, order] = [
    await findSession(queryable, claimed.sessionId),
    await findOrder(queryable, claimed.orderId),
  ];
  if (session === undefined || order === undefined) {
    throw new Error(`an authorization names the unknown order ${claimed.orderId} of ${claimed.sessionId}`);
  }
  return { session, order, isReplay: true };
}

function assertPayer(session: StoredSession, signed: SignedMessage, payerEmail: string): void {
  const { intendedPayer } = session;
  if (intendedPayer !== '' && intendedPayer.toLowerCase() !== signed.payer.toLowerCase()) {
    throw new Refusal('payer_mismatch', { param: 'message.payer' });
  }
  if (session.payerEmailRequired && payerEmail === '') {
    throw new Refusal('payer_email_required', { param: 'message.payerEmail' });
  }
}

/** Where the payment is to be executed. An ai_checkout session keeps the token whose amount its payer has signed. */
function placeOf(deps: AuthorizationDeps, session: StoredSession, signed: SignedMessage): PaymentPlace {
  const chain = paymentChainOf(deps, signed);
  if (chain === undefined) {
    throw new Refusal('payment_token_unsupported', {
      param: 'message.paymentChainId',
      detail: 'unknown chain',
    });
  }
  const token = deps.chains.tokenAt(chain.chainId, signed.paymentToken);
  const param = 'message.paymentToken';
  if (token === undefined)
    throw new Refusal('payment_token_unsupported', { param, detail: signed.paymentToken });
  if (session.intendedToken !== '' && session.intendedToken !== token.tokenId) {
    throw new Refusal('payment_token_unsupported', {
      param,
      detail: `the session is for ${session.intendedToken}`,
    });
  }
  quoteSession(deps.chains, deps.rates, session, token);
  return { chain, token };
}

function placeOfOrder(deps: AuthorizationDeps, order: StoredOrder): PaymentPlace {
  const chain = deps.chains.byId(order.chainId);
  const token = deps.chains.token(order.tokenId);
  if (chain === undefined || token === undefined) {
    throw new Refusal('payment_token_unsupported', `${order.tokenId} is no longer configured`);
  }
  return { chain, token };
}
