import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RpcCall, RpcUnavailable, rpcOver } from '@florin/evm';
import { statement } from '@florin/pg';
import { toHex } from 'viem';
import { invite } from '#members/invitation.ts';
import { systemClock } from '#outside/clock.ts';
import { version } from '#outside/version.ts';
import { silentLog } from '#telemetry/log.ts';
import { Browser, DashboardWorld, password } from '../../../test/harness/dashboard-world.ts';
import { item } from '../../../test/harness/merchant-routes.ts';
import { addPaidSession } from '../../../test/harness/payment-fixture.ts';
import { insertSent } from '../../../test/harness/sent-transaction.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { withStops } from '../../../test/harness/token-closing.ts';

let world: DashboardWorld;
let shop: Shop;
let staff: Browser;
let owner: Browser;
/** Tokens that the web process knows as stopped. */
const stopped = new Set<string>();
/** Chains without a node that answers. */
const unreachable = new Set<number>();

before(async () => {
  world = await DashboardWorld.open();
  shop = await openShop(world.merchants);
  const { deps } = world.merchants;
  Object.assign(deps, { chains: withStops(deps.chains, stopped, unreachable) });
  const server = await world.serve('local');
  const { token } = await world.merchants.database.db.transaction((transaction) =>
    invite(transaction, world.options, { merchantId: undefined, role: 'staff', email: '', invitedBy: '' }),
  );
  staff = new Browser(server);
  const person = { token, name: 'Ops', email: 'ops@example.com', password };
  const shown = (await staff.post('/invitation/show', { token })).data;
  assert.deepEqual([shown.merchantName, shown.role], ['', 'staff']);
  assert.equal((await staff.post('/invitation/accept-as-new', person)).data.merchantId, '');
  assert.equal((await staff.get('/me')).data.isStaff, true);
  owner = new Browser(server);
  const { email } = await world.addPerson([[shop.merchantId, 'owner']]);
  await owner.post('/sign-in/password', { email, password });
  owner.merchantId = shop.merchantId;
});
after(() => world.close());

const changeExceptions = statement({
  name: 'staff_test_exceptions',
  parameters: { kind: 'text', decideBy: 'timestamptz?', createdAt: 'timestamptz' },
  text: "update exceptions set kind = :kind, decide_by = :decideBy, created_at = :createdAt where status = 'open'",
});

const create = () =>
  owner.post('/session/checkout/create', {
    accountId: shop.things.accountId,
    settlementToken: 'ethereum::usdc',
    lineItems: [item(shop.things.productId)],
  });
const linkStatus = async () => (await owner.get(`/payment/link/${shop.things.linkId}`)).data.status;

test('a suspended merchant gets no new sessions, its links show as disabled, and all else goes on', async () => {
  const { merchantId, things } = shop;
  assert.equal((await create()).code, 0);
  assert.equal(await linkStatus(), 'active');
  const reason = 'complaints';
  assert.equal((await staff.post('/staff/merchant/suspend', { merchantId, reason })).code, 0);
  // The terms were cached by the session before.
  assert.equal((await create()).code, 100809);
  const { key } = shop;
  const body = {
    accountId: things.accountId,
    settlementToken: 'ethereum::usdc',
    lineItems: [item(things.productId)],
  };
  assert.equal((await world.merchants.send('POST', '/session/checkout/create', { key, body })).code, 100809);
  assert.equal(await linkStatus(), 'disabled');
  assert.equal((await owner.get(`/session/${things.sessionId}`)).code, 0);
  assert.equal((await owner.get('/account/list')).data.length, 1);
  assert.equal((await owner.get('/me')).data.merchants[0].isSuspended, true);

  // A wallet that is added meanwhile is suspended, too.
  const accountId = await world.merchants.addAccount(merchantId);
  assert.equal((await owner.post('/session/checkout/create', { ...body, accountId })).code, 100809);

  const { merchants } = (await staff.get('/staff/merchant/list')).data;
  const shown = merchants.find((each: { merchantId: string }) => each.merchantId === merchantId);
  assert.match(shown.suspendedAt, /^\d{4}-/);
  const [entry] = (await owner.get('/audit/list')).data.entries;
  assert.deepEqual(
    [entry.action, entry.actorKind, JSON.parse(entry.after)],
    ['suspendMerchant', 'staff', { isSuspended: true, reason }],
  );

  assert.equal((await staff.post('/staff/merchant/resume', { merchantId })).code, 0);
  assert.deepEqual([(await create()).code, await linkStatus()], [0, 'active']);
  assert.equal((await owner.post('/session/checkout/create', { ...body, accountId })).code, 0);
});

