import type { CallOptions, Send } from './client.ts';
import { type List, openList } from './list.ts';
import type { SdkOutside } from './outside.ts';
import { type SendRefundOptions, type SentRefund, sendRefund } from './refund-sending.ts';
import type { RefundWallet } from './wallet.ts';
import type { Refund, RefundCreateRequest, RefundFilter } from './wire.gen.ts';

/** A refund that can be signed where it needs that. */
export type SendableRefund = Refund & {
  /**
   * Sends a refund that `requires_signature` from the merchant's wallet, and resolves once its transaction is in a block.
   * `refund.completed` comes when it is final. Before anything is signed it compares the chain with the service, so that no
   * part goes back twice; after a crash call it again. Repeated on the same object it sends nothing more. A wallet on another
   * chain, or with another account than the one that the payment was settled to, is refused before it is asked.
   */
  send(wallet: RefundWallet, options?: SendRefundOptions): Promise<SentRefund>;
};

export interface Refunds {
  /**
   * Sends a payment or a part of it back to its payer. Before the settlement the service does it (`pending`); after it your
   * wallet has the money and signs (`requires_signature`): then call `send`. With `exceptionId` it is the second payment of
   * an exception `duplicate_settled`. Refused with `refund_exceeds`, `refund_not_possible`, `session_not_found`,
   * `exception_not_found`.
   *
   * @example
   * const refund = await florin.refunds.create({ sessionId, amount: usd('1') }, { idempotencyKey: 'return 7' });
   * if (refund.status === 'requires_signature') await refund.send(walletClient);
   */
  create(request: RefundCreateRequest, options?: CallOptions): Promise<SendableRefund>;
  /**
   * Cancels a refund that waits for your wallet and was not signed; a repeat changes nothing. Refused with
   * `refund_not_cancellable`, `refund_being_signed`, `refund_not_found`.
   */
  cancel(refundId: string, options?: CallOptions): Promise<Refund>;
  /** Reads a refund. Refused with `refund_not_found`. */
  retrieve(refundId: string, options?: CallOptions): Promise<SendableRefund>;
  /** Refunds of every status, newest first: of all sessions, or of one. */
  list(filter?: RefundFilter, options?: CallOptions): List<SendableRefund>;
}

export function refundsOf(send: Send, outside: SdkOutside): Refunds {
  const sendable = (refund: Refund): SendableRefund => {
    let sent: Promise<SentRefund> | undefined;
    const sendOnce: SendableRefund['send'] = (wallet, options) => {
      sent ??= sendRefund({ send, outside, refund, wallet, options }).catch((error: unknown) => {
        // Nothing was sent, or the chain shows it: the next call finds out.
        sent = undefined;
        throw error;
      });
      return sent;
    };
    // Not enumerable: a refund that is stored or logged is the service's answer alone.
    return Object.defineProperty({ ...refund, send: sendOnce }, 'send', { enumerable: false });
  };
  return {
    create: async (body, options) => sendable(await send('createRefund', { body }, options)),
    cancel: (refundId, options) => send('cancelRefund', { body: { refundId } }, options),
    retrieve: async (refundId, options) =>
      sendable(await send('getRefund', { params: { refundId } }, options)),
    list: (filter, options) => openList(send, 'listRefunds', { items: 'refunds', filter }, options, sendable),
  };
}
