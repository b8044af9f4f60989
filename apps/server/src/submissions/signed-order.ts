import { setImmediate } from 'node:timers/promises';
import type { Queryable } from '@florin/pg';
import type { SubmitPaymentBody } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { AuthorizationDeps } from '#authorizations/authorization.ts';
import { consentsOf } from '#authorizations/consent.ts';
import { isPaymentSignedBy, type SignatureClaim } from '#authorizations/signature.ts';
import { RpcError, RpcUnavailable } from '#chains/rpc/rpc.ts';
import type { TokenSigning } from '#chains/token-signing.ts';
import { findOrder, findOrders, isCollectedOnly } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { recentOrders } from './submission.sql.ts';

/** An order with the nonce that its payer has signed it with. */
export interface SignedOrder {
  readonly order: StoredOrder;
  readonly nonce: bigint;
}

export interface SignedOrderDeps
  extends Pick<AuthorizationDeps, 'chains' | 'cryptography' | 'payerChain' | 'admitWalletCall'> {
  readonly gasless: Pick<NonNullable<AuthorizationDeps['gasless']>, 'signingOf'>;
}

/**
 * Orders of a session that a signature is compared with when the request names none, the newest first: about a millisecond
 * of processor time each. Anybody may prepare orders for a session, and more of them than this hide older ones.
 */
const comparedOrders = 120;
/** After so many, others have their turn in the process. */
const comparedAtOnce = 10;
/** Orders of accounts whose code may have to be asked, so that a request costs no more calls to chains. */
const askedOrders = 20;

/** Asks a chain; refuses with chain_unavailable when it gives no answer. */
export async function asking<T>(chainName: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcError)
      throw new Refusal('chain_unavailable', chainName);
    throw error;
  }
}

/**
 * The order of the session that its own payer has signed by this method: the one that the request names, whatever others
 * have been prepared since, or else the newest that the signature fits. 100601 when there is none.
 */
export async function signedOrder(
  queryable: Queryable,
  deps: SignedOrderDeps,
  body: SubmitPaymentBody,
): Promise<SignedOrder> {
  const orders = await ordersInQuestion(queryable, body);
  const consenting = consentReader(deps, body);
  const asked: Candidate[] = [];
  let isMethodKnown = false;
  // What a key has signed needs no chain to be found: anybody may prepare orders for contracts, and to ask those first would
  // use up what the caller may have run of their code.
  for (const [index, order] of orders.entries()) {
    if (index % comparedAtOnce === comparedAtOnce - 1) await setImmediate();
    const candidates = await consenting.candidatesOf(order);
    isMethodKnown ||= candidates.length > 0;
    for (const candidate of candidates) {
      if (!isOfKey(deps, candidate)) continue;
      if (await isPaymentSignedBy(deps, candidate.claim)) return { order, nonce: candidate.nonce };
    }
    if (index < askedOrders) asked.push(...candidates.filter((candidate) => !isOfKey(deps, candidate)));
  }
  for (const { order, claim, nonce } of asked)
    if (await isPaymentSignedBy(deps, claim)) return { order, nonce };
  if (consenting.silence !== undefined) throw consenting.silence;
  if (orders.length > 0 && !isMethodKnown) throw new Refusal('method_not_available', body.method);
  throw new Refusal('signature_invalid', { param: 'signature' });
}

/** An order of the session, and what its payer would have signed. */
interface Candidate extends SignedOrder {
  readonly claim: SignatureClaim;
}

function isOfKey({ cryptography }: SignedOrderDeps, { claim }: Candidate): boolean {
  return cryptography.recover(claim.digest, claim.signature) === claim.payer.toLowerCase();
}

async function ordersInQuestion(
  queryable: Queryable,
  { sessionId, orderId }: SubmitPaymentBody,
): Promise<readonly StoredOrder[]> {
  if (orderId !== undefined) {
    const order = await findOrder(queryable, orderId.toLowerCase());
    // What is only ever collected nobody may pay by a signature.
    const isPayable = order?.sessionId === sessionId && !isCollectedOnly(order);
    if (!isPayable)
      throw new Refusal('field_invalid', { param: 'orderId', detail: 'no order of the session' });
    return [order];
  }
  const rows = await queryable.query(recentOrders, [sessionId, comparedOrders]);
  const ids = rows.map((row) => row.order_id);
  const orders = new Map((await findOrders(queryable, ids)).map((order) => [order.orderId as string, order]));
  return ids.flatMap((id) => orders.get(id) ?? []);
}

/** Reads the consents to orders of one session, asking for each token's domain once. */
function consentReader(deps: SignedOrderDeps, { method, signature }: SubmitPaymentBody) {
  const signings = new Map<string, TokenSigning | undefined>();
  const reader = {
    /** Told when no order of another chain is the one. */
    silence: undefined as Refusal | undefined,
    async candidatesOf(order: StoredOrder): Promise<readonly Candidate[]> {
      const chain = deps.chains.byId(order.chainId);
      if (chain === undefined) return [];
      if (!signings.has(order.tokenId))
        signings.set(order.tokenId, await signingOf(order.tokenId, chain.name));
      const signing = signings.get(order.tokenId);
      if (signing === undefined || !signing.permits.has(method)) return [];
      const { payer } = order.order;
      const place = { gateway: gatewayOf(order, chain), domain: signing.domain };
      return consentsOf(method, order, place).map(({ digest, nonce }) => ({
        ...{ order, nonce },
        claim: { chainId: order.chainId, payer, digest, signature: signature.toLowerCase() as Hex },
      }));
    },
  };
  const signingOf = async (tokenId: string, chainName: string): Promise<TokenSigning | undefined> => {
    const token = deps.chains.token(tokenId);
    if (token === undefined) return undefined;
    try {
      return await asking(chainName, () => deps.gasless.signingOf(token));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reader.silence = error;
      return undefined;
    }
  };
  return reader;
}