test('staff makes a merchant and invites its first owner', async () => {
  const { merchantId } = (await staff.post('/staff/merchant/create', { merchantName: 'Tea' })).data;
  const { url } = (await staff.post('/staff/merchant/invite', { merchantId, role: 'owner' })).data;
  const { merchantName, role } = (
    await new Browser(await world.serve('local')).post('/invitation/show', { token: url.split('#')[1] })
  ).data;
  assert.deepEqual([merchantName, role], ['Tea', 'owner']);
  const ownedId = shop.merchantId;
  for (const given of ['owner', 'viewer'])
    assert.equal(
      (await staff.post('/staff/merchant/invite', { merchantId: ownedId, role: given })).code,
      200205,
    );
  const unknown = { merchantId: 'mer_0000000000000000000000', role: 'owner' };
  assert.equal((await staff.post('/staff/merchant/invite', unknown)).code, 100808);
  assert.equal(
    (await staff.post('/staff/merchant/suspend', { ...unknown, role: undefined, reason: 'x' })).code,
    100808,
  );
});

test('a token is stopped on one chain or all, and resumed', async () => {
  const stopped = async () =>
    (await staff.get('/staff/token/list')).data.tokens
      .filter(({ isStopped }: { isStopped: boolean }) => isStopped)
      .map(({ tokenId }: { tokenId: string }) => tokenId);
  const reason = 'depeg';
  assert.deepEqual((await staff.post('/staff/token/stop', { token: 'usdc', reason })).data.tokenIds.sort(), [
    'base::usdc',
    'ethereum::usdc',
  ]);
  await staff.post('/staff/token/resume', { token: 'base::usdc' });
  assert.deepEqual(await stopped(), ['ethereum::usdc']);
  const again = await staff.post('/staff/token/resume', { token: 'base::usdc' });
  assert.deepEqual([again.code, again.message], [400101, 'Invalid field: token is not stopped']);
  assert.equal((await staff.post('/staff/token/stop', { token: 'doge', reason })).code, 400201);
  await staff.post('/staff/token/resume', { token: 'usdc' });
  assert.deepEqual(await stopped(), []);
});

test('a stop names first what settles in the token, and the merchant sees which links take no payments', async () => {
  const { linkId } = shop.things;
  const { settlementToken } = (await owner.get(`/payment/link/${linkId}`)).data;
  const use = async (token: string) => (await staff.get(`/staff/token/use/${token}`)).data;
  const { links, merchants, sessions } = await use(settlementToken);
  assert.ok(links >= 1 && merchants >= 1 && sessions >= 1, JSON.stringify({ links, merchants, sessions }));
  assert.equal((await create()).code, 0);
  assert.deepEqual(await use(settlementToken), { links, merchants, sessions: sessions + 1 });
  assert.deepEqual(await use('base::usdc'), { links: 0, merchants: 0, sessions: 0 });
  assert.equal((await staff.get('/staff/token/use/doge')).code, 400201);

  const seen = async () => {
    const { closedLinks } = (await owner.get('/summary')).data;
    const { tokens, feeRates, depositPolicy } = (await owner.get('/token/list')).data;
    assert.equal(depositPolicy, null);
    assert.deepEqual(feeRates, { sameToken: 2_000, sameChain: 3_000, crossChain: 6_000 });
    const token = tokens.find(({ tokenId }: { tokenId: string }) => tokenId === settlementToken);
    return [closedLinks.ids.includes(linkId), token.closedReason];
  };
  assert.deepEqual(await seen(), [false, '']);
  stopped.add(settlementToken);
  assert.deepEqual(await seen(), [true, 'token_stopped']);
  stopped.clear();
  assert.deepEqual(await seen(), [false, '']);
});

