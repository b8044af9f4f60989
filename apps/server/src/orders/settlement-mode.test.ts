import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { type Hex, orderKinds, type SettlementMode } from '@florin/protocol/order.ts';
import { updateAccount } from '#merchants/account.ts';
import { prepareOrder } from '#sessions/order-preparation.ts';
import { lockSession } from '#sessions/session.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { addSession } from '../../test/harness/payment-fixture.ts';
import { orderSignerOf } from './order-signer.ts';

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

const noteRestore = statement({
  name: 'settlement_mode_test_restore',
  parameters: { takenAt: 'timestamptz' },
  text: `insert into restorations (taken_at, restored_at, archive_hash, cursors) values (:takenAt, :takenAt, '', '[]')`,
});

const putCursor = statement({
  name: 'settlement_mode_test_cursor',
  parameters: { chainId: 'int8', headTime: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values (:chainId, 9, '0x', :headTime, 3, '0x', :headTime, :headTime)
   on conflict (chain_id) do update set head_time = :headTime, final_time = :headTime`,
});

/** Makes a block with that time final on a token's chain. */
const finalAt = (tokenId: string, seconds: number) =>
  world.database.db.query(putCursor, {
    chainId: world.deps.chains.token(tokenId)?.chainId ?? 0,
    headTime: new Date(seconds * 1_000),
  });

const signer = orderSignerOf(`0x${'0f'.repeat(32)}`);
const stranger: Hex = `0x${'d4'.repeat(20)}`;
const { escrow, direct, vaultPayout } = orderKinds;

/** A session of an account with a mode. `sign` returns the type of the order that it signs. */
async function sale(ofAccount: SettlementMode | '', ofConfiguration?: SettlementMode) {
  const merchantId = await world.addMerchant();
  const [key, accountId] = [await world.addKey(merchantId), await world.addAccount(merchantId)];
  const { db } = world.database;
  const choose = (settlementMode: SettlementMode | '') =>
    db.transaction((transaction) =>
      updateAccount(transaction, world.deps, { merchantId, accountId, settlementMode }),
    );
  await choose(ofAccount);
  const sessionId = await addSession(world, { key, accountId });
  const deps = {
    ...world.deps,
    ...{ signer, reclaimAfterSeconds: 86_400 },
    ...(ofConfiguration === undefined ? {} : { settlementMode: ofConfiguration }),
  };
  const sign = (tokenId: string, payer?: Hex, endsAt?: number) =>
    db.transaction(async (transaction) => {
      const session = await lockSession(transaction, sessionId);
      const token = deps.chains.token(tokenId);
      if (session === undefined || token === undefined) throw new Error(`no session, or no ${tokenId}`);
      const end = endsAt === undefined ? {} : { endsAt };
      const request = { session, payer: payer ?? stranger, payerEmail: '', token, ...end };
      return (await prepareOrder(transaction, deps, request)).order.orderType;
    });
  const wallet = async () => {
    const session = await db.transaction((transaction) => lockSession(transaction, sessionId));
    if (session === undefined) throw new Error('no session');
    return session.recipient;
  };
  return { sign, choose, wallet };
}

async function refusalOf(work: Promise<unknown>): Promise<string | undefined> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Refusal ? error.slug : undefined;
}

// proves W4.7
test('the account’s mode wins over the configuration’s, and without both the gateway holds the money', async () => {
  const found = [];
  for (const ofAccount of ['', 'escrow', 'direct'] as const)
    for (const ofConfiguration of [undefined, 'escrow', 'direct'] as const)
      found.push(await (await sale(ofAccount, ofConfiguration)).sign('ethereum::usdc'));
  assert.deepEqual(found, [escrow, escrow, direct, escrow, escrow, escrow, direct, direct, direct]);
});

test('a payment in another token or on another chain is never direct', async () => {
  for (const tokenId of ['ethereum::usdt', 'base::usdc'])
    assert.equal(await (await sale('direct')).sign(tokenId), vaultPayout, tokenId);
});

// proves W4.9
test('a direct order is signed only while no other chain has a payable order', async () => {
  const { sign } = await sale('direct');
  assert.equal(await sign('ethereum::usdt'), vaultPayout);
  // The same chain takes one payment, regardless of how many orders are signed.
  assert.equal(await sign('ethereum::usdc'), direct);
  const other = await sale('direct');
  assert.equal(await other.sign('base::usdc'), vaultPayout);
  assert.equal(await other.sign('ethereum::usdc'), escrow);
});

// proves W4.9
test('while a direct order can be paid other chains are refused, even after the account changes its mode', async () => {
  const { sign, choose } = await sale('direct');
  assert.equal(await sign('ethereum::usdc'), direct);
  assert.equal(await refusalOf(sign('base::usdc')), 'method_not_available');
  assert.equal(await sign('ethereum::usdt'), vaultPayout);
  await choose('escrow');
  assert.equal(await refusalOf(sign('base::usdc')), 'method_not_available');
  assert.equal(await sign('ethereum::usdc'), escrow);
});

// proves W4.9
test('an order whose deadline a final block has passed does not block other chains', async () => {
  const seconds = Math.floor(world.clock.time / 1_000) + 60;
  const { sign } = await sale('direct');
  assert.equal(await sign('ethereum::usdc', stranger, seconds), direct);
  await finalAt('ethereum::usdc', seconds);
  assert.equal(await refusalOf(sign('base::usdc')), 'method_not_available');
  await finalAt('ethereum::usdc', seconds + 1);
  assert.equal(await sign('base::usdc', stranger, seconds), vaultPayout);
  assert.equal(await sign('ethereum::usdc'), escrow);
  const other = await sale('direct');
  assert.equal(await other.sign('base::usdc', stranger, seconds), vaultPayout);
  await finalAt('base::usdc', seconds + 1);
  assert.equal(await other.sign('ethereum::usdc'), direct);
});

test('of two concurrent requests on two chains one is refused, or neither order is direct', async () => {
  for (let count = 0; count < 5; count += 1) {
    const { sign } = await sale('direct');
    const outcomes = await Promise.all(
      ['ethereum::usdc', 'base::usdc'].map(async (tokenId) => {
        try {
          return await sign(tokenId);
        } catch (error) {
          return error instanceof Refusal ? error.slug : String(error);
        }
      }),
    );
    const allowed = [
      [direct, 'method_not_available'],
      [escrow, vaultPayout],
    ];
    assert.ok(
      allowed.some((each) => each.join() === outcomes.join()),
      outcomes.join(),
    );
  }
});

test('an order of a session from before a restore is held, because other orders may be lost; later ones are direct', async () => {
  const older = await sale('direct');
  world.clock.time += 1_000;
  await world.database.db.query(noteRestore, { takenAt: world.clock.now() });
  world.clock.time += 1_000;
  const newer = await sale('direct');
  assert.deepEqual(
    [await older.sign('ethereum::usdc'), await newer.sign('ethereum::usdc')],
    [escrow, direct],
  );
});

test('a payment from the merchant’s own wallet is held', async () => {
  const { sign, wallet } = await sale('direct');
  assert.equal(await sign('ethereum::usdc', await wallet()), escrow);
});
