import { shorten } from '@florin/checkout';
import type { SeenPayment } from '#sessions/progress.ts';

/** A payment in a block, as pages show it. */
export function paymentOf({
  chainId,
  payer,
  amountInToken,
  total,
  fee,
  orderId: _orderId,
  isInDoubt: _isInDoubt,
  ...seen
}: SeenPayment) {
  return {
    ...seen,
    payer: shorten(payer),
    chainId: chainId.toString(),
    amountInToken: amountInToken.toString(),
    total: total.toString(),
    fee: fee.toString(),
  };
}
