import { hash } from 'node:crypto';
import { batched, type Queryable, type Transaction } from '@florin/pg';
import { authorizationLifeSeconds } from '@florin/protocol/agent.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { agentDomainName } from '@florin/protocol/typed-data.ts';
import { parseAddress } from '@florin/signing';
import { unixSeconds } from '#outside/clock.ts';
import {
  type AuthorizationRow,
  authorizationByNonce,
  authorizationsByNonces,
  insertAuthorization,
  payerLock,
} from './authorization.sql.ts';
import type { AuthorizationContext } from './context.ts';
import type { AgentMessage } from './cryptography.ts';
import { isAuthorizedBy } from './signature.ts';

/** A signed message, parsed to the fields that its claims need. Nothing in it is verified yet. */
export interface SignedMessage {
  readonly purpose: AgentMessage['purpose'];
  /** Checksummed. */
  readonly payer: Hex;
  /** Lower case. */
  readonly nonce: Hex;
  readonly paymentChainId: bigint;
  /** Checksummed. */
  readonly paymentToken: Hex;
  readonly expiresAtSeconds: bigint;
  readonly digest: Hex;
  /** Lower case. */
  readonly signature: Hex;
}

const maxUint256 = 2n ** 256n - 1n;

/**
 * Reads a message that passed its schema. Refuses addresses with a wrong checksum and integers beyond uint256, both
 * with 400101: a message that passes has exactly one digest.
 */
export function parseSignedMessage(
  deps: Pick<AuthorizationContext, 'serviceDomain' | 'cryptography'>,
  agentMessage: AgentMessage,
  signature: string,
): SignedMessage {
  const { purpose, message } = agentMessage;
  if ('amount' in message) parseUint256('amount', message.amount);
  return {
    purpose,
    payer: addressOf('payer', message.payer),
    nonce: message.authorizationNonce.toLowerCase() as Hex,
    paymentChainId: parseUint256('paymentChainId', message.paymentChainId),
    paymentToken: addressOf('paymentToken', message.paymentToken),
    expiresAtSeconds: parseUint256('authorizationExpiresAt', message.authorizationExpiresAt),
    digest: deps.cryptography.digest(agentDomainName(deps.serviceDomain), agentMessage),
    signature: signature.toLowerCase() as Hex,
  };
}

function addressOf(field: string, text: string): Hex {
  const address = parseAddress(text);
  if (address === undefined) throw fieldRefusal(`message.${field}`, 'has a wrong checksum');
  return address;
}

function parseUint256(field: string, text: string): bigint {
  const value = BigInt(text);
  if (value > maxUint256) throw fieldRefusal(`message.${field}`, 'is larger than a uint256');
  return value;
}

/** Hashes a signature for storage. The hash can be compared with another signature's, and serves nothing else. */
export function signatureHash(signature: Hex): string {
  return hash('sha256', signature);
}

/** The key of a claim: the signer and the nonce. */
type ClaimKey = Pick<SignedMessage, 'payer' | 'nonce'>;

/** Finds what a nonce was claimed for. */
export type ClaimFinder = (key: ClaimKey) => Promise<AuthorizationRow | undefined>;

/** A finder that sends one query per request, in the caller's transaction if it is given one. */
export function claimFinder(queryable: Queryable): ClaimFinder {
  return async ({ payer, nonce }) =>
    (await queryable.query(authorizationByNonce, { payer: payer.toLowerCase(), nonce }))[0];
}

/** Look-ups that arrive while two are under way share the next round trip (lab/bench/README.md). */
const groupLimits = { maxSize: 64, maxInFlight: 2, maxWaiting: 10_000 };

/** A finder for many concurrent requests, which share round trips. */
export function groupClaimFinder(queryable: Queryable): ClaimFinder {
  const findOne = claimFinder(queryable);
  return batched(async (keys: readonly ClaimKey[]) => {
    const [only, ...others] = keys;
    if (only !== undefined && others.length === 0) return [await findOne(only)];
    const payers = keys.map(({ payer }) => payer.toLowerCase());
    const rows = await queryable.query(authorizationsByNonces, {
      payers,
      nonces: keys.map(({ nonce }) => nonce),
    });
    const found = new Map(rows.map((row) => [`${row.payer} ${row.nonce}`, row]));
    return keys.map(({ nonce }, index) => found.get(`${payers[index]} ${nonce}`));
  }, groupLimits);
}

