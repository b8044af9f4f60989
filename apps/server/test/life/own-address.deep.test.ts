import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import type { Hex, SettlementMode } from '@florin/protocol/order.ts';
import { ledgerBalances } from '#ledger/entry.ts';
import { createAccount, updateAccount } from '#merchants/account.ts';
import type { BooksStatus } from '#reconcile/status.ts';
import { jsonLog } from '#telemetry/log.ts';
import { startService } from '../../src/service/service.ts';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

// Older installations may have such an account; new accounts refuse such an address.
const writeAddress = statement({
  name: 'own_address_write',
  parameters: { accountId: 'text', accountAddress: 'text' },
  text: 'update accounts set account_address = :accountAddress where account_id = :accountId',
});

const alarms: string[] = [];
let life: Life;
before(async () => {
  life = await Life.start((options) => {
    const log = jsonLog('silent');
    const error = (event: string, cause: unknown, fields?: Parameters<typeof log.error>[2]) => {
      alarms.push(event);
      log.error(event, cause, fields);
    };
    return startService({ ...options, log: { ...log, error }, reconcileIntervalMs: 150 });
  });
  life.mine();
});
after(() => life.close());

/** Books and chain, compared at a block that is newer than this call. */
async function compared(): Promise<BooksStatus> {
  const from = BigInt((await life.ethereum.anvil.request('eth_blockNumber')) as Hex);
  return life.eventually(
    async () => (await (await fetch(`${life.options.origin}/status`)).json()) as BooksStatus,
    ({ chains }) => BigInt(chains.find(({ chain }) => chain === 'ethereum')?.reconciledBlock ?? '0') > from,
    'a look at the books',
  );
}

async function paid(amount: number): Promise<void> {
  const sessionId = await checkout(life, amount);
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 10_000_000n);
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
  await life.sessionIn(sessionId, 'completed');
}

/** Adds another account of the merchant; returns its id. */
async function accountAt(accountAddress: Hex): Promise<string> {
  const { clock, random, chains } = life.options;
  return life.database.db.transaction(async (transaction) => {
    const { accountId } = await createAccount(
      transaction,
      { clock, random, chains },
      {
        merchantId: life.merchantId,
        accountName: 'Old',
        accountAddress: new Payer(life).address,
        settlementCurrencies: ['ethereum::usdc'],
      },
    );
    await transaction.query(writeAddress, { accountId, accountAddress });
    return accountId;
  });
}

async function choose(accountId: string, settlementMode: SettlementMode): Promise<void> {
  const request = { merchantId: life.merchantId, accountId, settlementMode };
  await life.database.db.transaction((transaction) => updateAccount(transaction, life.options, request));
}

test('a stored account with our vault as its address pays into the float, and settlement continues for all merchants', async () => {
  const { vault } = life.ethereum.chain;
  const floatOf = async () =>
    (await ledgerBalances(life.database.db)).find(
      ({ account, asset }) => account === 'vault:ethereum' && asset === 'ethereum::usdc',
    )?.balance ?? 0n;
  await compared();
  const float = await floatOf();
  const usual = life.accountId;
  life.accountId = await accountAt(vault);
  for (const settlementMode of ['escrow', 'direct'] as const) {
    await choose(life.accountId, settlementMode);
    await paid(1_000_000);
  }
  life.accountId = usual;
  // Two differing checks in a row would stop the chain.
  for (let looks = 0; looks < 3; looks += 1) assert.equal((await compared()).isBalanced, true);
  assert.equal(await floatOf(), float + 2n * 998_000n);
  await paid(2_000_000);
  const after = await compared();
  assert.deepEqual(
    after.chains.flatMap(({ balances }) => balances).filter(({ difference }) => difference !== '0'),
    [],
  );
  assert.ok(!alarms.includes('reconcile.drift'), alarms.join());
});
