import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Queryable } from '@florin/pg';
import { type SessionSearchBody, searchReach } from '@florin/protocol/session-search.ts';
import fc from 'fast-check';
import { wordsOf } from '#db/words.ts';
import { isDeepRun } from '../../test/harness/deep-only.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { linkFields, type Things } from '../../test/harness/merchant-routes.ts';
import {
  addLinks,
  addNoise,
  changeEmails,
  fillMany,
  forgetWords,
  insertSessions,
  nameLink,
  paidRow,
  setLink,
} from './search.fixture.ts';
import { searchSessions } from './search.ts';
import { indexSessions } from './search-index.ts';

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

const indexAll = async () => {
  while (await world.database.db.transaction((transaction) => indexSessions(transaction)));
};

async function search(merchantId: string, body: SessionSearchBody, showsEmail = true) {
  const { page, portions } = await searchSessions(world.database.db.inScope(merchantId), {
    ...{ merchantId, body, showsEmail },
  });
  const found: string[] = [];
  for await (const portion of portions) found.push(...portion.map(({ session }) => session.sessionId));
  return { ...page, found };
}

const hex = (value: number, length: number) => `0x${value.toString(16).padStart(length, '0')}`;
const base = 1_700_000_000;
const words = ['tea', 'Teapot', 'grün', 'order-17', 'order_18', 'ORD', 'a1'] as const;
const email = fc.constantFrom('', 'jane@tea.example', 'Jane.Doe@shop.example');
const metadataValue = fc.oneof(
  fc.constantFrom(...words, 'two words', ''),
  fc.integer({ min: 0, max: 3 }),
  fc.boolean(),
);
const metadata = fc.dictionary(fc.constantFrom('ref', 'note', 'n'), metadataValue, { maxKeys: 3 });
const row = fc.record({
  sessionType: fc.constantFrom('chk' as const, 'lnk' as const),
  linkId: fc.constantFrom('', 'lnk_a', 'lnk_ab'),
  accountId: fc.constantFrom(0, 1),
  amount: fc.integer({ min: 1, max: 12 }),
  products: fc.uniqueArray(fc.constantFrom('prd_a', 'prd_b'), { maxLength: 2 }),
  productName: fc.constantFrom(...words),
  metadata: fc.oneof(
    metadata,
    fc.constant({ many: Array.from({ length: 600 }, (_, n) => `w${n}`).join(' '), ref: 'tea' }),
  ),
  status: fc.constantFrom('initialized' as const, 'paid' as const, 'completed' as const),
  refundedAmount: fc.constantFrom(0, 3),
  payer: fc.constantFrom('', '0xAa00000000000000000000000000000000000001'),
  payerEmail: email,
  paidToken: fc.constantFrom('', 'ethereum::usdc'),
  initiateTx: fc.constantFrom('', hex(1, 64), hex(2, 64)),
  completeTx: fc.constantFrom('', hex(3, 64)),
  paidAt: fc.option(fc.integer({ min: 0, max: 400 })),
  // Creation follows the order of insertion but for a margin.
  late: fc.integer({ min: 0, max: 30 }),
});
/** Mostly absent: all conditions at once meet nothing. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const query = fc.record({
  status: maybe(fc.constantFrom('paid' as const, 'completed' as const)),
  sessionType: maybe(fc.constant('lnk' as const)),
  isRefunded: maybe(fc.boolean()),
  linkId: maybe(fc.constantFrom('lnk_a', 'lnk_x')),
  productId: maybe(fc.constantFrom('prd_a', 'prd_c')),
  payer: maybe(fc.constantFrom('0xaa00000000000000000000000000000000000001', '0x0')),
  payerEmail: maybe(fc.constantFrom('JANE@tea.example', 'jane@tea')),
  paidToken: maybe(fc.constantFrom('ethereum::usdc')),
  txHash: maybe(fc.constantFrom(hex(1, 64), hex(3, 64), hex(9, 64))),
  createdFrom: maybe(fc.integer({ min: 0, max: 900 })),
  createdTo: maybe(fc.integer({ min: 0, max: 900 })),
  paidFrom: maybe(fc.integer({ min: 0, max: 1_300 })),
  paidTo: maybe(fc.integer({ min: 0, max: 1_300 })),
  amountFrom: maybe(fc.integer({ min: 0, max: 12 })),
  amountTo: maybe(fc.integer({ min: 0, max: 12 })),
  metadata: maybe(fc.dictionary(fc.constantFrom('ref', 'note', 'n'), metadataValue, { maxKeys: 1 })),
  text: maybe(
    fc.constantFrom(
      'tea',
      'TEAP',
      'order 17',
      'jane',
      'lnk_a',
      'prd_b',
      'two w',
      'grü',
      'GRU',
      'example',
      'w3',
      'w599',
    ),
  ),
});

interface Known {
  readonly sessionId: string;
  readonly row: typeof row extends fc.Arbitrary<infer Row> ? Row : never;
  readonly accountId: string;
  readonly createdAt: number;
}

/** What a search must find, said once more without an index. */
function isMeant(
  { sessionId, row, accountId, createdAt }: Known,
  body: SessionSearchBody,
  showsEmail: boolean,
) {
  const paidAt = row.paidAt === null ? undefined : createdAt + row.paidAt;
  const within = (value: number | undefined, from: number | undefined, to: number | undefined) =>
    (from === undefined || (value !== undefined && value >= from)) &&
    (to === undefined || (value !== undefined && value <= to));
  const equals = (wanted: string | undefined, ...values: string[]) =>
    wanted === undefined || values.some((value) => value.toLowerCase() === wanted.toLowerCase());
  const values: Record<string, unknown> = row.metadata;
  const ids = [sessionId, accountId, row.linkId, row.payer, row.initiateTx, row.completeTx, ...row.products];
  const names = row.products.map(() => row.productName);
  const own = [...new Set([...ids, ...names, ...Object.values(values).map(String)].flatMap(wordsOf))].slice(
    0,
    500,
  );
  const emailWords = showsEmail ? wordsOf(row.payerEmail) : [];
  return (
    equals(body.status, row.status) &&
    equals(body.sessionType, row.sessionType) &&
    (body.isRefunded === undefined || body.isRefunded === row.refundedAmount > 0) &&
    equals(body.accountId, accountId) &&
    equals(body.linkId, row.linkId) &&
    equals(body.productId, ...row.products) &&
    equals(body.payer, row.payer) &&
    equals(body.payerEmail, row.payerEmail) &&
    equals(body.paidToken, row.paidToken) &&
    equals(body.txHash, row.initiateTx, row.completeTx) &&
    within(createdAt, body.createdFrom, body.createdTo) &&
    within(paidAt, body.paidFrom, body.paidTo) &&
    within(row.amount, body.amountFrom, body.amountTo) &&
    Object.entries(body.metadata ?? {}).every(([key, value]) => values[key] === value) &&
    wordsOf(body.text ?? '').every(
      (word) =>
        [...own, ...emailWords].some((known) => known.startsWith(word)) ||
        (word.length >= 4 && sessionId.toLowerCase().endsWith(word)),
    )
  );
}

