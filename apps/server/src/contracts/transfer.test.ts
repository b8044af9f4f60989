import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BlockHeader, bloomOf, type RpcLog } from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress, keccak256, toEventSelector } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { ChainEvent, ChainEventName } from './event.ts';
import { isWatchedTransfer, mayHaveTransfers, unaccountedTransfers, watchedTransfers } from './transfer.ts';

const gateway = '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const oldGateway = '0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1';
const vault = '0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';
const usdc = '0xcccccccccccccccccccccccccccccccccccccccc';
const other = '0xdddddddddddddddddddddddddddddddddddddddd';
const payer = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
const chain: Chain = {
  name: 'test',
  chainId: 1,
  rpcUrls: [],
  gateway,
  vault,
  previousContracts: [{ gateway: oldGateway, vault }],
  startBlock: 0n,
  finality: { tag: 'finalized', depth: 0, quorum: 1 },
  pollIntervalMs: 1000,
  tokens: [
    {
      tokenId: 'test::usdc',
      chainName: 'test',
      chainId: 1,
      address: usdc,
      name: 'USD Coin',
      symbol: 'USDC',
      decimals: 6,
    },
  ],
};
const watched = watchedTransfers(chain);
const blockHash = keccak256('0x01');
const first = keccak256('0x02');
const second = keccak256('0x03');
const orderId = keccak256('0x04');
const place = { blockHash, blockNumber: 9n };
const header: BlockHeader = {
  number: 9n,
  hash: blockHash,
  parentHash: blockHash,
  time: new Date(1_700_000_000_000),
  logsBloom: '0x',
  baseFeePerGas: 0n,
  transactionHashes: [first, second],
};

const topicOf = (address: string): Hex => `0x${address.slice(2).padStart(64, '0')}`;

function transfer(
  from: string,
  to: string,
  amount: bigint,
  at: { txHash?: Hex; logIndex?: number; token?: Hex } = {},
): RpcLog {
  return {
    ...place,
    address: at.token ?? usdc,
    topics: [toEventSelector('Transfer(address,address,uint256)'), topicOf(from), topicOf(to)],
    data: `0x${amount.toString(16).padStart(64, '0')}`,
    logIndex: at.logIndex ?? 0,
    transactionHash: at.txHash ?? first,
    removed: false,
  };
}

function event(name: ChainEventName, said: Record<string, string>, txHash = first): ChainEvent {
  return {
    ...place,
    chainId: 1,
    blockTime: header.time,
    logIndex: 50,
    txHash,
    contract: 'gateway',
    name,
    orderId,
    arguments: { token: getAddress(usdc), ...said },
  };
}

/** Unaccounted transfers, as holder and amount. */
function unaccounted(logs: readonly RpcLog[], events: readonly ChainEvent[]): string[] {
  return unaccountedTransfers(watched, header, { chainId: 1, logs, events }).map(
    ({ contract, arguments: said, logIndex }) => `${contract} ${said['amount']} at ${logIndex}`,
  );
}

test('only transfers of configured tokens into or out of our contracts count', () => {
  assert.equal(isWatchedTransfer(watched, transfer(payer, gateway, 1n)), true);
  assert.equal(isWatchedTransfer(watched, transfer(oldGateway, payer, 1n)), true);
  assert.equal(isWatchedTransfer(watched, transfer(payer, other, 1n)), false);
  assert.equal(isWatchedTransfer(watched, transfer(payer, gateway, 1n, { token: other })), false);
  assert.equal(isWatchedTransfer(watched, { ...transfer(payer, gateway, 1n), data: '0x' }), false);
});

test('a block may have our transfers when its bloom may have the token, the topic and one of our contracts', () => {
  const bloomWith = (log: RpcLog) => bloomOf([log.address, ...log.topics]);
  assert.equal(mayHaveTransfers(watched, bloomWith(transfer(payer, vault, 1n))), true);
  assert.equal(mayHaveTransfers(watched, bloomWith(transfer(payer, other, 1n))), false);
  assert.equal(mayHaveTransfers(watched, bloomWith(transfer(payer, vault, 1n, { token: other }))), false);
});