test('a merchant sees on which network nobody can pay', async () => {
  const closed = async () => (await owner.get('/summary')).data.closedNetworks;
  assert.deepEqual(await closed(), []);
  const [chain] = world.merchants.deps.chains.all;
  unreachable.add(chain?.chainId ?? 0);
  assert.deepEqual(await closed(), ['Ethereum']);
  unreachable.clear();
});

test('exceptions of all merchants are listed with their merchant', async () => {
  const { exceptions, hasMore } = (await staff.get('/staff/exception/list/1/1?status=open')).data;
  assert.deepEqual([exceptions.length, exceptions[0].merchantId, hasMore], [1, shop.merchantId, true]);
  assert.equal((await staff.get('/staff/exception/list/9/100')).data.exceptions.length, 0);
});

test('staff is listed', async () => {
  const { staff: people } = (await staff.get('/staff/member/list')).data;
  assert.deepEqual(
    people.map(({ email }: { email: string }) => email),
    ['ops@example.com'],
  );
});

test('health shows chains, books, open work and exceptions', async () => {
  const health = (await staff.get('/staff/health')).data;
  const [first] = health.chains;
  assert.deepEqual(
    [first.chain, first.settlement, first.headNumber, health.settlements, health.transactions],
    ['ethereum', 'running', '', [], []],
  );
  assert.ok(health.openExceptions > 0);
  const forPeople = async (change: { kind: string; decideBy: Date | null; createdAt: Date }) => {
    await world.merchants.database.db.query(changeExceptions, change);
    return (await staff.get('/staff/health')).data.exceptionsForPeople / health.openExceptions;
  };
  const createdAt = world.merchants.clock.now();
  const daysFromNow = (days: number) => new Date(createdAt.getTime() + days * 86_400_000);
  const late = { kind: 'late', decideBy: null, createdAt };
  // It goes back by itself.
  assert.equal(await forPeople(late), 0);
  assert.equal(await forPeople({ ...late, createdAt: daysFromNow(-9) }), 1);
  assert.equal(await forPeople({ ...late, decideBy: daysFromNow(-1) }), 0);
  assert.equal(await forPeople({ ...late, decideBy: daysFromNow(1) }), 1);
  assert.ok(health.deliveries.waiting >= health.deliveries.overdue);
});

test('nodes say their head, and wallets how long their gas lasts', async () => {
  const { chains } = (await staff.get('/staff/node/list')).data;
  assert.deepEqual(chains[0].nodes, [{ node: 'node.example', headNumber: '16', problem: '' }]);
  const { wallets, vaults } = (await staff.get('/staff/wallet/list')).data;
  const { role, balance, needed, secondsLeft } = wallets[0];
  assert.deepEqual([role, balance, needed, secondsLeft], ['settler', '20000000', '60000000', 86_400]);
  // No process of this world reads vaults.
  assert.deepEqual(vaults[0], { tokenId: 'ethereum::usdc', cap: '', float: '', readAt: '' });
});

test('a node that is down is shown beside the one that answers', async () => {
  const { chainId } = world.merchants.deps.chains.all[0] ?? assert.fail('a chain is configured');
  const limits = { clock: systemClock, log: silentLog, chainId };
  const one = world.node;
  const up = {
    name: 'up.example',
    exchange: async (calls: readonly RpcCall[]) =>
      calls.map(({ method }) => ({ result: method === 'eth_chainId' ? toHex(chainId) : '0x10' })),
    close: async () => {},
  };
  const down = {
    ...{ ...up, name: 'down.example' },
    exchange: () => Promise.reject(new RpcUnavailable('HTTP status 503')),
  };
  world.node = rpcOver([down, up], limits);
  const { chains } = (await staff.get('/staff/node/list')).data;
  world.node = one;
  assert.deepEqual(chains[0].nodes, [
    { node: 'down.example', headNumber: '', problem: 'HTTP status 503' },
    { node: 'up.example', headNumber: '16', problem: '' },
  ]);
});

