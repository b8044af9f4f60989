import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hashMessage } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { recoverAddress } from 'viem/utils';
import { createAccount } from '#merchants/account.ts';
import { takeEffect } from '#merchants/account-change.ts';
import { findSession } from '#sessions/session.ts';
import { Browser, DashboardWorld, password, walletDelayMs } from '../../../test/harness/dashboard-world.ts';
import { item } from '../../../test/harness/merchant-routes.ts';

let world: DashboardWorld;
before(async () => {
  world = await DashboardWorld.open(
    async ({ chainId, address, message, signature }) =>
      chainId === 31_337 && (await recoverAddress({ hash: hashMessage(message), signature })) === address,
  );
});
after(() => world.close());

/** The owner of a new merchant, just signed in. */
async function owner(): Promise<Browser> {
  const merchantId = await world.merchants.addMerchant();
  const { email } = await world.addPerson([[merchantId, 'owner']]);
  const browser = new Browser(await world.serve('local'));
  await browser.post('/sign-in/password', { email, password });
  browser.merchantId = merchantId;
  return browser;
}

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const fields = (accountAddress: string) => ({
  ...{ accountName: 'Till', accountAddress, settlementCurrencies: ['ethereum::usdc'] },
});
const add = (browser: Browser, address: string = newWallet().address) =>
  browser.post('/account/create', fields(address));
const addressesOf = async (browser: Browser) =>
  (await browser.get('/account/list')).data.map(
    (account: { accountAddress: string }) => account.accountAddress,
  );

/** What the worker does each second. */
async function work(): Promise<void> {
  const { deps, database } = world.merchants;
  let isMore = true;
  while (isMore) isMore = await database.db.transaction((transaction) => takeEffect(transaction, deps));
}

test("a merchant's first wallet takes effect at once, the next one after a day", async () => {
  const browser = await owner();
  const first = (await add(browser)).data;
  assert.deepEqual([first.status, first.isProven], ['done', false]);
  const second = (await add(browser)).data;
  assert.deepEqual([second.status, second.accountId], ['waiting', '']);
  await work();
  assert.deepEqual(await addressesOf(browser), [first.accountAddress]);
  world.merchants.clock.time += walletDelayMs - 1;
  await work();
  assert.deepEqual(await addressesOf(browser), [first.accountAddress]);
  world.merchants.clock.time += 1;
  await work();
  assert.deepEqual(await addressesOf(browser), [second.accountAddress, first.accountAddress]);
  const { changes, delaySeconds, settlementMode } = (await browser.get('/account/change/list')).data;
  assert.deepEqual([delaySeconds, settlementMode], [86_400, 'escrow']);
  assert.deepEqual(changes.map(({ status }: { status: string }) => status).sort(), ['done', 'done']);
  const { email } = (await browser.get('/me')).data;
  assert.deepEqual(
    changes.map(({ requestedBy }: { requestedBy: string }) => requestedBy),
    [email, email],
  );
});

test('removing the only wallet gives no second first one', async () => {
  const browser = await owner();
  const { accountId } = (await add(browser)).data;
  assert.equal((await browser.post('/account/remove', { accountId })).data.disabledLinks, 0);
  assert.equal((await add(browser)).data.status, 'waiting');
});

test('a wallet that waits can be named by no link and no session, and is told of at once', async () => {
  const browser = await owner();
  await add(browser);
  const { changeId } = (await add(browser)).data;
  const { productId } = (await browser.post('/product/create', { name: 'Tea', commonPrices: [1] })).data;
  const body = { accountId: changeId, settlementToken: 'ethereum::usdc', lineItems: [item(productId)] };
  assert.equal((await browser.post('/session/checkout/create', body)).code, 100401);
  const [event] = await world.merchants.eventsOf(changeId);
  assert.equal(event?.type, 'account.change_planned');
  const { entries } = (await browser.get('/audit/list')).data;
  const entry = entries.find(({ subject }: { subject: string }) => subject === changeId);
  assert.deepEqual([entry.action, JSON.parse(entry.after).status], ['addWalletAccount', 'waiting']);
});

test('a wallet that waits is cancelled once, by its own merchant, and never takes effect', async () => {
  const browser = await owner();
  await add(browser);
  const { changeId } = (await add(browser)).data;
  assert.equal((await (await owner()).post('/account/change/cancel', { changeId })).code, 100807);
  assert.equal((await browser.post('/account/change/cancel', { changeId })).code, 0);
  assert.equal((await browser.post('/account/change/cancel', { changeId })).code, 100807);
  world.merchants.clock.time += walletDelayMs;
  await work();
  assert.equal((await addressesOf(browser)).length, 1);
  const events = await world.merchants.eventsOf(changeId);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['account.change_planned', 'account.change_cancelled'],
  );
});

