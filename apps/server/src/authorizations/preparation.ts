import { RpcError, RpcUnavailable } from '@florin/evm';
import type { Queryable, Transaction } from '@florin/pg';
import type { PreparePaymentBody } from '@florin/protocol/agent-api.ts';
import { isChainUnavailable, Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData, erc20Abi, parseAbi } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { permit2Address } from '#chains/shared-contract.ts';
import type { TokenSigning } from '#contracts/token-signing.ts';
import { findDeposit, type OrderWithTerms, prepareDeposit } from '#orders/deposit-terms.ts';
import { findOrder, quoteSession } from '#orders/order.ts';
import { admitOrder } from '#orders/order-limit.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { assertPayable, prepareOrder } from '#sessions/order-preparation.ts';
import { findSession, lockSession } from '#sessions/session.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import {
  assertInTime,
  assertPurpose,
  assertSigned,
  beginClaim,
  claim,
  claimFinder,
  findClaimed,
  parseSignedMessage,
  paymentChainOf,
  type SignedMessage,
} from './authorization.ts';
import { permit2Word } from './consent.ts';
import type { AuthorizationContext } from './context.ts';
import type { AgentMessage } from './cryptography.ts';

/** An order with its session and the chain that executes it. */
export interface AuthorizedOrder {
  readonly session: StoredSession;
  readonly order: StoredOrder;
  /** The order of the deposit address, where that has terms of its own. */
  readonly deposit: OrderWithTerms | undefined;
  readonly isReplay: boolean;
}

interface PaymentPlace {
  readonly chain: Chain;
  readonly token: Token;
}

/** A request to prepare a payment that passed every check, or was answered before. */
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
 * Checks a request to prepare a payment. The order of the checks decides which refusal a caller sees. Reads the
 * database first and the payer's chain last; writes nothing. Call outside a transaction.
 */
export async function checkPreparation(
  queryable: Queryable,
  deps: AuthorizationContext,
  body: PreparePaymentBody,
): Promise<CheckedPreparation> {
  const { message } = body;
  const agentMessage: AgentMessage = { purpose: 'prepare_payment', message };
  const signed = parseSignedMessage(deps, agentMessage, body.signature);
  const claimed = await findClaimed(claimFinder(queryable), deps, signed);
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
  deps: AuthorizationContext,
  checked: Extract<CheckedPreparation, { kind: 'new' }>,
  network = '',
): Promise<AuthorizedOrder> {
  const { signed, sessionId, payerEmail, token } = checked;
  const claimed = await beginClaim(transaction, signed);
  if (claimed !== undefined) return earlierOrder(transaction, claimed);
  const session = await lockSession(transaction, sessionId);
  if (session === undefined) throw new Error(`the session ${sessionId} is missing`);
  // Only the agent that signed can pay a session of its own.
  const proof = session.intendedPayer === '' ? ('signature' as const) : ('secret' as const);
  const request = { session, payer: signed.payer, payerEmail, proof, token, network };
  if (network !== '') await admitOrder(transaction, deps, request);
  const order = await prepareOrder(transaction, deps, request);
  const deposit = await prepareDeposit(transaction, deps, request, order);
  await claim(transaction, signed, { sessionId, orderId: order.orderId, at: deps.clock.now() });
  return { session: { ...session, signedOnce: true }, order, deposit, isReplay: false };
}

/** The payer's state on chain, which decides the ways to pay a checked request. */
export interface PayerState {
  /** How much the gateway may take from the payer now, in units of the token. */
  readonly allowance: bigint;
  /** The same for Permit2. */
  readonly permit2Allowance: bigint;
  /** The payer's used nonces in `permit2Word`, one bit each. */
  readonly usedNonces: bigint;
  /** Undefined where the service does not pay the gas. */
  readonly signing: TokenSigning | undefined;
}

/**
 * Reads the payer's state for a checked request. Call outside a transaction. Refuses a new request with
 * chain_unavailable when the chain does not answer.
 */
