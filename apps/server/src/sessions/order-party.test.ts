import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress, zeroAddress } from 'viem';
import { createAccount } from '#merchants/account.ts';
import { assertNotOwn } from '#merchants/own-address.ts';
import { receiverOf } from '#orders/receiver.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => 'accepted',
    (reason: unknown) => reason,
  );
  return error instanceof Refusal ? `${error.slug}: ${error.details.detail}` : String(error);
}

test('a contract of the installation cannot be a payer, because a refund to it would be lost', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  for (const { name, gateway, vault, tokens } of fixtureChains.all) {
    const own: readonly (readonly [Hex, string])[] = [
      [getAddress(gateway), 'the gateway of ethereum'],
      [getAddress(vault), 'the vault of ethereum'],
      ...tokens.map(({ address, tokenId }) => [getAddress(address), `the token ${tokenId}`] as const),
    ];
    for (const [payer, what] of own)
      assert.equal(
        await refusalOf(world.signOrder(sessionId, 'ethereum::usdc', payer)),
        `payer_not_served: ${payer} is ${what}, a contract of this installation`,
        name,
      );
  }
  assert.equal((await world.session(sessionId)).signedOnce, false);
  await world.signOrder(sessionId, 'ethereum::usdc');
});

test('the zero address can be neither an account nor a payer, because tokens refuse refunds to it', async () => {
  const { db } = world.database;
  const sessionId = await world.openSession('ethereum::usdc');
  const refused = `payer_not_served: ${zeroAddress} is the zero address`;
  assert.equal(await refusalOf(world.signOrder(sessionId, 'ethereum::usdc', zeroAddress)), refused);
  assert.equal(await refusalOf(assertNotOwn(db, world.chains, zeroAddress)), refused);
  const { merchantId, signedOnce } = await world.session(sessionId);
  assert.equal(signedOnce, false);
  const request = {
    ...{ merchantId, accountName: 'Zero', settlementCurrencies: ['ethereum::usdc'] },
    accountAddress: zeroAddress,
  };
  const deps = { ...world.moves, chains: world.chains };
  assert.equal(
    await refusalOf(db.transaction((transaction) => createAccount(transaction, deps, request))),
    'field_invalid: accountAddress must not be the zero address',
  );
});

test('an order’s deposit address can be neither an account nor a payer, because money there pays that order', async () => {
  const { db } = world.database;
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  const receiver = receiverOf(getAddress(order.gateway), order.orderId);
  const { merchantId } = await world.session(sessionId);
  const request = {
    ...{ merchantId, accountName: 'Deposit', settlementCurrencies: ['ethereum::usdc'] },
    accountAddress: receiver.toLowerCase(),
  };
  const deps = { ...world.moves, chains: world.chains };
  assert.equal(
    await refusalOf(db.transaction((transaction) => createAccount(transaction, deps, request))),
    'field_invalid: accountAddress must not be the deposit address of an order',
  );
  assert.equal(
    await refusalOf(assertNotOwn(db, world.chains, receiver)),
    `payer_not_served: ${receiver} is the deposit address of an order`,
  );
  assert.equal(await refusalOf(assertNotOwn(db, world.chains, order.order.payer)), 'accepted');
});
