import { setImmediate } from 'node:timers/promises';
import { RpcError, RpcUnavailable } from '@florin/evm';
import type { Queryable } from '@florin/pg';
import type { SubmitPaymentBody } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { consentsOf } from '#authorizations/consent.ts';
import { isPaymentSignedBy, type SignatureClaim } from '#authorizations/signature.ts';
import type { TokenSigning } from '#contracts/token-signing.ts';
import { findOrder, findOrders, isCollectedOnly } from '#orders/order.ts';
import { spenderOf } from '#orders/order-gateway.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SubmissionContext } from './context.ts';
import { recentOrders } from './submission.sql.ts';

/** An order with the nonce that its payer signed. */
export interface SignedOrder {
  readonly order: StoredOrder;
  readonly nonce: bigint;
}

type SignedOrderContext = Pick<
  SubmissionContext,
  'chains' | 'cryptography' | 'payerChain' | 'admitWalletCall'
> & { readonly gasless: Pick<SubmissionContext['gasless'], 'signingOf'> };

/**
 * How many orders of a session are compared with a signature when the request names none, the newest first. Each takes
 * about a millisecond of processor time. Anyone can prepare orders for a session, and more than this many hide older
 * ones.
 */
const comparedOrders = 120;
/** After this many, the process serves other requests. */
const comparedAtOnce = 10;
/** How many orders may need a call to account code, which bounds the calls of one request. */
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
 * The order of the session that its own payer signed by this method: the one that the request names, or the newest that
 * the signature fits. Refuses with 100601 when there is none.
 */
export async function signedOrder(
  queryable: Queryable,
  deps: SignedOrderContext,
  body: SubmitPaymentBody,
): Promise<SignedOrder> {
  const orders = await ordersInQuestion(queryable, body);
  const consenting = consentReader(deps, body);
  const asked: Candidate[] = [];
  let isMethodKnown = false;
  // A key's signature is found without the chain, so keys come first. Anyone can prepare orders for contracts, and
  // asking those first would use up the caller's share of code runs.
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

/** An order of the session with the consent that its payer would have signed. */
interface Candidate extends SignedOrder {
  readonly claim: SignatureClaim;
}

function isOfKey({ cryptography }: SignedOrderContext, { claim }: Candidate): boolean {
  return cryptography.recover(claim.digest, claim.signature) === claim.payer.toLowerCase();
}

async function ordersInQuestion(
  queryable: Queryable,
  { sessionId, orderId }: SubmitPaymentBody,
): Promise<readonly StoredOrder[]> {
  if (orderId !== undefined) {
    const order = await findOrder(queryable, orderId.toLowerCase());
    // A deposit that is only collected cannot be paid by a signature.
    const isPayable = order?.sessionId === sessionId && !isCollectedOnly(order);
    if (!isPayable)
      throw new Refusal('field_invalid', { param: 'orderId', detail: 'no order of the session' });
    return [order];
  }
  const rows = await queryable.query(recentOrders, { sessionId, limit: comparedOrders });
  const ids = rows.map((row) => row.order_id);
  const orders = new Map((await findOrders(queryable, ids)).map((order) => [order.orderId as string, order]));
  return ids.flatMap((id) => orders.get(id) ?? []);
}

/** Reads the consents to orders of one session, asking for each token's domain once. */
function consentReader(deps: SignedOrderContext, { method, signature }: SubmitPaymentBody) {
  const signings = new Map<string, TokenSigning | undefined>();
  const reader = {
    /** Thrown when no order of another chain fits. */
    silence: undefined as Refusal | undefined,
    async candidatesOf(order: StoredOrder): Promise<readonly Candidate[]> {
      const chain = deps.chains.byId(order.chainId);
      if (chain === undefined) return [];
      if (!signings.has(order.tokenId))
        signings.set(order.tokenId, await signingOf(order.tokenId, chain.name));
      const signing = signings.get(order.tokenId);
      if (signing === undefined || !signing.permits.has(method)) return [];
      const gateway = spenderOf(order, chain);
      if (gateway === undefined) return [];
      const { payer } = order.order;
      const place = { gateway, domain: signing.domain };
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