test('a wallet proves itself by its signature over the text for this merchant', async () => {
  const [browser, stranger] = [await owner(), await owner()];
  const wallet = newWallet();
  const { message } = (await browser.get(`/account/proof/${wallet.address}`)).data;
  const signature = await wallet.signMessage({ message });
  const proven = { ...fields(wallet.address), proof: { chainId: 31_337, signature } };
  assert.equal((await stranger.post('/account/create', proven)).code, 100601);
  assert.equal(
    (await browser.post('/account/create', { ...proven, proof: { chainId: 1, signature } })).code,
    100601,
  );
  assert.deepEqual(await addressesOf(browser), []);
  assert.equal((await browser.post('/account/create', proven)).data.isProven, true);
});

test('an address waits once, and waiting wallets count towards the twenty', async () => {
  const browser = await owner();
  await add(browser);
  const { address } = newWallet();
  assert.equal((await add(browser, address)).code, 0);
  assert.equal((await add(browser, address)).code, 400101);
  for (let count = 2; count < 20; count += 1) assert.equal((await add(browser)).code, 0);
  assert.equal((await add(browser)).code, 100405);
});

test('a wallet that the operator adds meanwhile makes the waiting one refused, and holds up no other', async () => {
  const browser = await owner();
  await add(browser);
  const [{ data: doubled }, { data: other }] = [await add(browser), await add(browser)];
  const request = { ...fields(doubled.accountAddress), merchantId: browser.merchantId };
  await world.merchants.database.db.transaction((transaction) =>
    createAccount(transaction, world.merchants.deps, request),
  );
  world.merchants.clock.time += walletDelayMs;
  await work();
  const { changes } = (await browser.get('/account/change/list')).data;
  const statusOf = (changeId: string) =>
    changes.find((change: { changeId: string }) => change.changeId === changeId).status;
  assert.deepEqual([statusOf(doubled.changeId), statusOf(other.changeId)], ['refused', 'done']);
});

test('the settlement mode changes at once, and a stale session changes nothing', async () => {
  const browser = await owner();
  const { accountId } = (await add(browser)).data;
  assert.equal((await browser.post('/account/update', { accountId, settlementMode: 'direct' })).code, 0);
  assert.equal((await browser.get(`/account/detail/${accountId}`)).data.settlementMode, 'direct');
  world.merchants.clock.time += 5 * 60_000;
  for (const [path, body] of [
    ['/account/create', fields(newWallet().address)],
    ['/account/change/cancel', { changeId: 'acg_none' }],
    ['/account/update', { accountId, settlementMode: 'escrow' }],
    ['/account/address', { accountId, accountAddress: newWallet().address }],
    ['/account/remove', { accountId }],
  ] as const)
    assert.deepEqual([path, (await browser.post(path, body)).code], [path, 200204]);
});

test('the name and the tokens change at once, and a token stays while a link settles in it', async () => {
  const browser = await owner();
  const { accountId } = (await add(browser)).data;
  const tokens = ['ethereum::usdc', 'base::usdc'];
  const update = (change: object) => browser.post('/account/update', { accountId, ...change });
  const changed = (await update({ accountName: 'Shop', settlementCurrencies: tokens })).data;
  assert.deepEqual([changed.accountName, changed.settlementCurrencies], ['Shop', tokens]);
  const { productId } = (await browser.post('/product/create', { name: 'Tea', commonPrices: [1] })).data;
  const link = await browser.post('/payment/link/create', {
    ...{ linkType: 'fixed', linkName: 'Tea', accountId, settlementToken: 'base::usdc', feeModel: 1 },
    lineItems: [{ ...item(productId), unitPrice: 1_000_000 }],
  });
  assert.equal(link.code, 0, link.message);
  const { linkId } = link.data;
  assert.equal((await update({ settlementCurrencies: ['ethereum::usdc'] })).code, 400101);
  assert.equal((await browser.post('/payment/link/disable', { linkId })).code, 0);
  assert.equal((await update({ settlementCurrencies: ['ethereum::usdc'] })).code, 0);
  assert.equal((await browser.post('/payment/link/enable', { linkId })).code, 100404);
  assert.equal((await update({ settlementCurrencies: ['ethereum::doge'] })).code, 400201);
});

