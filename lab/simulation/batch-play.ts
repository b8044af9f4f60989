import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { StoredOrder } from '@florin/server/parts';
import { encodeFunctionData, parseAbi } from 'viem';
import type { Actors } from './actors.ts';
import { type BatchedCall, batchData } from './batch.ts';
import type { ChainModel } from './chain-model.ts';
import { batcherAddress, merchantAddress } from './places.ts';

const tokenAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

/** How many times the actor checks the result of a batch. */
const maxLooks = 25;
/** Batches after the payment. */
const mostAfter = 4;

/**
 * Pays through a contract that makes unrelated calls in the same transaction. It sends tokens to gateway, vault and
 * merchant, some of them twice, withdraws fees and settles the order.
 */
export async function playBatch(actor: Actors, sessionId: string): Promise<void> {
  const { random } = actor.world.options;
  const model = actor.anyChain();
  const order = await actor.prepare(sessionId, model, batcherAddress);
  if (order === undefined) return;
  const sender = actor.address('sender');
  let after = 0;
  for (let look = 0; look < maxLooks; look += 1) {
    const isPaid = model.head.state.slots.get(order.order.metaData)?.orderId === order.orderId;
    if (!model.isWaiting(sender) && (!isPaid || after < mostAfter)) {
      if (isPaid) after += 1;
      const data = batchData(callsAround(actor, model, order, isPaid));
      actor.send(model, sender, { to: batcherAddress, data }, model.nextNonce(sender));
    }
    await actor.world.sleep(random.between(1_000, 6_000));
  }
}

function callsAround(
  actor: Actors,
  { chain }: ChainModel,
  order: StoredOrder,
  isPaid: boolean,
): readonly BatchedCall[] {
  const { random } = actor.world.options;
  const { gateway, vault } = chain;
  const { token } = order.order;
  const abi = paymentGatewayAbi;
  const fees = encodeFunctionData({ abi, functionName: 'withdrawFees', args: [token] });
  const settle = encodeFunctionData({ abi, functionName: 'settle', args: [[order.order]] });
  const stray = (): BatchedCall => {
    const to = random.pick([gateway, gateway, vault, vault, merchantAddress]);
    const value = BigInt(random.between(0, 3));
    return {
      to: token,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, value] }),
    };
  };
  const others = Array.from({ length: random.between(1, 4) }, () =>
    random.chance(0.3) ? { to: gateway, data: fees } : stray(),
  );
  const twice = random.chance(0.3) ? others.slice(0, 1) : [];
  // The contract refuses to settle an unpaid order. The refusal changes nothing.
  const settled = isPaid || random.chance(0.3) ? [{ to: gateway, data: settle }] : [];
  const paid = isPaid ? [] : [{ to: gateway, data: actor.payCall(order) }];
  const first = random.chance(0.5) ? others : [];
  return [...first, ...paid, ...settled, ...(first.length > 0 ? [] : others), ...twice];
}