test('webhooks that are paused or have deliveries that wait are listed with their merchant', async () => {
  const { webhooks } = (await staff.get('/staff/webhook/list')).data;
  const [worst] = webhooks;
  assert.deepEqual(
    [worst.merchantId, worst.waiting > 0, worst.overdue <= worst.waiting, worst.failingSince],
    [shop.merchantId, true, true, ''],
  );
  assert.match(worst.oldestAt, /T.*Z$/);
});

const insertAttempt = statement({
  name: 'staff_test_insert_attempt',
  parameters: { txHash: 'text', transactionId: 'int8', maxFee: 'numeric', at: 'timestamptz' },
  text: `insert into sent_attempts (tx_hash, transaction_id, raw, max_fee, priority_fee, created_at)
   values (:txHash, :transactionId, '0x', :maxFee, 1, :at)`,
});

const sendLeg = statement({
  name: 'staff_test_send_leg',
  parameters: { orderId: 'text', transactionId: 'int8' },
  text: `update settlements set status = 'sent', transaction_id = :transactionId, attempts = 1 where order_id = :orderId`,
});

const holdLeg = statement({
  name: 'staff_test_hold_leg',
  parameters: { orderId: 'text', at: 'timestamptz' },
  text: `update settlements set held_at = :at, reason = 'outflow_cap' where order_id = :orderId`,
});

test('settlement legs are listed by state, chain and payment, with their transaction and what replaced it', async () => {
  const { db } = world.merchants.database;
  const { clock } = world.merchants;
  const { key, things, merchantId } = shop;
  const paid = [];
  for (let count = 0; count < 3; count += 1) {
    clock.time += 1_000;
    paid.push(await addPaidSession(world.merchants, { key, accountId: things.accountId }));
  }
  const [first, second, third] = paid;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const at = clock.now();
  const [sent] = await db.query(insertSent, { chainId: BigInt(first.order.chainId), callData: '0x' });
  assert.ok(sent !== undefined);
  const { transaction_id: transactionId } = sent;
  const hashes = ['0xaa', '0xbb'].map((start) => start.padEnd(66, '1'));
  for (const [index, txHash] of hashes.entries())
    await db.query(insertAttempt, { txHash, transactionId, maxFee: BigInt(5 + index), at });
  await db.query(sendLeg, { orderId: first.order.orderId, transactionId });
  await db.query(holdLeg, { orderId: second.order.orderId, at });

  const list = async (filter: string, page = '1/100') => {
    const { code, data } = await staff.get(`/staff/settlement/list/${page}${filter}`);
    assert.equal(code, 0);
    return data;
  };
  const orders = async (filter: string) =>
    (await list(filter)).legs.map(({ orderId }: { orderId: string }) => orderId);
  const all = [third, second, first].map(({ order }) => order.orderId);
  assert.deepEqual((await orders('')).slice(0, 3), all);
  assert.deepEqual((await orders('?state=open')).slice(0, 3), all);
  assert.deepEqual(await orders('?state=held'), [second.order.orderId]);
  assert.deepEqual(await orders('?state=sent'), [first.order.orderId]);
  const waiting = await orders('?state=waiting');
  assert.deepEqual([waiting[0], waiting.includes(second.order.orderId)], [third.order.orderId, false]);
  assert.deepEqual(await orders(`?of=${third.sessionId}`), [third.order.orderId]);
  assert.deepEqual(await orders(`?of=${third.order.orderId}&state=sent`), []);
  assert.deepEqual(await orders('?chain=base'), []);
  assert.equal((await staff.get('/staff/settlement/list/1/10?chain=mars')).code, 400202);

  // Two pages of one are the first two of all.
  const pages = [await list('', '1/1'), await list('', '2/1')];
  assert.deepEqual(
    pages.map(({ legs: [leg], hasMore }) => [leg.orderId, hasMore]),
    [
      [third.order.orderId, true],
      [second.order.orderId, true],
    ],
  );

  const [held] = (await list('?state=held')).legs;
  assert.deepEqual(
    [held.leg, held.status, held.reason, held.merchantId, held.sessionId, held.nextAt, held.transaction],
    ['settle', 'held', 'outflow_cap', merchantId, second.sessionId, '', null],
  );
  assert.equal(held.value, second.order.amounts.netValue.toString());
  const [leg] = (await list('?state=sent')).legs;
  const { transaction } = leg;
  assert.deepEqual(
    [transaction.chain, transaction.purpose, transaction.status, transaction.attemptCount],
    ['ethereum', 'relay', 'pending', 2],
  );
  // The latest attempt, which replaced the other, comes first.
  assert.deepEqual(
    transaction.attempts.map(({ txHash, maxFee }: { txHash: string; maxFee: string }) => [txHash, maxFee]),
    [
      [hashes[1], '6'],
      [hashes[0], '5'],
    ],
  );

  const sentOf = async (filter: string) =>
    (await staff.get(`/staff/transaction/list/1/10${filter}`)).data.transactions;
  assert.deepEqual((await sentOf('?state=pending'))[0], transaction);
  assert.deepEqual(await sentOf(`?of=${hashes[0]?.toUpperCase().replace('0X', '0x')}`), [transaction]);
  assert.deepEqual(await sentOf('?state=failed'), []);
  assert.deepEqual(await sentOf('?chain=base'), []);
  assert.equal((await owner.get('/staff/settlement/list/1/10')).code, 200205);
});

