import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { StoredOrder } from '@florin/server/parts';
import { encodeFunctionData, parseAbi } from 'viem';
import type { Actors } from './actors.ts';
import { type BatchedCall, batchData } from './batch.ts';
import type { ChainModel } from './chain-model.ts';
import { batcherAddress, merchantAddress } from './configuration.ts';

const tokenAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

/** How many times the actor checks the result of a batch. */
const maxChecks = 25;
/** Batches after the payment. */
const maxAfterPayment = 4;

/**
 * Pays through a contract that makes unrelated calls in the same transaction. It sends tokens to gateway, vault and
 * merchant, some of them twice, withdraws fees and settles the order.
 */
export async function runBatchPayer(actors: Actors, sessionId: string): Promise<void> {
  const { random } = actors.world.options;
  const model = actors.anyChain();
  const order = await actors.prepare(sessionId, model, batcherAddress);
  if (order === undefined) return;
  const sender = actors.address('sender');
  let sentAfterPayment = 0;
  for (let check = 0; check < maxChecks; check += 1) {
    const isPaid = model.head.state.slots.get(order.order.metaData)?.orderId === order.orderId;
    if (!model.hasPending(sender) && (!isPaid || sentAfterPayment < maxAfterPayment)) {
      if (isPaid) sentAfterPayment += 1;
      const data = batchData(batchedCalls(actors, model, order, isPaid));
      actors.send(model, sender, { to: batcherAddress, data }, model.nextNonce(sender));
    }
    await actors.world.sleep(random.between(1_000, 6_000));
  }
}

function batchedCalls(
  actors: Actors,
  { chain }: ChainModel,
  order: StoredOrder,
  isPaid: boolean,
): readonly BatchedCall[] {
  const { random } = actors.world.options;
  const { gateway, vault } = chain;
  const { token } = order.order;
  const abi = paymentGatewayAbi;
  const fees = encodeFunctionData({ abi, functionName: 'withdrawFees', args: [token] });
  const settle = encodeFunctionData({ abi, functionName: 'settle', args: [[order.order]] });
  const transferCall = (): BatchedCall => {
    const to = random.pick([gateway, gateway, vault, vault, merchantAddress]);
    const value = BigInt(random.between(0, 3));
    return {
      to: token,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, value] }),
    };
  };
  const others = Array.from({ length: random.between(1, 4) }, () =>
    random.chance(0.3) ? { to: gateway, data: fees } : transferCall(),
  );
  const twice = random.chance(0.3) ? others.slice(0, 1) : [];
  // The contract refuses to settle an unpaid order. The refusal changes nothing.
  const settled = isPaid || random.chance(0.3) ? [{ to: gateway, data: settle }] : [];
  const paid = isPaid ? [] : [{ to: gateway, data: actors.payCall(order) }];
  const first = random.chance(0.5) ? others : [];
  return [...first, ...paid, ...settled, ...(first.length > 0 ? [] : others), ...twice];
}
