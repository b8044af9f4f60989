import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { indexSessions } from '#sessions/search-index.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';

const setPayer = statement({
  name: 'session_search_test_payer',
  parameters: { sessionId: 'text' },
  text: `update sessions set payer_email = 'jane@example.com' where session_id = :sessionId`,
});

let world: MerchantWorld;
let merchantId: string;
let key: string;
let sessionId: string;
before(async () => {
  world = await MerchantWorld.open();
  merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  const lineItems = [
    { itemType: 'one_time', quantity: 1, unitPrice: 5_000_000, productData: { productName: 'Blue cup' } },
  ];
  const accountId = await world.addAccount(merchantId);
  const body = { accountId, settlementToken: 'ethereum::usdc', lineItems, metadata: { orderNumber: 'A-17' } };
  const created = await world.send('POST', '/session/checkout/create', { key, body });
  sessionId = created.data.sessionId;
  await world.database.db.query(setPayer, { sessionId });
  while (await world.database.db.transaction((transaction) => indexSessions(transaction)));
});
after(() => world.close());

const search = (body: object, by = key) => world.send('POST', '/session/search', { key: by, body });
const idsOf = (data: { sessions: { session: { sessionId: string } }[] }) =>
  data.sessions.map(({ session }) => session.sessionId);

test('a search answers sessions in the shape of their read', async () => {
  const read = await world.send('GET', `/session/${sessionId}`, { key });
  const found = await search({ metadata: { orderNumber: 'A-17' } });
  assert.deepEqual(found.data, { sessions: [read.data], nextCursor: '', hasMore: false });
  for (const text of ['blue', sessionId, 'a-17', 'JANE'])
    assert.deepEqual(idsOf((await search({ text })).data), [sessionId]);
});

// proves W11.2
test('a key without payer_pii:read neither sees nor finds e-mail addresses', async () => {
  const restricted = await world.addKey(merchantId, { permissions: ['sessions:read'] });
  assert.deepEqual(idsOf((await search({ text: 'jane' }, restricted)).data), []);
  const [found] = (await search({ text: 'blue' }, restricted)).data.sessions;
  assert.equal(found.session.payerEmail, '');
  const refused = await search({ payerEmail: 'jane@example.com' }, restricted);
  assert.deepEqual([refused.status, refused.code], [403, 200103]);
  assert.deepEqual(idsOf((await search({ payerEmail: 'Jane@example.com' })).data), [sessionId]);
});

test('a search refuses unknown members, and values of another kind', async () => {
  const wrong = [
    { state: 'paid' },
    { status: 'gone' },
    { metadata: { a: {} } },
    { size: 101 },
    { createdFrom: -1 },
    { text: '' },
  ];
  for (const body of wrong) assert.equal((await search(body)).code, 400101, JSON.stringify(body));
});
