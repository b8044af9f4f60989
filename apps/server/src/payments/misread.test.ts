import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  addMissing,
  appendBlocks,
  type BlockHeader,
  finalize,
  findCursor,
  type RpcLog,
  storedBlock,
} from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress, keccak256, toEventSelector } from 'viem';
import type { ChainEvent } from '#contracts/event.ts';
import { logSourceOf } from '#contracts/log-source.ts';
import { unaccountedTransfers, watchedTransfers } from '#contracts/transfer.ts';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import { silentLog } from '#telemetry/log.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { movementHandler } from './movement.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

function word(value: bigint | string): Hex {
  const digits = typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase();
  return `0x${digits.padStart(64, '0')}`;
}

test('a payment that only the second reading of its block reports is booked once', async () => {
  const chain = world.chain('ethereum');
  const { chainId } = chain;
  const [token] = chain.tokens;
  assert.ok(token !== undefined);
  const { db } = world.database;
  const context = {
    chain,
    db,
    clock: world.clock,
    log: silentLog,
    handler: movementHandler({ log: silentLog }),
    source: logSourceOf(chain),
  };
  const cursorNow = async () => {
    const cursor = await findCursor(db, chainId);
    assert.ok(cursor !== undefined);
    return cursor;
  };
  const begun = await cursorNow();
  const [hash, txHash] = [keccak256('0x01'), keccak256('0x02')];
  const header: BlockHeader = {
    number: begun.headNumber + 1n,
    ...{ hash, parentHash: begun.headHash, time: world.clock.now(), logsBloom: '0x' as const },
    ...{ baseFeePerGas: 0n, transactionHashes: [txHash] },
  };
  const transfer: RpcLog = {
    ...{ blockHash: hash, blockNumber: header.number, transactionHash: txHash, removed: false, logIndex: 0 },
    address: token.address.toLowerCase() as Hex,
    topics: [
      toEventSelector('Transfer(address,address,uint256)'),
      word(`0x${'ee'.repeat(20)}`),
      word(chain.gateway),
    ],
    data: word(18n),
  };
  const paid = (order: Hex, logIndex: number): ChainEvent => ({
    ...{ chainId, blockNumber: header.number, blockHash: hash, blockTime: header.time, logIndex, txHash },
    ...{ contract: 'gateway' as const, name: 'Paid' as const, orderId: keccak256(order) },
    arguments: { token: getAddress(token.address), totalValue: '9', orderType: '0' },
  });
  const whole = [paid('0x11', 1), paid('0x12', 2)];
  const read = (reported: readonly ChainEvent[]) => {
    const found = { chainId, logs: [transfer], events: reported };
    const events = [...reported, ...unaccountedTransfers(watchedTransfers(chain), header, found)];
    return { header, events: events.toSorted((first, second) => first.logIndex - second.logIndex) };
  };
  const balanceOf = async (account: string) =>
    (await ledgerBalances(db)).find((balance) => balance.account === account)?.balance;

  // The node omits the last log of the transaction, so no event explains nine of the units.
  const first = read(whole.slice(0, 1));
  assert.deepEqual(
    first.events.map(({ name }) => name),
    ['Transferred', 'Paid'],
  );
  await appendBlocks(context, begun, [first]);
  const block = await storedBlock(context, header.number);
  assert.ok(block !== undefined);
  await finalize(context, await cursorNow(), block);
  assert.equal(await balanceOf('gateway:ethereum'), 18n);
  for (let time = 0; time < 2; time += 1) {
    await addMissing(context, await cursorNow(), read(whole));
    assert.equal(await balanceOf('gateway:ethereum'), 18n, `read again ${time + 1} times`);
  }
  assert.ok((await ledgerSums(db)).every(({ total }) => total === 0n));
});
