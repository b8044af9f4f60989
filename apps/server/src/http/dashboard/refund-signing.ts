import type { Rpc } from '@florin/evm';
import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import { cancelRefund } from '#refunds/cancellation.ts';
import type { RefundContext } from '#refunds/refund.ts';
import { endSigning, readSigning, reportSigning, returnReader, startSigning } from '#refunds/signing.ts';
import type { MerchantCaller, MerchantRoutes } from '../operations/once.ts';
import { memberOf } from './visitor.ts';

/** Who signs a refund in the browser's wallet, so that two members never sign the same one. */
export function addRefundSigningRoutes(
  add: MerchantRoutes,
  deps: RefundContext & { readonly rpcOf: (chainId: number) => Rpc },
): void {
  const hasReturnedNothing = returnReader(deps);
  add.read(routes.getRefundSigning, async ({ params: { refundId }, caller }, db) => {
    const { signing: found, status } = await readSigning(db, { ...signerOf(caller), refundId });
    if (found === undefined) return { status };
    const { orderId: _orderId, ...signing } = found;
    return { status, signing: { ...signing, returnedNothing: await hasReturnedNothing(db, found) } };
  });

  add.action(routes.startRefundSigning, async ({ body, caller }, transaction) => {
    await startSigning(transaction, deps, { insteadOf: '', ...signerOf(caller), ...body });
  });

  add.action(routes.reportRefundSigning, ({ body, caller }, transaction) =>
    reportSigning(transaction, { ...signerOf(caller), ...body }),
  );

  add.action(routes.endRefundSigning, ({ body, caller }, transaction) =>
    endSigning(transaction, { ...signerOf(caller), ...body }),
  );

  add.action(routes.withdrawSignedRefund, async ({ body: { refundId, signingId }, caller }, transaction) => {
    const { merchantId } = caller;
    await cancelRefund(transaction, deps, { merchantId, refundId, despite: signingId });
  });
}

function signerOf(caller: MerchantCaller): { merchantId: string; userId: string } {
  const { merchantId, actor } = memberOf(caller);
  return { merchantId, userId: actor.id };
}
