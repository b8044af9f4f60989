import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { cancelRefund, createRefund, findRefund, findSession } from '@florin/server/parts';
import { encodeFunctionData } from 'viem';
import type { Actors } from './actors.ts';
import { merchantAddress } from './configuration.ts';

/** How many times an actor checks whether its next step is possible. */
const maxChecks = 40;

/** Pays, and reclaims as soon as the contract allows it, regardless of the settlement's progress. */
export async function runReclaimingPayer(actors: Actors, sessionId: string): Promise<void> {
  const { world } = actors;
  const model = actors.anyChain();
  const payer = actors.address('payer 0');
  const order = await actors.prepare(sessionId, model, payer);
  if (order === undefined) return;
  actors.send(model, payer, { to: model.chain.gateway, data: actors.payCall(order) });
  const data = encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'reclaim', args: [order.order] });
  for (let check = 0; check < maxChecks; check += 1) {
    await world.sleep(2_000);
    const isPaid = model.head.state.slots.get(order.order.metaData)?.orderId === order.orderId;
    if (!isPaid || BigInt(world.seconds()) < order.order.reclaimAt) continue;
    actors.send(model, payer, { to: model.chain.gateway, data }, model.nextNonce(payer));
    return;
  }
}

/**
 * A merchant who refunds a settled payment: requests the refund and sends the transaction that the service names. Half of
 * them cancel the refund before, as another program of the same merchant would: the return counts all the same.
 */
export async function runRefundingMerchant(actors: Actors, sessionId: string): Promise<void> {
  const { world } = actors;
  const { merchantId } = world;
  for (let check = 0; check < maxChecks; check += 1) {
    await world.sleep(3_000);
    const status = await actors.ask(async ({ db }) => (await findSession(db, sessionId))?.status ?? 'none');
    if (status === undefined || status === 'none') return;
    if (status !== 'completed') continue;
    const refundId = await actors.ask(async ({ db, deps }) => {
      const body = { sessionId };
      const refund = await db.transaction((transaction) =>
        createRefund(transaction, deps, { merchantId, body }),
      );
      return refund.refundId;
    });
    if (refundId === undefined) return;
    const refund = await actors.ask(({ db, deps }) => findRefund(db, deps, { merchantId, refundId }));
    if (refundId.charCodeAt(refundId.length - 1) % 2 === 0)
      await actors.ask(({ db, deps }) =>
        db.transaction((transaction) => cancelRefund(transaction, deps, { merchantId, refundId })),
      );
    await sendRefund(actors, refund?.txRequest);
    return;
  }
}

async function sendRefund(
  actors: Actors,
  request: { readonly chainId: string; readonly to: string; readonly data: string } | undefined,
): Promise<void> {
  if (request === undefined) return;
  const model = actors.world.models.find(({ chain }) => String(chain.chainId) === request.chainId);
  if (model === undefined) return;
  const call = { to: request.to as Hex, data: request.data as Hex };
  // All sessions share one wallet. A transaction whose nonce is already taken is requested again.
  for (let check = 0; check < maxChecks; check += 1) {
    const hash = actors.send(model, merchantAddress, call, model.nextNonce(merchantAddress));
    await actors.world.sleep(8_000);
    const isMined = model
      .canonical()
      .some(({ transactions }) => transactions.some(({ transaction }) => transaction.hash === hash));
    if (isMined) return;
  }
}
