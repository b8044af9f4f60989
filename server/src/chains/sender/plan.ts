import { calls, parseFeeHistory, revertDataOf } from '../rpc/actions.ts';
import { parseQuantity } from '../rpc/parse.ts';
import { type Rpc, resultOf } from '../rpc/rpc.ts';
import { finalTransactionCount, requireChain, type SenderContext } from './context.ts';
import { type FeeMarket, feeHistoryBlocks, initialFees, tipOf, tipPercentile } from './fees.ts';
import { GasLimitExceeded, type RevertedPlan, type SendPlan, type SendRequest } from './sent.ts';

/** The call that asks for what `readFeeMarket` reads. */
export const feeMarketCall = calls.feeHistory(feeHistoryBlocks, tipPercentile);

/** Reads the answer to `feeMarketCall`. */
export function readFeeMarket(context: SenderContext, result: unknown): FeeMarket {
  const { nextBaseFee, tips } = parseFeeHistory(result);
  return { nextBaseFee, tip: tipOf(tips, context.settings.minTip) };
}

/** Asks the network what a call needs now; see `Sender.plan`. */
export async function planTransaction(
  context: SenderContext,
  chainId: number,
  request: SendRequest,
): Promise<SendPlan | RevertedPlan> {
  const chain = requireChain(context, chainId);
  const rpc: Rpc = context.rpcOf(chainId);
  const call = { from: context.wallet.address, to: request.to, data: request.data };
  const [estimate, history] = await rpc.batch([calls.estimateGas(call), feeMarketCall]);
  if (estimate !== undefined && 'error' in estimate) {
    const data = revertDataOf(estimate.error);
    if (data !== undefined) return { reverted: true, data };
  }
  const gas = parseQuantity('gas estimate', resultOf(estimate));
  // A fifth more: state changes between the estimate and the block, and some nodes estimate sharply.
  const gasLimit = (gas * 12n) / 10n;
  if (gasLimit > context.settings.maxGas) {
    throw new GasLimitExceeded(
      `a ${request.purpose} transaction needs ${gasLimit} gas, over ${context.settings.maxGas}`,
    );
  }
  const market = readFeeMarket(context, resultOf(history));
  const fees = initialFees(market, context.maxFeePerGas);
  const nonceFloor = await finalTransactionCount(context, chain, rpc);
  return {
    ...request,
    ...fees,
    baseFee: market.nextBaseFee,
    chainId,
    wallet: context.wallet.address,
    gasLimit,
    nonceFloor,
  };
}
