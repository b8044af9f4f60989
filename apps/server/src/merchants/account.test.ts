import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import { getAddress, getContractAddress, type Hex } from 'viem';
import { chainsOf } from '#chains/chain.ts';
import { systemRandom } from '#outside/random.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import {
  type AccountRequest,
  accountOf,
  createAccount,
  findAccount,
  listAccounts,
  removeAccount,
  type StoredAccount,
  updateAccount,
} from './account.ts';
import type { MerchantContext } from './context.ts';
import { createMerchant, findMerchant, listMerchants } from './merchant.ts';

let time = Date.parse('2026-03-01T12:00:00Z');
const clock = { now: () => new Date(time), monotonicMs: () => 0, sleep: async () => {} };
const deps = { clock, random: systemRandom, chains: fixtureChains };

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

async function newMerchant(): Promise<string> {
  const merchant = await database.db.transaction((transaction) =>
    createMerchant(transaction, deps, { merchantName: 'Shop' }),
  );
  return merchant.merchantId;
}

function newAddress(): Hex {
  return getAddress(`0x${Buffer.from(systemRandom.bytes(20)).toString('hex')}`);
}

function create(
  merchantId: string,
  change: Partial<AccountRequest> = {},
  given: Omit<MerchantContext, 'secrets'> = deps,
): Promise<StoredAccount> {
  const request = {
    merchantId,
    accountName: 'Main',
    accountAddress: newAddress(),
    settlementCurrencies: ['ethereum::usdc'],
    ...change,
  };
  return database.db.transaction((transaction) => createAccount(transaction, given, request));
}

function remove(merchantId: string, accountId: string): Promise<StoredAccount> {
  return database.db.transaction((transaction) =>
    removeAccount(transaction, deps, { merchantId, accountId }),
  );
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('accepted'),
    (reason: unknown) => reason,
  );
  return error instanceof Refusal ? error.message : String(error);
}

const eventsOf = statement({
  name: 'account_test_events',
  parameters: { objectId: 'text' },
  columns: { event_type: 'text', sequence: 'int8', body: 'text' },
  text: 'select event_type, sequence, body from events where object_id = :objectId order by sequence',
});

async function eventsAbout(objectId: string) {
  const rows = await database.db.query(eventsOf, { objectId });
  return rows.map((row) => ({
    type: row.event_type,
    sequence: row.sequence,
    data: (JSON.parse(row.body) as { data: unknown }).data,
  }));
}

// proves S2.13
test('a new account is stored, returned and sent to webhooks with the same members', async () => {
  const merchantId = await newMerchant();
  const accountAddress = newAddress();
  const account = await create(merchantId, {
    accountAddress: accountAddress.toLowerCase(),
    settlementCurrencies: ['ethereum::usdc', 'base::usdc', 'ethereum::usdc'],
  });
  assert.match(account.accountId, /^acc_[0-9A-Za-z]{22}$/);
  assert.match(account.version, /^acv_[0-9A-Za-z]{22}$/);
  const shown = {
    accountId: account.accountId,
    accountName: 'Main',
    accountAddress,
    accountType: 'EVM::ADDR',
    settlementCurrencies: ['ethereum::usdc', 'base::usdc'],
    version: account.version,
    status: 'normal',
    settlementMode: '',
    createAt: '2026-03-01 12:00:00',
    updateAt: '2026-03-01 12:00:00',
  };
  assert.deepEqual(accountOf(account), shown);
  assert.deepEqual(await findAccount(database.db, merchantId, account.accountId), account);
  assert.deepEqual(await eventsAbout(account.accountId), [
    { type: 'account.created', sequence: 1n, data: { account: shown } },
  ]);
});

