import type { MerchantWorld } from '../harness/merchant-fixture.ts';
import { addLateDeposit, addPaidSession, happen } from '../harness/payment-fixture.ts';
import type { IdKind } from './operation.ts';

type Ids = Record<IdKind, string[]>;

/** The objects of one merchant. */
export interface Tenant {
  readonly merchantId: string;
  readonly key: string;
  readonly ids: Ids;
}

/** A merchant with one object of each kind that the API can create. */
export async function addTenant(world: MerchantWorld, mark: string): Promise<Tenant> {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const account = await world.addAccount(merchantId);
  return { merchantId, key, ids: await stock(world, { key, account, mark }) };
}

/** Sessions that are paid and not settled: one is already refunded, the others can be. */
const paidSessions = 3;

/** Makes a payer reclaim a payment, which raises an exception; returns its id. */
async function exceptionOf(world: MerchantWorld, shop: { key: string; accountId: string }): Promise<string> {
  const { order } = await addPaidSession(world, shop);
  await happen(world, order, 'Reclaimed');
  const { data } = await world.send('GET', '/exception/list/1/1', { key: shop.key });
  return data.exceptions[0].exceptionId;
}

/** Creates one object of each kind. */
export async function stock(
  world: MerchantWorld,
  { key, account, mark }: { key: string; account: string; mark: string },
): Promise<Ids> {
  const make = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const reply = await world.send('POST', path, { key, body });
    if (reply.code !== 0) throw new Error(`${path}: ${reply.text}`);
    return reply.data as Record<string, unknown>;
  };
  const idOf = async (name: string, path: string, body: unknown) => String((await make(path, body))[name]);
  const product = await idOf('productId', '/product/create', { name: mark, commonPrices: [1_000_000] });
  const webhook = await idOf('webhookId', '/webhook/create', {
    webhookName: mark,
    webhookUrl: 'https://hooks.example.com/',
    subscribedEvents: ['*'],
  });
  const shared = { accountId: account, settlementToken: 'ethereum::usdc' };
  const item = { itemType: 'product', productId: product, quantity: 1, unitPrice: 2_000_000 };
  const link = await idOf('linkId', '/payment/link/create', {
    ...shared,
    linkType: 'fixed',
    linkName: mark,
    feeModel: 1,
    lineItems: [item],
  });
  const session = await idOf('sessionId', '/session/checkout/create', {
    ...shared,
    lineItems: [item],
    metadata: { mark },
  });
  const test = await make('/webhook/test', { webhookId: webhook });
  const paid = await Promise.all(
    Array.from({ length: paidSessions }, () =>
      addPaidSession(world, { key, accountId: account, metadata: { mark } }),
    ),
  );
  const [refunded = '', ...refundable] = paid.map(({ sessionId }) => sessionId);
  const refund = await idOf('refundId', '/refund/create', { sessionId: refunded, reason: mark });
  const settled = await addPaidSession(world, { key, accountId: account });
  await happen(world, settled.order, 'Settled');
  const refundToSign = await idOf('refundId', '/refund/create', { sessionId: settled.sessionId });
  const period = { type: 'payments', from: 0, to: 1, format: 'csv' };
  const report = await idOf('reportId', '/report/create', period);
  return {
    account: [account],
    product: [product],
    link: [link],
    session: [session, refunded, ...refundable],
    webhook: [webhook],
    event: [String(test['eventId'])],
    delivery: [String(test['deliveryId'])],
    refund: [refund, refundToSign],
    report: [report],
    exception: [
      await exceptionOf(world, { key, accountId: account }),
      (await addLateDeposit(world, { key, accountId: account })).exceptionId,
    ],
  };
}
