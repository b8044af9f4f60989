import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

const oneTime = {
  itemType: 'one_time',
  quantity: 1,
  unitPrice: 5_000,
  productData: { productName: 'Cup' },
};

/** Each list with the id of its items; the id of a session is nested one level deeper. */
const lists = [
  ['/product/list', 'products', 'productId'],
  ['/payment/link/list', 'links', 'linkId'],
  ['/session/list/all', 'sessions', 'sessionId'],
  ['/refund/list', 'refunds', 'refundId'],
  ['/exception/list', 'exceptions', 'exceptionId'],
  ['/webhook/delivery/list/WEBHOOK', 'deliveries', 'deliveryId'],
] as const;

const addReturns = statement({
  name: 'list_cursor_test_returns',
  parameters: { merchantId: 'text' },
  text: `with own_order as (
     insert into orders (order_id, session_id, chain_id, token_id, channel_id, meta_data, payer, payer_email, token,
       recipient, total, payment, fee, pay_by, reclaim_at, order_type, target_chain, total_value, payment_value, fee_value,
       net_value, signature, created_at)
     select 'order of ' || session_id, session_id, 1, 'ethereum::usdc', '', '', '', '', '', '', 1, 1, 0, 0, 0, 0, 1, 1, 1, 0,
       1, '0x', now()
     from sessions where merchant_id = :merchantId
   ), refund as (
     insert into refunds (refund_id, merchant_id, session_id, order_id, amount, reason, status, created_at, updated_at)
     select 'rfd_' || session_id, :merchantId, session_id, 'order of ' || session_id, 1, '', 'completed', now(), now()
     from sessions where merchant_id = :merchantId
   )
   insert into exceptions (exception_id, merchant_id, session_id, order_id, kind, token_id, amount_in_token, payer,
     tx_hash, status, created_at, updated_at)
   select 'exc_' || session_id, :merchantId, session_id, 'order of ' || session_id, 'late', 'ethereum::usdc', 1, '', '', 'open',
     now(), now()
   from sessions where merchant_id = :merchantId`,
});

/** A merchant with three items in every list. */
async function shop() {
  const merchantId = await world.addMerchant();
  const [key, accountId] = [await world.addKey(merchantId), await world.addAccount(merchantId)];
  const post = async (path: string, body: object) => {
    const reply = await world.send('POST', path, { key, body });
    assert.equal(reply.code, 0, `${path}: ${reply.message}`);
    return reply.data;
  };
  const { webhookId } = await post('/webhook/create', {
    webhookName: 'hook',
    webhookUrl: 'https://shop.example.com/hook',
    subscribedEvents: ['webhook.test'],
  });
  const common = { accountId, settlementToken: 'ethereum::usdc', feeModel: 1 };
  for (let index = 0; index < 3; index += 1) {
    const { productId } = await post('/product/create', { name: 'Tea', commonPrices: [1_500_000] });
    const item = { itemType: 'product', productId, quantity: 1, unitPrice: 1_500_000 };
    await post('/payment/link/create', {
      ...{ ...common, linkType: 'fixed', linkName: `Tea ${index}` },
      lineItems: [item],
    });
    await post('/session/checkout/create', { ...common, lineItems: [oneTime] });
    await post('/webhook/test', { webhookId });
  }
  await world.database.db.query(addReturns, { merchantId });
  return (path: string) => world.send('GET', path.replace('WEBHOOK', webhookId), { key });
}

test('every list is read to its end by cursors, each item once, with the exact total', async () => {
  const list = await shop();
  for (const [path, name, id] of lists) {
    const idsOf = (data: Record<string, Record<string, Record<string, string>>[]>) =>
      (data[name] ?? []).map((item) => item['session']?.[id] ?? item[id]);
    const whole = await list(`${path}/1/100`);
    assert.deepEqual(
      [whole.data.total, whole.data.hasMore, whole.data.nextCursor],
      [3, false, ''],
      whole.message,
    );
    const first = await list(`${path}/1/2`);
    const rest = await list(`${path}/1/2?after=${first.data.nextCursor}`);
    assert.deepEqual([...idsOf(first.data), ...idsOf(rest.data)], idsOf(whole.data), path);
    assert.equal(new Set(idsOf(whole.data)).size, 3, path);
    assert.deepEqual(
      [first.data.hasMore, rest.data.hasMore, rest.data.nextCursor, rest.data.total],
      [true, false, '', 3],
      path,
    );
  }
});

test('a cursor that names no item of the merchant is refused with its name', async () => {
  const [own, other] = [await shop(), await shop()];
  for (const [path] of lists) {
    const { nextCursor } = (await other(`${path}/1/2`)).data;
    for (const after of [nextCursor, 'none', 'x'.repeat(65)]) {
      const reply = await own(`${path}/1/2?after=${after}`);
      assert.equal(reply.code, 400_101, `${path} ${after}`);
      assert.equal(reply.data?.param ?? 'after', 'after');
    }
  }
});