// proves W11.1
test('a search finds exactly the sessions that meet every condition, newest first, over all pages', async () => {
  const strangers = await world.addMerchant();
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 40 }),
      fc.array(fc.tuple(query, fc.boolean(), fc.integer({ min: 1, max: 7 })), {
        minLength: 20,
        maxLength: 40,
      }),
      async (rows, queries) => {
        const merchantId = await world.addMerchant();
        const accounts = [await world.addAccount(merchantId), await world.addAccount(merchantId)];
        const known = rows.map(
          (each, index): Known => ({
            sessionId: `sess_${merchantId.slice(4, 12)}${index}`,
            row: each,
            accountId: accounts[each.accountId] ?? '',
            createdAt: base + index * 25 - each.late,
          }),
        );
        await world.database.db.query(insertSessions, {
          merchantId,
          rows: JSON.stringify(known.map((session) => storedRow(session))),
        });
        await indexAll();
        for (const [{ ...asked }, showsEmail, size] of queries) {
          const body: SessionSearchBody = Object.fromEntries(
            Object.entries(asked)
              .filter(([name, value]) => value !== undefined && (showsEmail || name !== 'payerEmail'))
              .map(([name, value]) => [
                name,
                /^(created|paid)(From|To)$/.test(name) ? base + Number(value) : value,
              ]),
          );
          const meant = known
            .filter((session) => isMeant(session, body, showsEmail))
            .map((each) => each.sessionId);
          const found: string[] = [];
          for (let after: string | undefined; after !== ''; ) {
            const page = await search(merchantId, { ...body, size, ...(after && { after }) }, showsEmail);
            assert.equal(page.hasMore, page.nextCursor !== '');
            found.push(...page.found);
            after = page.nextCursor;
          }
          assert.deepEqual(found, meant.reverse(), JSON.stringify(body));
          assert.deepEqual((await search(strangers, body, showsEmail)).found, []);
        }
      },
    ),
    { numRuns: isDeepRun ? 15 : 4 },
  );
});