test('a transfer that the events of its transaction explain raises no event', () => {
  const cases: readonly [RpcLog[], ChainEvent[]][] = [
    [[transfer(payer, gateway, 10n)], [event('Paid', { totalValue: '10', orderType: '0' })]],
    [[transfer(gateway, payer, 9n)], [event('Settled', { netValue: '9', to: payer })]],
    [[transfer(gateway, vault, 9n)], [event('Settled', { netValue: '9', to: getAddress(vault) })]],
    [[transfer(gateway, payer, 4n)], [event('Refunded', { value: '4' })]],
    [[transfer(gateway, payer, 4n)], [event('Reclaimed', { value: '4' })]],
    [[transfer(gateway, payer, 3n)], [event('FeesWithdrawn', { value: '3' })]],
    [[transfer(vault, payer, 7n)], [event('PaidOut', { amount: '7' })]],
    [[transfer(vault, payer, 7n)], [event('Withdrawn', { amount: '7' })]],
    // A direct payment, through the gateway or around it.
    [
      [transfer(payer, gateway, 10n), transfer(gateway, other, 9n), transfer(gateway, other, 1n)],
      [event('Paid', { totalValue: '10', orderType: '1' }), event('Settled', { netValue: '9', to: other })],
    ],
    // A direct payment whose fee stays, because the token refuses the fee recipient.
    [
      [transfer(payer, other, 9n), transfer(payer, gateway, 1n)],
      [event('Paid', { totalValue: '10', orderType: '1' }), event('FeeAccrued', { value: '1' })],
    ],
    // Two settlements share one transfer.
    [
      [transfer(gateway, payer, 9n)],
      [event('Settled', { netValue: '4', to: payer }), event('Settled', { netValue: '5', to: payer })],
    ],
  ];
  for (const [logs, events] of cases)
    assert.deepEqual(unaccounted(logs, events), [], JSON.stringify(events[0]?.name));
});

test('unexplained transfers of a transaction are one event, at the log index of the last one', () => {
  const paid = event('Paid', { totalValue: '10', orderType: '0' });
  assert.deepEqual(
    unaccounted([transfer(payer, gateway, 10n), transfer(payer, gateway, 3n, { logIndex: 4 })], [paid]),
    ['gateway 3 at 4'],
  );
  assert.deepEqual(unaccounted([transfer(payer, gateway, 10n, { txHash: second })], [paid]), [
    'gateway 10 at 0',
  ]);
  assert.deepEqual(unaccounted([transfer(payer, vault, 5n)], []), ['vault 5 at 0']);
  assert.deepEqual(unaccounted([transfer(gateway, payer, 5n)], []), ['gateway -5 at 0']);
  const elsewhere = event('Paid', { totalValue: '10', orderType: '0', token: getAddress(other) });
  assert.deepEqual(unaccounted([transfer(payer, gateway, 10n)], [elsewhere]), ['gateway 10 at 0']);
});

test('unexplained transfers of gateways and of vaults are two events, even if one transfer is the last of both', () => {
  const logs = [
    transfer(payer, gateway, 1n),
    transfer(payer, vault, 1n, { logIndex: 1 }),
    transfer(gateway, vault, 1_000n, { logIndex: 3 }),
  ];
  const withdrawn = event('FeesWithdrawn', { value: '1000', to: getAddress(vault) });
  assert.deepEqual(unaccounted(logs, [withdrawn]), ['gateway 1 at 3', 'vault 1001 at 3']);
});

test('a transfer between our contracts is no outflow', () => {
  const cases: readonly [RpcLog, ChainEvent, string[]][] = [
    [transfer(vault, vault, 7n), event('Withdrawn', { amount: '7' }), ['vault 7 at 0']],
    [transfer(vault, gateway, 7n), event('Withdrawn', { amount: '7' }), ['gateway 7 at 0']],
    [transfer(vault, gateway, 7n), event('PaidOut', { amount: '7' }), ['gateway 7 at 0']],
    [transfer(gateway, oldGateway, 7n), event('Refunded', { value: '7' }), ['gateway 7 at 0']],
    [transfer(gateway, vault, 7n), event('Reclaimed', { value: '7' }), ['vault 7 at 0']],
    [
      transfer(gateway, oldGateway, 7n),
      event('Settled', { netValue: '7', to: getAddress(oldGateway) }),
      ['gateway 7 at 0'],
    ],
    [
      transfer(payer, vault, 9n),
      event('Paid', { totalValue: '10', orderType: '1', to: getAddress(vault) }),
      ['vault 9 at 0'],
    ],
  ];
  for (const [log, told, expected] of cases) {
    assert.equal(isWatchedTransfer(watched, log), true, told.name);
    assert.deepEqual(unaccounted([log], [told]), expected, told.name);
  }
});