test('an address that cannot be paid is refused', async () => {
  const merchantId = await newMerchant();
  const mixed = '0x52908400098527886E0F7030069857D2E4169EE7'.replace('E4169EE7', 'e4169EE7');
  const address = 'Invalid field: accountAddress must be an EVM address with its checksum';
  const cases: readonly [change: Partial<AccountRequest>, message: string][] = [
    [{ accountAddress: mixed }, address],
    [{ accountAddress: '0x1234' }, address],
    [{ accountAddress: 'shop.eth' }, address],
    [{ accountAddress: `0x${'0'.repeat(40)}` }, 'Invalid field: accountAddress must not be the zero address'],
    ...['1', '100', 'dead'].map(
      (end) =>
        [
          { accountAddress: `0x${end.padStart(40, '0')}` },
          'Invalid field: accountAddress must not be an address without a key, such as 0x…dEaD or a precompile',
        ] as [Partial<AccountRequest>, string],
    ),
    [
      { accountAddress: '0x000000000022D473030F116dDEE9F6B43aC78BA3' },
      'Invalid field: accountAddress must not be Permit2, a contract that all share',
    ],
    [{ accountName: '' }, 'Invalid field: accountName must have 1 to 100 characters'],
    [{ accountName: '💶'.repeat(101) }, 'Invalid field: accountName must have 1 to 100 characters'],
    [{ settlementCurrencies: [] }, 'Invalid field: settlementCurrencies must name at least one token'],
    [{ settlementCurrencies: ['base::dai'] }, 'Unsupported currency: base::dai'],
    [{ merchantId: 'mer_none' }, 'Invalid field: merchantId names no merchant: mer_none'],
  ];
  for (const [change, message] of cases) assert.equal(await refusalOf(create(merchantId, change)), message);
  assert.equal((await create(merchantId, { accountName: '💶'.repeat(100) })).status, 'normal');
});

test('no contract of the installation can be an account, on any chain, current or replaced', async () => {
  const merchantId = await newMerchant();
  const [first, ...others] = fixtureChains.all;
  assert.ok(first !== undefined);
  const part = (digit: string): Hex => `0x${digit.repeat(40)}`;
  const cctp = { domain: 0, transmitter: part('3'), messenger: part('4'), route: part('5') };
  const chains = chainsOf([
    {
      ...first,
      cctp: { ...cctp, tokenId: 'ethereum::usdc', maxPerOrder: microUsd(1_000_000n) },
      previousContracts: [{ gateway: part('6'), vault: part('7'), cctpRoute: part('8') }],
    },
    ...others,
  ]);
  const [token] = others[0]?.tokens ?? [];
  assert.ok(token !== undefined);
  const cases: readonly [Hex, string][] = [
    [first.gateway, 'the gateway of ethereum'],
    [first.vault, 'the vault of ethereum'],
    [part('5'), 'the CCTP route of ethereum'],
    [part('3'), 'the CCTP transmitter of ethereum'],
    [part('4'), 'the CCTP messenger of ethereum'],
    [part('6'), 'a previous gateway of ethereum'],
    [part('7'), 'a previous vault of ethereum'],
    [part('8'), 'a previous CCTP route of ethereum'],
    [token.address, 'the token base::usdc'],
    [getContractAddress({ from: part('6'), nonce: 1n }), 'the deposit receiver of a gateway of ethereum'],
  ];
  for (const [accountAddress, what] of cases)
    for (const spelled of [accountAddress.toLowerCase(), getAddress(accountAddress)])
      assert.equal(
        await refusalOf(create(merchantId, { accountAddress: spelled }, { ...deps, chains })),
        `Invalid field: accountAddress must not be ${what}, a contract of this installation`,
      );
  assert.deepEqual(await listAccounts(database.db, merchantId), []);
});

// proves S8.1
test('of thirty accounts created concurrently, a merchant gets twenty', async () => {
  const merchantId = await newMerchant();
  const outcomes = await Promise.all(Array.from({ length: 30 }, () => refusalOf(create(merchantId))));
  const counts = Map.groupBy(outcomes, (outcome) => outcome);
  assert.deepEqual(
    new Map([...counts].map(([outcome, all]) => [outcome, all.length])),
    new Map([
      ['Error: accepted', 20],
      ['Account limit reached: a merchant has at most 20', 10],
    ]),
  );
  const [newest] = await listAccounts(database.db, merchantId);
  assert.ok(newest !== undefined);
  await remove(merchantId, newest.accountId);
  assert.equal((await create(merchantId)).status, 'normal');
});

