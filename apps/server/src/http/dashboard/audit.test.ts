import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { actNamesOf } from '@florin/protocol/act-title.ts';
import { Browser, DashboardWorld, password } from '../../../test/harness/dashboard-world.ts';
import { item, webhookFields } from '../../../test/harness/merchant-routes.ts';

let world: DashboardWorld;
let browser: Browser;
let email: string;
let userId: string;
before(async () => {
  world = await DashboardWorld.open();
  const merchantId = await world.merchants.addMerchant();
  ({ email, userId } = await world.addPerson([[merchantId, 'owner']]));
  browser = new Browser(await world.serve('local'));
  await browser.post('/sign-in/password', { email, password });
  browser.merchantId = merchantId;
});
after(() => world.close());

interface Entry {
  readonly action: string;
  readonly actorId: string;
  readonly subject: string;
  readonly before: string;
  readonly after: string;
  readonly [field: string]: string;
}

async function log(): Promise<readonly Entry[]> {
  return (await browser.get('/audit/list')).data.entries;
}

test('a change is recorded with who, what, before, after, from where and when', async () => {
  const made = await browser.post('/product/create', { name: 'Tea', commonPrices: [1] });
  const { productId } = made.data;
  const changed = await browser.post('/product/update', { productId, name: 'Green tea', commonPrices: [2] });
  const [update, create] = await log();
  const { before, after, entryId, ...rest } = update ?? ({} as Entry);
  assert.deepEqual(rest, {
    ...{ action: 'updateProduct', subject: productId, at: world.merchants.clock.now().toISOString() },
    ...{ actorKind: 'member', actorId: userId, actorName: email },
    ...{ clientAddress: '192.0.2.1', userAgent: 'Test browser', requestId: changed.headers['request-id'] },
  });
  assert.match(entryId ?? '', /^aud_[0-9A-Za-z]{22}$/);
  assert.deepEqual([JSON.parse(before ?? '').name, JSON.parse(after ?? '').name], ['Tea', 'Green tea']);
  assert.deepEqual([create?.action, create?.subject, create?.before], ['createProduct', productId, '']);
});

test('a new name of the merchant is recorded with the old one, and its members see it', async () => {
  assert.equal((await browser.post('/merchant/rename', { merchantName: ' Tea & Co ' })).code, 0);
  const [{ action, before, after } = {} as Entry] = await log();
  assert.equal(action, 'renameMerchant');
  assert.notEqual(JSON.parse(before ?? '').merchantName, 'Tea & Co');
  assert.deepEqual(JSON.parse(after ?? ''), { merchantName: 'Tea & Co' });
  assert.equal((await browser.get('/me')).data.merchants[0].merchantName, 'Tea & Co');
  const blank = await browser.post('/merchant/rename', { merchantName: '   ' });
  assert.deepEqual([blank.code, blank.data], [400101, null]);
  const rename = (merchantName: string, ifMerchantName: string) =>
    browser.post('/merchant/rename', { merchantName, ifMerchantName });
  assert.equal((await rename('Tea', 'Coffee')).code, 100811);
  assert.equal((await rename('Tea', 'Tea & Co')).code, 0);
});

test('a saved file has one entry with what it has and its filters, and a statement that is looked at has none', async () => {
  const seen = (await log()).length;
  const report = { type: 'settlements', format: 'json', from: 0, to: 1 };
  assert.equal((await browser.post('/report/create', report)).code, 0);
  assert.equal((await log()).length, seen);
  const saved = { what: 'list of payments', format: 'csv', filters: 'status: completed' };
  assert.equal((await browser.post('/export/record', saved)).code, 0);
  const [{ action, actorName, after } = {} as Entry, ...others] = await log();
  assert.deepEqual([action, actorName, JSON.parse(after ?? '')], ['recordExport', email, saved]);
  assert.equal(others.length, seen);
  const offered = actNamesOf('merchant').map(({ value }) => value);
  assert.deepEqual([offered.includes('recordExport'), offered.includes('createReport')], [true, false]);
});

test('a refused change and a read record nothing', async () => {
  const seen = (await log()).length;
  assert.equal((await browser.post('/product/remove', { productId: 'prd_none' })).code, 100301);
  await browser.post('/product/list/ids', { productIds: [] });
  await browser.get('/product/list/1/10');
  assert.equal((await log()).length, seen);
});

test('a repeated request with one Idempotency-Key is recorded once, and keys of members are their own', async () => {
  const options = { body: { name: 'Cup', commonPrices: [1] }, headers: { 'idempotency-key': 'one' } };
  const first = await browser.send('POST', '/product/create', options);
  const again = await browser.send('POST', '/product/create', options);
  assert.deepEqual([again.data, again.headers['idempotent-replayed']], [first.data, 'true']);
  assert.equal((await log()).filter(({ subject }) => subject === first.data.productId).length, 1);
});