function storedRow({ sessionId, row, accountId, createdAt }: Known) {
  const { products, productName, metadata: values, paidAt, late: _, ...fields } = row;
  const items = products.map((productId) => ({
    ...{ lineItemId: 'li_1', itemType: 'product', productId, quantity: 1, unitPrice: 1 },
    productData: { productName, productDescription: '', imageUrl: '', attributes: [] },
  }));
  return {
    ...{ ...fields, sessionId, accountId, createdAt, paidAt: paidAt === null ? null : createdAt + paidAt },
    ...{ metadata: JSON.stringify(values), items: JSON.stringify(items) },
  };
}

/** A session with this address, and what finds it. */
async function addSession(payerEmail: string) {
  const merchantId = await world.addMerchant();
  const accountId = await world.addAccount(merchantId);
  const sessionId = `sess_${merchantId.slice(4)}`;
  await world.database.db.query(insertSessions, {
    merchantId,
    rows: paidRow({ sessionId, accountId, payerEmail }),
  });
  return { merchantId, sessionId };
}

test('a session is found by what it has now, not by what it had', async () => {
  const { merchantId, sessionId } = await addSession('old@example.com');
  await indexAll();
  await world.database.db.query(changeEmails, { sessionIds: [sessionId], payerEmail: 'new@example.com' });
  await indexAll();
  assert.deepEqual((await search(merchantId, { text: 'old' })).found, []);
  assert.deepEqual((await search(merchantId, { text: 'new' })).found, [sessionId]);
  assert.deepEqual((await search(merchantId, { payerEmail: 'new@example.com' })).found, [sessionId]);
});

test('a session is found by the present name of its link, without being changed', async () => {
  const { merchantId, sessionId } = await addSession('fair@example.com');
  const key = await world.addKey(merchantId);
  const post = async (path: string, body: object) => (await world.send('POST', path, { key, body })).data;
  const { productId } = await post('/product/create', { name: 'Tea', commonPrices: [10_000_000] });
  const accountId = await world.addAccount(merchantId);
  const fields = linkFields({ accountId, productId } as Things);
  const linkOf = async (linkName: string) =>
    (await post('/payment/link/create', { ...fields, linkName })).linkId as string;
  const [linkId] = [await linkOf('Autumn fair, Zürich'), await linkOf('Autumn market')];
  await world.database.db.query(setLink, { sessionId, linkId });
  await indexAll();
  const finds = async (text: string) => (await search(merchantId, { text })).found.length === 1;
  for (const text of ['autumn', 'AUTU zurich', 'zürich fair@example'])
    assert.equal(await finds(text), true, text);
  assert.equal(await finds('market'), false);
  await post('/payment/link/update', { linkId, ...fields, linkName: 'Spring fête' });
  await indexAll();
  assert.deepEqual([await finds('autumn'), await finds('spring fete fair')], [false, true]);
  assert.deepEqual((await search(await world.addMerchant(), { text: 'spring' })).found, []);
});