export async function payerStateFor(
  deps: AuthorizationContext,
  checked: CheckedPreparation,
): Promise<PayerState> {
  if (checked.kind === 'new') return readPayerState(deps, checked, checked.signed.payer);
  try {
    return await readPayerState(deps, checked, checked.authorized.order.order.payer);
  } catch (error) {
    // A retry is answered even without the chain. An unneeded approval costs the payer a little gas; a missing answer
    // could make an agent begin a second payment.
    if (isChainUnavailable(error))
      return { allowance: 0n, permit2Allowance: 0n, usedNonces: 0n, signing: undefined };
    throw error;
  }
}

/**
 * Reads a payer's state from the chain. Call outside a transaction. Refuses with chain_unavailable when there is no
 * answer.
 */
export async function readPayerState(
  deps: Pick<AuthorizationContext, 'payerChain' | 'gasless'>,
  place: PaymentPlace,
  payer: Hex,
): Promise<PayerState> {
  const [allowance, signing] = await Promise.all([
    readAllowance(deps, place, payer),
    readSigning(deps, place.token),
  ]);
  if (signing?.permits.has('permit2') !== true)
    return { allowance, permit2Allowance: 0n, usedNonces: 0n, signing };
  const [permit2Allowance, usedNonces] = await Promise.all([
    readAllowance(deps, place, payer, permit2Address),
    readUsedNonces(deps, place, payer),
  ]);
  return { allowance, permit2Allowance, usedNonces, signing };
}

async function readSigning(
  deps: Pick<AuthorizationContext, 'gasless'>,
  token: Token,
): Promise<TokenSigning | undefined> {
  try {
    return await deps.gasless?.signingOf(token);
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcError)
      throw new Refusal('chain_unavailable', token.chainName);
    throw error;
  }
}

/** How much a spender (the gateway by default) may take from a payer now, in units of the token. Asks the chain. */
async function readAllowance(
  deps: Pick<AuthorizationContext, 'payerChain'>,
  place: PaymentPlace,
  payer: Hex,
  spender: Hex = place.chain.gateway,
): Promise<bigint> {
  const { chain, token } = place;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [payer, spender] });
  return readWord(deps, chain, { to: token.address, data });
}

const nonceAbi = parseAbi(['function nonceBitmap(address owner, uint256 word) view returns (uint256)']);

function readUsedNonces(
  deps: Pick<AuthorizationContext, 'payerChain'>,
  { chain }: PaymentPlace,
  payer: Hex,
): Promise<bigint> {
  const args = [payer, permit2Word] as const;
  const data = encodeFunctionData({ abi: nonceAbi, functionName: 'nonceBitmap', args });
  return readWord(deps, chain, { to: permit2Address, data });
}

/** Far above what any token, or Permit2, needs for the read. */
const readGas = 500_000n;

async function readWord(
  { payerChain }: Pick<AuthorizationContext, 'payerChain'>,
  chain: Chain,
  call: { to: Hex; data: Hex },
): Promise<bigint> {
  const answer = await payerChain.callAt(chain.chainId, { ...call, gas: readGas });
  if (answer === undefined || !/^0x[0-9a-fA-F]{64}$/.test(answer)) {
    throw new Refusal('chain_unavailable', `the contract ${call.to} on ${chain.name} did not answer`);
  }
  return BigInt(answer);
}

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
  return { session, order, deposit: await findDeposit(queryable, order.orderId), isReplay: true };
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

/**
 * The chain and token that execute the payment. An ai_checkout session keeps the token whose amount its payer signed.
 */
function placeOf(deps: AuthorizationContext, session: StoredSession, signed: SignedMessage): PaymentPlace {
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

function placeOfOrder(deps: AuthorizationContext, order: StoredOrder): PaymentPlace {
  const chain = deps.chains.byId(order.chainId);
  const token = deps.chains.token(order.tokenId);
  if (chain === undefined || token === undefined) {
    throw new Refusal('payment_token_unsupported', `${order.tokenId} is no longer configured`);
  }
  return { chain, token };
}