test('a session that a member makes is recorded, and shows the member no secret of its page', async () => {
  const accountId = await world.merchants.addAccount(browser.merchantId);
  const { productId } = (await browser.post('/product/create', { name: 'Tea', commonPrices: [1] })).data;
  const body = { accountId, settlementToken: 'ethereum::usdc', lineItems: [item(productId)] };
  const made = await browser.post('/session/checkout/create', body);
  assert.equal(made.code, 0, made.message);
  const [entry] = await log();
  assert.deepEqual([entry?.action, entry?.subject], ['createCheckoutSession', made.data.sessionId]);
});

test('the log holds neither keys nor secrets nor tokens', async () => {
  const webhook = (await browser.post('/webhook/create', webhookFields)).data;
  const refreshed = await browser.post('/webhook/key/refresh', { webhookId: webhook.webhookId });
  assert.equal(refreshed.code, 0);
  const { key } = (await browser.post('/key/create', { kind: 'secret' })).data;
  const { url } = (await browser.post('/invitation/create', { role: 'viewer' })).data;
  const now = (await browser.get(`/webhook/detail/${webhook.webhookId}`)).data.key;
  const text = JSON.stringify(await log());
  for (const secret of [webhook.key, now, key, url.split('#')[1]]) assert.equal(text.includes(secret), false);
});

test('the log is exported as CSV, which no spreadsheet runs', async () => {
  await browser.post('/product/create', { name: '=1+1 "quoted", with comma', commonPrices: [1] });
  const reply = await browser.get('/audit/list?format=csv');
  assert.match(String(reply.headers['content-type']), /^text\/csv/);
  const [head, first = ''] = reply.text.split('\r\n');
  assert.equal(head?.startsWith('"entryId","at","actorKind"'), true);
  assert.match(first, /^"aud_\w+","\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ".+"createProduct"/);
  assert.match(first, /=1\+1 \\""quoted\\"", with comma/);
  assert.equal(reply.headers['florin-next-cursor'], '');
});

test('the log is narrowed to who acted, to the act, to what it was on, and to a time, as JSON and as CSV', async () => {
  const { clock } = world.merchants;
  const seconds = () => Math.floor(clock.now().getTime() / 1_000);
  const colleague = new Browser(await world.serve('local'));
  const { email: theirs } = await world.addPerson([[browser.merchantId, 'admin']]);
  await colleague.post('/sign-in/password', { email: theirs, password });
  colleague.merchantId = browser.merchantId;
  clock.time += 10_000;
  const begin = seconds();
  const { productId } = (await colleague.post('/product/create', { name: 'Bowl', commonPrices: [1] })).data;
  clock.time += 2_000;
  await browser.post('/product/update', { productId, name: 'A bowl', commonPrices: [1] });
  const end = seconds();
  clock.time += 1_000;
  await browser.post('/product/archive', { productId });
  const found = async (query: Record<string, string | number>) => {
    const reply = await browser.get(`/audit/list?${new URLSearchParams(query as Record<string, string>)}`);
    const entries: readonly Entry[] = reply.data.entries;
    return entries.filter(({ subject }) => subject === productId).map(({ action }) => action);
  };
  assert.deepEqual(await found({ subject: productId }), ['archiveProduct', 'updateProduct', 'createProduct']);
  assert.deepEqual(await found({ actor: theirs.toUpperCase() }), ['createProduct']);
  assert.deepEqual(await found({ actor: userId, from: begin }), ['archiveProduct', 'updateProduct']);
  assert.deepEqual(await found({ action: 'updateProduct' }), ['updateProduct']);
  assert.deepEqual(await found({ from: begin, to: end }), ['updateProduct', 'createProduct']);
  assert.deepEqual(await found({ from: begin + 1, to: end, action: 'createProduct' }), []);
  const csv = await browser.get(`/audit/list?format=csv&subject=${productId}&actor=${userId}`);
  // Times within what was changed are those of a file, too.
  assert.match(csv.text, /""updateAt"":""\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ""/);
  assert.deepEqual(csv.text.match(/"(archive|update|create)Product","[^"]*"/g), [
    '"archiveProduct","Archived a product"',
    '"updateProduct","Changed a product"',
  ]);
  for (const query of ['from=yesterday', 'to=-1', 'actor=', 'who=me'])
    assert.deepEqual([query, (await browser.get(`/audit/list?${query}`)).code], [query, 400101]);
});

