import Type, { type Static } from 'typebox';
import { routeStatus } from './capability.ts';
import { sessionDeposit, sessionStatuses } from './session.ts';

/** One token on one chain that can pay, with its cost. */
export const checkoutOption = Type.Object({
  tokenId: Type.String(),
  chainId: Type.String(),
  chainTitle: Type.String(),
  symbol: Type.String(),
  decimals: Type.Integer(),
  /** The payer's total; "0" while the payer has not chosen an amount. */
  amountInToken: Type.String(),
  total: Type.String(),
  /** The part of the total that is a fee on top of the price; "0" when the merchant pays it. */
  fee: Type.String(),
  /** Before the payer chooses an amount: the lowest and highest price that this token accepts, in Micro-USD. */
  least: Type.Optional(Type.String()),
  most: Type.Optional(Type.String()),
  status: routeStatus,
  secondsToFinal: Type.Integer(),
});
export type CheckoutOption = Static<typeof checkoutOption>;

/** A one-use address: a transfer of the exact amount to it pays, from any sender. */
const shownDeposit = Type.Object({
  /** The order that a wallet pays instead. */
  orderId: Type.String(),
  tokenId: Type.String(),
  address: Type.String(),
  /** Where money goes that does not pay, shortened: others who have the page's link need not know it. */
  refundTo: Type.String(),
  amountInToken: Type.String(),
  /** EIP-681, for wallets that read it. */
  transferUri: Type.String(),
  /** Unix seconds: the last block time at which a transfer is in time. */
  payUntil: Type.Integer(),
  /** The least amount that counts as paid, where it is less than the full amount. */
  leastInToken: Type.Optional(Type.String()),
  /** Unix seconds: until then a late deposit may be accepted. */
  lateUntil: Type.Optional(Type.Integer()),
});
export type ShownDeposit = Static<typeof shownDeposit>;

const pageDeposit = Type.Object({
  ...sessionDeposit.properties,
  /** The wallet's order of an address that was asked for without the session's secret: only the page that asked shows it. */
  onlyFor: Type.Optional(Type.String()),
  /** Present where it is at the address that the session's pages show. */
  isShown: Type.Optional(Type.Literal(true)),
});
export type PageDeposit = Static<typeof pageDeposit>;

/** The state of a session, as its page shows it. It contains no secrets. */
export const checkoutState = Type.Object({
  sessionId: Type.String(),
  status: Type.Enum(sessionStatuses),
  /** Whether a payment may still begin. */
  isPayable: Type.Boolean(),
  /** Present once an order was signed for a payer: money may be on its way. */
  isSigned: Type.Optional(Type.Literal(true)),
  /** Unix seconds. */
  expiresAt: Type.Integer(),
  /** Price in Micro-USD. */
  amount: Type.String(),
  initiateTx: Type.String(),
  completeTx: Type.String(),
  pendingReason: Type.String(),
  /** The seen payment, as its chain shows it, and its depth. */
  payment: Type.Optional(
    Type.Object({
      tokenId: Type.String(),
      chainId: Type.String(),
      /**
       * Of a deposit it is the refund address: anyone may have sent the money. Shortened: payers know theirs, and others who
       * have the page's link need not.
       */
      payer: Type.String(),
      isDeposit: Type.Boolean(),
      /** What the payer paid in all, and the part of it that is a fee on top of the price. */
      amountInToken: Type.String(),
      total: Type.String(),
      fee: Type.String(),
      confirmations: Type.Integer(),
      /** About how many confirmations a payment needs at present to be final. */
      confirmationsWanted: Type.Integer(),
    }),
  ),
  /** Present while the payment's chain is halted, and where it took the payment back: `status` is as before the payment was final. */
  isInDoubt: Type.Optional(Type.Literal(true)),
  /** ISO 8601, or empty. */
  paidAt: Type.String(),
  settledAt: Type.String(),
  /** The receipt's number; empty before the payment is final. */
  receiptId: Type.String(),
  /**
   * What the receipt calls the merchant: the names when the payment became final. Absent before that, and for payments from
   * before such names were kept: then pages show the present names.
   */
  receiptNames: Type.Optional(Type.Object({ merchant: Type.String(), legalName: Type.String() })),
  /** Where the receipt goes by e-mail, shortened: others who have the page's link need not know it. */
  receiptTo: Type.Optional(Type.String()),
  /** What has arrived at deposit addresses while the payment is incomplete. */
  deposits: Type.Array(pageDeposit),
  /**
   * What has arrived at addresses that other pages asked for without the session's secret. It may be a stranger's, so that the
   * page names the end of the address alone.
   */
  apart: Type.Optional(Type.Array(sessionDeposit)),
  /** While a payment may begin: the address that the session's pages show for plain transfers. */
  shownDeposit: Type.Optional(shownDeposit),
  /** Money that arrived and paid nothing. */
  exceptions: Type.Array(
    Type.Object({
      kind: Type.Enum(['underpaid', 'overpaid', 'late', 'wrong_token', 'duplicate']),
      tokenId: Type.String(),
      symbol: Type.String(),
      decimals: Type.Integer(),
      amount: Type.String(),
      /**
       * goes: goes back by itself. by_hand: too little for that; anyone with a wallet can send it back. waits: the
       * merchant may accept it until `heldUntil`; then it goes, or waits_by_hand. goes_later: the merchant refused it;
       * it goes after that. second: a second payment by a wallet, which goes back unless the merchant accepts it first.
       * taken: the merchant accepted it. accepted: it came late or short, and becomes the payment. closed: the merchant
       * marked it as resolved. back: the payer has it.
       */
      outcome: Type.Enum([
        'goes',
        'by_hand',
        'waits',
        'waits_by_hand',
        'goes_later',
        'second',
        'taken',
        'accepted',
        'closed',
        'back',
      ]),
      /** Unix seconds; 0 where nothing waits. */
      heldUntil: Type.Integer(),
      /** Whether its order was asked for without the session's secret, so that it need not be of the secret's owner. */
      isUnproven: Type.Boolean(),
      /** The transaction that gave it back, and its chain. */
      returned: Type.Optional(Type.Object({ tx: Type.String(), chainId: Type.String() })),
    }),
  ),
  refunded: Type.String({ description: 'Micro-USD that went back to the payer' }),
  /** Whether that is everything that the payer paid. */
  isRefunded: Type.Boolean(),
  /** Only once paid: the merchant's message. */
  successText: Type.Optional(Type.String()),
  /** The way ahead to the shop, once a block has the payment. */
  successUrl: Type.Optional(Type.String()),
  /** Present where the page opens `successUrl` by itself. */
  returnsAlone: Type.Optional(Type.Literal(true)),
  /** The way back to the shop, while no block has a payment. */
  cancelUrl: Type.Optional(Type.String()),
});
export type CheckoutState = Static<typeof checkoutState>;

/** A state with the part of the page that shows it, as a tree of elements, and the page's title. */
export const shownState = Type.Object({ state: checkoutState, view: Type.Unknown(), title: Type.String() });
export type ShownState = Static<typeof shownState>;
