import assert from 'node:assert/strict';
import type { MerchantWorld } from './merchant-fixture.ts';
import { item, linkFields, type Things, webhookFields } from './merchant-routes.ts';
import { addLateDeposit, addPaidSession, happen } from './payment-fixture.ts';

/** A merchant, its secret key, and its objects. */
export interface Shop {
  readonly merchantId: string;
  readonly key: string;
  readonly things: Things;
}

/** A merchant with one thing of each kind. */
export async function openShop(world: MerchantWorld): Promise<Shop> {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  const post = async (path: string, body: object) => {
    const reply = await world.send('POST', path, { key, body });
    assert.equal(reply.code, 0, `${path}: ${reply.message}`);
    return reply.data;
  };
  const product = { name: 'Tea', commonPrices: [10_000_000] };
  const { productId } = await post('/product/create', product);
  const { productId: spareProductId } = await post('/product/create', product);
  const named = { accountId, productId } as Things;
  const { linkId } = await post('/payment/link/create', linkFields(named));
  const session = { accountId, settlementToken: 'ethereum::usdc', lineItems: [item(productId)] };
  const { sessionId } = await post('/session/checkout/create', session);
  const { webhookId } = await post('/webhook/create', webhookFields);
  const { webhookId: spareWebhookId } = await post('/webhook/create', webhookFields);
  const { deliveryId, eventId } = await post('/webhook/test', { webhookId });
  const [paid, returned, settled] = [
    await addPaidSession(world, { key, accountId }),
    await addPaidSession(world, { key, accountId }),
    await addPaidSession(world, { key, accountId }),
  ];
  await happen(world, settled.order, 'Settled');
  const { refundId: waitingRefundId } = await post('/refund/create', { sessionId: settled.sessionId });
  const { refundId } = await post('/refund/create', { sessionId: returned.sessionId });
  const report = { type: 'payments', from: 0, to: 1, format: 'csv' };
  const { reportId } = await post('/report/create', report);
  const reclaimed = await addPaidSession(world, { key, accountId });
  await happen(world, reclaimed.order, 'Reclaimed');
  const { exceptions } = (await world.send('GET', '/exception/list/1/1', { key })).data;
  const late = await addLateDeposit(world, { key, accountId });
  const other = await addLateDeposit(world, { key, accountId });
  const things = {
    ...{ accountId, productId, spareProductId, linkId, sessionId, refundId, waitingRefundId, reportId },
    exceptionId: exceptions[0].exceptionId,
    ...{ lateExceptionId: late.exceptionId, otherExceptionId: other.exceptionId },
    ...{ webhookId, spareWebhookId, deliveryId, eventId, paidSessionId: paid.sessionId },
  };
  return { merchantId, key, things };
}