test('who may not change webhooks sees their URLs without the values of the query, in the log too', async () => {
  const { merchantId } = browser;
  const webhookUrl = 'https://shop.example.com/hook?token=s3cret';
  const { webhookId } = (await browser.post('/webhook/create', { ...webhookFields, webhookUrl })).data;
  const moved = { ...webhookFields, webhookId, webhookUrl: 'https://shop.example.com/hook?token=s3cret2' };
  assert.equal((await browser.post('/webhook/update', moved)).code, 0);
  for (const [role, whole] of [
    ...(['admin', 'developer'] as const).map((role) => [role, true] as const),
    ...(['finance', 'support', 'viewer'] as const).map((role) => [role, false] as const),
  ]) {
    const member = new Browser(await world.serve('local'));
    const { email: address } = await world.addPerson([[merchantId, role]]);
    await member.post('/sign-in/password', { email: address, password });
    member.merchantId = merchantId;
    const expected = [whole ? moved.webhookUrl : 'https://shop.example.com/hook?token=****'];
    const read = await member.get(`/webhook/detail/${webhookId}`);
    assert.deepEqual([role, read.data.webhookUrl], [role, expected[0]]);
    const { webhooks } = (await member.get('/webhook/list')).data;
    const listed = webhooks.filter((each: { webhookId: string }) => each.webhookId === webhookId);
    assert.deepEqual(
      listed.map((each: { webhookUrl: string }) => each.webhookUrl),
      expected,
    );
    const { text: told } = await member.get('/audit/list');
    const seen = role === 'admin' ? ['s3cret', 's3cret2'] : [];
    assert.deepEqual([role, [...new Set(told.match(/s3cret2?/g))].toSorted()], [role, seen]);
  }
});

test('a member is not invited again, in whatever case the address is written', async () => {
  const { email } = (await browser.get('/me')).data;
  const again = await browser.post('/invitation/create', { role: 'viewer', email: email.toUpperCase() });
  assert.equal(again.code, 100805);
});

test('members are invited, change their role, and go, each recorded', async () => {
  const { url } = (await browser.post('/invitation/create', { role: 'viewer', email: 'kim@example.com' }))
    .data;
  const token = url.split('#')[1];
  const { invitations } = (await browser.get('/invitation/list')).data;
  assert.ok(invitations.some((each: { email: string }) => each.email === 'kim@example.com'));
  const guest = new Browser(await world.serve('local'));
  const person = { token, name: 'Kim', email: 'kim@example.com', password };
  assert.equal((await guest.post('/invitation/accept-as-new', person)).code, 0);
  const { userId: guestId } = (await guest.get('/me')).data;
  assert.equal((await browser.post('/member/role', { userId: guestId, role: 'support' })).code, 0);
  assert.equal((await browser.post('/member/remove', { userId: guestId })).code, 0);
  assert.equal((await browser.post('/member/remove', { userId })).code, 100802);
  guest.merchantId = browser.merchantId;
  assert.equal((await guest.get('/product/list/1/1')).code, 200205);
  const [removed, changed, entered, accepted] = await log();
  assert.deepEqual(
    [removed, changed, entered, accepted].map((entry) => entry?.action),
    ['removeMember', 'changeMemberRole', 'signInOnNewDevice', 'acceptInvitation'],
  );
  assert.deepEqual(
    [JSON.parse(changed?.before ?? '').role, JSON.parse(changed?.after ?? '').role],
    ['viewer', 'support'],
  );
  // A person with an account accepts the next link with it.
  const again = (await browser.post('/invitation/create', { role: 'finance' })).data.url.split('#')[1];
  assert.equal(
    (await guest.post('/me/invitation/accept', { token: again })).data.merchantId,
    browser.merchantId,
  );
  assert.equal((await guest.get('/product/list/1/1')).code, 0);
});

test('acts about the own account are in the logs of the person, of each merchant and of the installation', async () => {
  await browser.post('/me/recovery-codes/renew');
  const [entry] = await log();
  assert.deepEqual([entry?.action, entry?.actorId, entry?.subject], ['renewRecoveryCodes', userId, userId]);
  const own: readonly Entry[] = (await browser.get('/me/audit/list')).data.entries;
  assert.deepEqual(
    own.map(({ action }) => action),
    ['renewRecoveryCodes', 'signInOnNewDevice'],
  );
  assert.match((await browser.get('/me/audit/list?format=csv')).text, /"signInOnNewDevice"/);
  const other = new Browser(await world.serve('local'));
  const stranger = await world.addPerson();
  await other.post('/sign-in/password', { email: stranger.email, password });
  const theirs: readonly Entry[] = (await other.get('/me/audit/list')).data.entries;
  assert.deepEqual(
    theirs.map(({ actorId }) => actorId),
    [stranger.userId],
  );
});