test('a name that another version of the program wrote is found like any other', async () => {
  const { merchantId, sessionId } = await addSession('fair@example.com');
  const accountId = await world.addAccount(merchantId);
  await world.database.db.query(addLinks, { merchantId, accountId, linkName: 'Café', count: 1 });
  const linkId = `lnk_${createHash('md5').update(`${merchantId}1`).digest('hex')}`;
  await world.database.db.query(setLink, { sessionId, linkId });
  await indexAll();
  assert.deepEqual((await search(merchantId, { text: 'cafe' })).found, [sessionId]);
  await world.database.db.query(nameLink, { linkId, linkName: 'Bistró' });
  await indexAll();
  assert.deepEqual((await search(merchantId, { text: 'cafe' })).found, []);
  assert.deepEqual((await search(merchantId, { text: 'bistro' })).found, [sessionId]);
});

test('a session is found by the end of its id, and by the shortened id that its payer sees', async () => {
  const { merchantId, sessionId } = await addSession('fair@example.com');
  const other = await addSession('fair@example.com');
  await indexAll();
  const short = `${sessionId.slice(0, 6)}…${sessionId.slice(-4)}`;
  for (const text of [sessionId, sessionId.slice(-4), sessionId.slice(-9), short, short.replace('…', '...')])
    assert.deepEqual([text, (await search(merchantId, { text })).found], [text, [sessionId]]);
  for (const text of [sessionId.slice(-3), `${sessionId.slice(-4)}x`, `sess_~…${sessionId.slice(-4)}x`])
    assert.deepEqual([text, (await search(merchantId, { text })).found], [text, []]);
  assert.deepEqual((await search(other.merchantId, { text: short })).found, []);
});

test('a part of a Chinese or Japanese name finds its payment', async () => {
  const merchantId = await world.addMerchant();
  const accountId = await world.addAccount(merchantId);
  const key = await world.addKey(merchantId);
  const name = '有機栽培の緑茶セット';
  const lineItems = [
    { itemType: 'one_time', quantity: 1, unitPrice: 1_000_000, productData: { productName: name } },
  ];
  const body = { accountId, settlementToken: 'ethereum::usdc', lineItems };
  const made = await world.send('POST', '/session/checkout/create', { key, body });
  assert.equal(made.code, 0, made.message);
  const { sessionId } = made.data;
  await indexAll();
  for (const text of [name, '緑茶', '茶', 'セット', 'の緑', '栽培 緑茶'])
    assert.deepEqual([text, (await search(merchantId, { text })).found], [text, [sessionId]]);
  for (const text of ['紅茶', '茶緑', '培有'])
    assert.deepEqual([text, (await search(merchantId, { text })).found], [text, []]);
});

test('a text of many words that many links have looks up few words', async () => {
  const { merchantId } = await addSession('many@example.com');
  const accountId = await world.addAccount(merchantId);
  const letters = [...'abcdefghij'];
  await world.database.db.query(addLinks, { merchantId, accountId, linkName: letters.join(' '), count: 80 });
  await indexAll();
  const scoped = world.database.db.inScope(merchantId);
  const asked: Record<string, unknown>[] = [];
  const queryable: Queryable = {
    query: (asking, ...values) => {
      asked.push(values[0] as Record<string, unknown>);
      return scoped.query(asking, ...values);
    },
  };
  const text = Array.from({ length: 100 }, (_, index) => letters[index % letters.length]).join(' ');
  const { page } = await searchSessions(queryable, { merchantId, body: { text }, showsEmail: true });
  assert.equal(page.hasMore, false);
  const sizeOf = (name: string) =>
    Math.max(...asked.map((values) => (Array.isArray(values[name]) ? values[name].length : 0)));
  // Each letter begins words of sessions and of addresses. All letters name the same links.
  assert.deepEqual([sizeOf('texts'), sizeOf('namedLinks'), sizeOf('lows')], [10, 50, 10 * 2 + 50]);
});

