import Type, { type Static } from 'typebox';
import { paymentAlternative, prerequisite, txRequest } from './agent-view.ts';

/** One order of the hosted page: as a payer's wallet pays it, its receipt, and the money that the payer can take back. */

/** The facts with which a wallet adds an unknown network (EIP-3085). */
export const networkFacts = Type.Object({
  rpcUrl: Type.String(),
  explorer: Type.String({ description: 'Without a slash at the end; empty when there is none' }),
  currency: Type.Object({ name: Type.String(), symbol: Type.String(), decimals: Type.Integer() }),
});
export type NetworkFacts = Static<typeof networkFacts>;

/** An order signed for one payer, and the transactions that pay it. */
export const preparedOrder = Type.Object({
  orderId: Type.String(),
  /** Unix seconds. */
  deadline: Type.String(),
  gateway: Type.String(),
  amountInToken: Type.String(),
  /** The transactions to send first, in order. */
  prerequisites: Type.Array(prerequisite),
  payment: txRequest,
  /** Other ways to pay the same order, the one with the fewest steps for the payer first. */
  alternatives: Type.Array(paymentAlternative),
  /** For wallets that do not know the network; absent where none is public. */
  network: Type.Optional(networkFacts),
});
export type PreparedOrder = Static<typeof preparedOrder>;

/** The one-use address with which a plain transfer pays a prepared order; undefined where the service takes none. */
export function depositWayOf({ alternatives }: Pick<PreparedOrder, 'alternatives'>) {
  const { address, ...way } = alternatives.find(({ method }) => method === 'deposit') ?? {};
  return address === undefined ? undefined : { ...way, address };
}

/** A payment in the form that the kit checks against the chain without trusting the service. */
export const receipt = Type.Object({
  chainId: Type.String(),
  gateway: Type.String(),
  orderId: Type.String(),
  order: Type.Record(Type.String(), Type.String()),
  lineItems: Type.Array(Type.Unknown()),
  salt: Type.String(),
  /** The chain shows paidAt and the transactions; only the service states the others (decision 68). */
  receiptId: Type.String(),
  sessionId: Type.String(),
  /** The merchant's names when the payment became final; the legal name is empty where the merchant gave none. */
  merchantName: Type.String(),
  legalName: Type.String(),
  paidAt: Type.String(),
  payerEmail: Type.String(),
  sourceTx: Type.String(),
  targetTx: Type.String(),
});
export type SessionReceipt = Static<typeof receipt>;

/** The money that can be taken back, and the call that does it; every caller's call pays the order's refund address. */
export const claimReply = Type.Object({
  amount: Type.String(),
  symbol: Type.String(),
  decimals: Type.Integer(),
  /** Unix seconds: the latest time from which the contract releases it. */
  after: Type.Integer(),
  /**
   * Only where there is money that the contract releases now: the call names the whole refund address, which others who
   * have the page's link need not know before that.
   */
  txRequest: Type.Optional(txRequest),
});
export type Claim = Static<typeof claimReply>;
