/** How an order moves the money (contracts/src/interfaces/IPaymentGateway.sol). */
export const orderKinds = { escrow: 0, direct: 1, vaultPayout: 2, cctp: 3 } as const;

export type OrderType = (typeof orderKinds)[keyof typeof orderKinds];

/**
 * How a payment in the settlement token itself reaches its merchant: held by the gateway until the service settles it,
 * or forwarded in the paying transaction.
 */
export const settlementModes = ['escrow', 'direct'] as const;
export type SettlementMode = (typeof settlementModes)[number];

export type Hex = `0x${string}`;

/**
 * The message that the service signs and the gateway accepts exactly once. Amounts in units of `token`, times in Unix
 * seconds.
 */
export interface Order {
  /** Hash of account id, account version and settlement token: an indexed topic for audits. */
  readonly channelId: Hex;
  /** 32 bytes committing to the line items and a salt: the single-use key of the session. */
  readonly metaData: Hex;
  readonly payer: Hex;
  readonly token: Hex;
  /** The merchant's settlement wallet. */
  readonly to: Hex;
  readonly total: bigint;
  readonly payment: bigint;
  readonly fee: bigint;
  /** Last second in which a block may include the payment. */
  readonly payBy: bigint;
  /** From this second on, the payer may reclaim an unsettled payment. */
  readonly reclaimAt: bigint;
  readonly orderType: OrderType;
  readonly targetChain: bigint;
  /** The vault that settlement pays, or the CCTP route that burns; the zero address for escrow and direct orders. */
  readonly via: Hex;
}

/** What the vault of the target chain pays for one settled order of another chain. */
export interface Payout {
  readonly orderId: Hex;
  readonly channelId: Hex;
  readonly metaData: Hex;
  readonly sourceChain: bigint;
  readonly token: Hex;
  readonly to: Hex;
  readonly amount: bigint;
  /** Last second in which a block may include the payout. */
  readonly deadline: bigint;
}