test('an index that was lost is made again', async () => {
  const { merchantId, sessionId } = await addSession('lost@example.com');
  await indexAll();
  await world.database.db.query(forgetWords);
  assert.deepEqual((await search(merchantId, { text: 'lost' })).found, []);
  await indexAll();
  assert.deepEqual((await search(merchantId, { text: 'lost' })).found, [sessionId]);
});

test('a batch that fails is indexed again', async () => {
  const { merchantId, sessionId } = await addSession('killed@example.com');
  const killed = world.database.db.transaction(async (transaction) => {
    await indexSessions(transaction);
    throw new Error('killed');
  });
  await assert.rejects(killed, { message: 'killed' });
  assert.deepEqual((await search(merchantId, { text: 'killed' })).found, []);
  await indexAll();
  assert.deepEqual((await search(merchantId, { text: 'killed' })).found, [sessionId]);
});

test('a search answers after its reach with what it has found, and goes on from there', async () => {
  const merchantId = await world.addMerchant();
  const accountId = await world.addAccount(merchantId);
  await world.database.db.query(fillMany, { merchantId, accountId, count: searchReach + 10 });
  await indexAll();
  const rare = await search(merchantId, { text: 'needle' });
  assert.deepEqual([rare.found.length, rare.hasMore], [1, false]);
  const paid = await search(merchantId, { status: 'paid' });
  assert.deepEqual([paid.found.length, paid.hasMore], [1, false]);
  // The only paid session is older than the reach of what every session has.
  const shared = [{ accountId }, { text: 'hay' }, { metadata: { ref: 'hay' } }];
  for (const body of shared) {
    const { found, hasMore } = await search(merchantId, { ...body, status: 'paid' });
    assert.deepEqual([found, hasMore], [paid.found, false], JSON.stringify(body));
  }
  // Every session has this amount and this account, so that the newest are judged first.
  const body = { amountTo: 1000, accountId, metadata: { ref: 'hay' }, createdFrom: 1 };
  const none = await search(merchantId, { ...body, status: 'completed', payer: '0x0' });
  assert.deepEqual([none.found, none.hasMore], [[], false]);
  const unpaid = await search(merchantId, { ...body, paidToken: 'ethereum::usdc' });
  assert.deepEqual([unpaid.found, unpaid.hasMore], [[], true]);
  const rest = await search(merchantId, { ...body, paidToken: 'ethereum::usdc', after: unpaid.nextCursor });
  assert.deepEqual([rest.found, rest.hasMore], [[], false]);
  // A frequent word that also names a link looks no further back than one that names none.
  await world.database.db.query(addLinks, { merchantId, accountId, linkName: 'Hay', count: 1 });
  const named = `lnk_${createHash('md5').update(`${merchantId}1`).digest('hex')}`;
  await world.database.db.query(setLink, { sessionId: paid.found[0] ?? '', linkId: named });
  await world.database.db.query(addNoise, { merchantId, accountId, count: searchReach + 10 });
  await indexAll();
  const hay = await search(merchantId, { text: 'hay', size: 5 });
  assert.deepEqual([hay.found.length, hay.hasMore], [5, true]);
});

test('a search with a cursor of another merchant, or without a word, is refused', async () => {
  const { sessionId } = await addSession('a@example.com');
  const merchantId = await world.addMerchant();
  await assert.rejects(search(merchantId, { after: sessionId }), { slug: 'field_invalid' });
  await assert.rejects(search(merchantId, { text: ' - ' }), { slug: 'field_invalid' });
});