// proves S2.13, S9.3
test('one account of a merchant uses an address at a time, and adding it again is a new version', async () => {
  const merchantId = await newMerchant();
  const accountAddress = newAddress();
  const first = await create(merchantId, { accountAddress });
  const inUse = 'Invalid field: accountAddress is in use by another account';
  assert.equal(await refusalOf(create(merchantId, { accountAddress: accountAddress.toLowerCase() })), inUse);
  assert.equal((await create(await newMerchant(), { accountAddress })).accountAddress, accountAddress);
  await remove(merchantId, first.accountId);
  const second = await create(merchantId, { accountAddress });
  assert.notEqual(second.version, first.version);
  assert.notEqual(second.accountId, first.accountId);
});

test("lists have the merchant's own active accounts, newest first", async () => {
  const merchantId = await newMerchant();
  await create(await newMerchant());
  const accounts = [await create(merchantId), await create(merchantId), await create(merchantId)];
  const [first, second, third] = accounts.map((account) => account.accountId);
  await remove(merchantId, second ?? '');
  assert.deepEqual(
    (await listAccounts(database.db, merchantId)).map((account) => account.accountId),
    [third, first],
  );
});

test('a merchant cannot see or remove an account of another', async () => {
  const account = await create(await newMerchant());
  const stranger = await newMerchant();
  assert.equal(await findAccount(database.db, stranger, account.accountId), undefined);
  assert.equal(
    await refusalOf(remove(stranger, account.accountId)),
    `Account not found: ${account.accountId}`,
  );
});

test('a removed account stays readable, raises an event, and cannot be removed again', async () => {
  const merchantId = await newMerchant();
  const account = await create(merchantId);
  time += 5_000;
  const removed = await remove(merchantId, account.accountId);
  assert.deepEqual(removed, { ...account, status: 'removed', updatedAt: new Date(time) });
  assert.deepEqual(await findAccount(database.db, merchantId, account.accountId), removed);
  assert.deepEqual(
    (await eventsAbout(account.accountId)).map(({ type, sequence }) => [type, sequence]),
    [
      ['account.created', 1n],
      ['account.removed', 2n],
    ],
  );
  const again = remove(merchantId, account.accountId);
  assert.equal(await refusalOf(again), `Account removed: ${account.accountId}`);
});

// proves W4.7
test('the settlement mode of an account is set at its creation or later, raises an event, and keeps the version', async () => {
  const merchantId = await newMerchant();
  assert.equal((await create(merchantId, { settlementMode: 'direct' })).settlementMode, 'direct');
  const account = await create(merchantId);
  const choose = (settlementMode: 'direct' | '', owner = merchantId) =>
    database.db.transaction((transaction) =>
      updateAccount(transaction, deps, {
        merchantId: owner,
        accountId: account.accountId,
        settlementMode,
      }),
    );
  time += 5_000;
  const direct = await choose('direct');
  assert.deepEqual(direct, { ...account, settlementMode: 'direct', updatedAt: new Date(time) });
  assert.deepEqual(await findAccount(database.db, merchantId, account.accountId), direct);
  const [, told] = await eventsAbout(account.accountId);
  assert.deepEqual(told, { type: 'account.updated', sequence: 2n, data: { account: accountOf(direct) } });
  assert.equal((await choose('')).settlementMode, '');
  const stranger = await newMerchant();
  assert.equal(await refusalOf(choose('direct', stranger)), `Account not found: ${account.accountId}`);
  await remove(merchantId, account.accountId);
  assert.equal(await refusalOf(choose('direct')), `Account removed: ${account.accountId}`);
});

test('a merchant has a name of 1 to 100 characters', async () => {
  const named = (merchantName: string) =>
    database.db.transaction((transaction) => createMerchant(transaction, deps, { merchantName }));
  const merchant = await named('  Café Florin ');
  assert.deepEqual(await findMerchant(database.db, merchant.merchantId), {
    merchantId: merchant.merchantId,
    merchantName: 'Café Florin',
    createdAt: new Date(time),
    suspendedAt: undefined,
  });
  assert.ok((await listMerchants(database.db)).some(({ merchantId }) => merchantId === merchant.merchantId));
  const message = 'Invalid field: merchantName must have 1 to 100 characters';
  for (const name of ['', '   ', 'x'.repeat(101)]) assert.equal(await refusalOf(named(name)), message);
});
