import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import { withDirectSettlements } from './direct-settlement.ts';
import type { ChainEvent } from './event.ts';

const hash = (digit: string): Hex => `0x${digit.repeat(64)}`;
const merchant = '0x1111111111111111111111111111111111111111';
const token = '0x2222222222222222222222222222222222222222';

function paid(logIndex: number, orderId: Hex, orderType: string): ChainEvent {
  const channelId = hash('c');
  const metaData = hash('d');
  return {
    ...{
      chainId: 1,
      blockNumber: 9n,
      blockHash: hash('b'),
      blockTime: new Date(1_700_000_000_000),
      logIndex,
    },
    ...{ txHash: hash('e'), contract: 'gateway', name: 'Paid', orderId },
    arguments: {
      ...{ orderId, channelId, from: merchant, to: merchant, token, totalValue: '100', paymentValue: '98' },
      ...{ feeValue: '2', orderType, metaData },
    },
  };
}

function settled(of: ChainEvent, logIndex: number): ChainEvent {
  const { orderId } = of;
  const values = { netValue: '98', feeValue: '2', metaData: hash('d') };
  return {
    ...of,
    ...{ logIndex, name: 'Settled' },
    arguments: { orderId, channelId: hash('c'), to: merchant, token, ...values },
  };
}

test('the payment of a direct order is also its settlement, at the next log index', () => {
  const escrow = paid(0, hash('1'), '0');
  const direct = paid(3, hash('2'), '1');
  const later = paid(7, hash('3'), '2');
  assert.deepEqual(withDirectSettlements([escrow, direct, later]), [
    escrow,
    direct,
    settled(direct, 4),
    later,
  ]);
});

test('two direct payments in one block each get a settlement, even if no log is between them', () => {
  const [first, second] = [paid(3, hash('1'), '1'), paid(4, hash('2'), '1')];
  assert.deepEqual(withDirectSettlements([first, second]), [
    first,
    second,
    settled(second, 5),
    settled(first, 3 + 2 ** 30),
  ]);
});

test('a settlement that the gateway emits is not added again', () => {
  const direct = paid(3, hash('1'), '1');
  const events = [direct, settled(direct, 4)];
  assert.deepEqual(withDirectSettlements(events), events);
});