const insertHaltedChain = statement({
  name: 'staff_test_insert_halted_chain',
  parameters: { chainId: 'int8', hash: 'text', at: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time,
     halted_reason, updated_at)
   values (:chainId, 20, :hash, :at, 16, :hash, :at, 'reorg below the final block 16', :at)`,
});

test('staff resumes a halted chain, with the reason in the log of the installation', async () => {
  const { db } = world.merchants.database;
  const { chainId } = (await staff.get('/staff/health')).data.chains[0];
  const hash = `0x${'ab'.repeat(32)}`;
  await db.query(insertHaltedChain, { chainId: BigInt(chainId), hash, at: new Date() });
  const [chain] = (await staff.get('/staff/health')).data.chains;
  assert.deepEqual(
    [chain.chain, chain.haltedReason, chain.finalNumber],
    ['ethereum', 'reorg below the final block 16', '16'],
  );
  // It has never been compared.
  assert.deepEqual([chain.reconciledAt, chain.settlement, chain.settlementReason], ['', 'stopped', 'halted']);
  const reason = 'two explorers have the same block';
  const resume = (name: string) => staff.post('/staff/chain/resume', { chain: name, reason });
  assert.equal((await resume('ethereum')).data.haltedReason, 'reorg below the final block 16');
  // The watcher ends the halt once it has found a block that the chain still has.
  const [resumed] = (await staff.get('/staff/health')).data.chains;
  assert.deepEqual(
    [chain.isResuming, resumed.isResuming, resumed.haltedReason],
    [false, true, 'reorg below the final block 16'],
  );
  assert.equal((await resume('mars')).code, 400202);
  const [entry] = (await staff.get('/staff/audit/list')).data.entries;
  assert.deepEqual(
    [entry.action, entry.subject, JSON.parse(entry.after).reason],
    ['resumeChain', 'ethereum', reason],
  );
});

test('a release of an order without waiting settlements releases nothing', async () => {
  const body = { orderId: `0x${'0'.repeat(64)}`, reason: 'checked' };
  assert.deepEqual((await staff.post('/staff/settlement/release', body)).data, { legs: [] });
});

test('the configuration comes with versions and migrations', async () => {
  const { configuration, versions } = (await staff.get('/staff/configuration')).data;
  assert.deepEqual(configuration, { environment: 'local' });
  assert.deepEqual([versions.service, versions.runtime], [version, process.versions.node]);
  assert.match(versions.database, /^\d+/);
  assert.ok(versions.migrations.some((migration: { version: number }) => migration.version === 259));
});