/** What an authorization created when its nonce was claimed. */
export interface ClaimedAuthorization {
  readonly sessionId: string;
  /** Empty for authorizations that created a session. */
  readonly orderId: string;
}

/**
 * The result of an earlier request with this nonce when this one is its retry; undefined when the nonce is new. Refuses
 * any other use of a known nonce (100604). Asks the chain only when the same message has another signature.
 */
export async function findClaimed(
  find: ClaimFinder,
  deps: AuthorizationContext,
  signed: SignedMessage,
): Promise<ClaimedAuthorization | undefined> {
  const row = await findRow(find, signed);
  if (row === undefined) return undefined;
  const isRetry =
    row.signature_hash === signatureHash(signed.signature) || (await isSignatureValid(deps, signed));
  if (!isRetry) throw new Refusal('nonce_used');
  return { sessionId: row.session_id, orderId: row.order_id };
}

async function findRow(find: ClaimFinder, signed: SignedMessage): Promise<AuthorizationRow | undefined> {
  const row = await find(signed);
  if (row !== undefined && (row.digest !== signed.digest || row.purpose !== signed.purpose)) {
    throw new Refusal('nonce_used');
  }
  return row;
}

/** The configured chain that a message names; undefined for every other number. */
export function paymentChainOf(deps: AuthorizationContext, signed: SignedMessage) {
  const { paymentChainId } = signed;
  return paymentChainId <= BigInt(Number.MAX_SAFE_INTEGER)
    ? deps.chains.byId(Number(paymentChainId))
    : undefined;
}

/** Whether the payer signed a message. Asks the payer's chain. */
export async function isSignatureValid(deps: AuthorizationContext, signed: SignedMessage): Promise<boolean> {
  const chain = paymentChainOf(deps, signed);
  if (chain === undefined) return false;
  const { payer, digest, signature } = signed;
  return isAuthorizedBy(deps, { chainId: chain.chainId, payer, digest, signature });
}

/** Refuses (100606) a message whose purpose is not the one of its endpoint. */
export function assertPurpose(agentMessage: AgentMessage): void {
  const { purpose, message } = agentMessage;
  if (message.purpose !== purpose) {
    throw new Refusal('purpose_mismatch', { param: 'message.purpose', detail: `must be ${purpose}` });
  }
}

/** Refuses authorizations that have expired (100602) or expire too far ahead (100603). */
export function assertInTime(deps: AuthorizationContext, signed: SignedMessage): void {
  const now = BigInt(unixSeconds(deps.clock.now()));
  const latest = now + BigInt(authorizationLifeSeconds.maximum);
  const param = 'message.authorizationExpiresAt';
  if (signed.expiresAtSeconds <= now) throw new Refusal('authorization_expired', { param });
  if (signed.expiresAtSeconds > latest) {
    throw new Refusal('authorization_too_far', {
      param,
      detail: `at most ${authorizationLifeSeconds.maximum} s from now`,
    });
  }
}

/** Refuses (100601) a message that the payer did not sign. Comes last, because it alone costs a call to the chain. */
export async function assertSigned(deps: AuthorizationContext, signed: SignedMessage): Promise<void> {
  if (!(await isSignatureValid(deps, signed))) throw new Refusal('signature_invalid', { param: 'signature' });
}

/** Serializes the payer's authorizations until the transaction ends. */
export async function lockPayer(
  transaction: Transaction,
  { payer }: Pick<SignedMessage, 'payer'>,
): Promise<void> {
  await transaction.query(payerLock, { of: payer.toLowerCase() });
}

/**
 * Locks the payer's authorizations and reads the nonce again. Returns the result of an identical concurrent request, or
 * undefined when this request may claim the nonce. Call after the signature is verified.
 */
export async function beginClaim(
  transaction: Transaction,
  signed: SignedMessage,
): Promise<ClaimedAuthorization | undefined> {
  await lockPayer(transaction, signed);
  const row = await findRow(claimFinder(transaction), signed);
  return row === undefined ? undefined : { sessionId: row.session_id, orderId: row.order_id };
}

/** Claims the nonce for the rows created under it, in the same transaction. */
export async function claim(
  transaction: Transaction,
  signed: SignedMessage,
  result: ClaimedAuthorization & { at: Date },
): Promise<void> {
  await transaction.query(insertAuthorization, {
    ...{ ...signed, ...result },
    payer: signed.payer.toLowerCase(),
    signatureHash: signatureHash(signed.signature),
    createdAt: result.at,
  });
}