test('another address waits a day, even for the only account, and makes a new version', async () => {
  const browser = await owner();
  const { accountId, accountAddress } = (await add(browser)).data;
  const detail = async () => (await browser.get(`/account/detail/${accountId}`)).data;
  const { version } = await detail();
  const move = (address: string) => browser.post('/account/address', { accountId, accountAddress: address });
  const own = await move(accountAddress);
  assert.deepEqual([own.code, own.message], [400101, 'Invalid field: accountAddress is its address already']);
  const { address } = newWallet();
  const change = (await move(address)).data;
  assert.deepEqual([change.kind, change.status, change.accountId], ['address', 'waiting', accountId]);
  assert.equal((await move(newWallet().address)).code, 400101);
  const [event] = await world.merchants.eventsOf(change.changeId);
  assert.equal(event?.type, 'account.change_planned');

  // The old terms are cached by the next session, and the new ones apply to the first session after the change.
  const { productId } = (await browser.post('/product/create', { name: 'Tea', commonPrices: [1_000_000] }))
    .data;
  const body = { accountId, settlementToken: 'ethereum::usdc', lineItems: [item(productId)] };
  const recipient = async () => {
    const { sessionId } = (await browser.post('/session/checkout/create', body)).data;
    return (await findSession(world.merchants.database.db, sessionId))?.recipient;
  };
  world.merchants.clock.time += walletDelayMs - 1;
  await work();
  assert.equal(await recipient(), accountAddress);
  world.merchants.clock.time += 1;
  await work();
  const after = await detail();
  assert.equal(after.accountAddress, address);
  assert.notEqual(after.version, version);
  assert.equal(await recipient(), address);
  const { changes } = (await browser.get('/account/change/list')).data;
  assert.deepEqual(
    changes.map(({ kind, previousAddress }: Record<string, string>) => `${kind} ${previousAddress}`).sort(),
    ['add ', `address ${accountAddress}`],
  );
});

test('a waiting address is cancelled, and no second wallet or changed link passes by it', async () => {
  const browser = await owner();
  const { accountId, accountAddress } = (await add(browser)).data;
  const thief = newWallet().address;
  const { changeId } = (await browser.post('/account/address', { accountId, accountAddress: thief })).data;
  assert.equal((await add(browser, thief)).code, 400101);
  const second = (await add(browser)).data;
  assert.deepEqual([second.status, second.accountId], ['waiting', '']);
  assert.equal((await browser.post('/account/remove', { accountId })).code, 0);
  // The only account is gone, so its address changes no more, and a new wallet still waits.
  assert.equal((await add(browser)).data.status, 'waiting');
  assert.equal((await browser.post('/account/change/cancel', { changeId })).code, 0);
  world.merchants.clock.time += walletDelayMs;
  await work();
  assert.equal((await addressesOf(browser)).includes(thief), false);
  assert.equal((await addressesOf(browser)).includes(accountAddress), false);
});

test('the log has an address that waits, and if its account is removed meanwhile it is refused', async () => {
  const browser = await owner();
  const { accountId } = (await add(browser)).data;
  const accountAddress = newWallet().address;
  const { changeId } = (await browser.post('/account/address', { accountId, accountAddress })).data;
  const { entries } = (await browser.get('/audit/list')).data;
  const entry = entries.find(({ subject }: { subject: string }) => subject === changeId);
  const planned = JSON.parse(entry.after);
  assert.deepEqual(
    [entry.action, planned.accountId, planned.accountAddress, planned.isProven],
    ['changeAccountAddress', accountId, accountAddress, false],
  );
  await browser.post('/account/remove', { accountId });
  world.merchants.clock.time += walletDelayMs;
  await work();
  const { changes } = (await browser.get('/account/change/list')).data;
  assert.equal(
    changes.find((change: { changeId: string }) => change.changeId === changeId).status,
    'refused',
  );
});

test('a member who saves an account that another one changed meanwhile is told, and changes nothing', async () => {
  const browser = await owner();
  const { accountId } = (await add(browser)).data;
  const detail = async () => (await browser.get(`/account/detail/${accountId}`)).data;
  const { updateAt } = await detail();
  const update = (change: object) => browser.post('/account/update', { accountId, ...change });
  assert.equal((await update({ accountName: 'Shop', ifUpdateAt: updateAt })).code, 0);
  const changed = await detail();
  assert.notEqual(changed.updateAt, updateAt);
  assert.equal((await update({ accountName: 'Bar', ifUpdateAt: updateAt })).code, 100403);
  const { address } = newWallet();
  const move = { accountId, accountAddress: address, ifUpdateAt: updateAt };
  assert.equal((await browser.post('/account/address', move)).code, 100403);
  assert.equal((await browser.post('/account/remove', { accountId, ifUpdateAt: updateAt })).code, 100403);
  assert.deepEqual(await detail(), changed);
  assert.equal((await browser.post('/account/address', { ...move, ifUpdateAt: changed.updateAt })).code, 0);
  const removal = { accountId, ifUpdateAt: changed.updateAt };
  assert.equal((await browser.post('/account/remove', removal)).code, 0);
});
