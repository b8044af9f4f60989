import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bloomOf, RpcAnswerInvalid, type RpcLog } from '@florin/evm';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import {
  concat,
  encodeAbiParameters,
  getAddress,
  numberToHex,
  pad,
  parseAbiParameters,
  toEventSelector,
} from 'viem';
import { chainsOf } from '#chains/chain.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { decodeMint } from './contract-event.ts';
import { logSourceOf } from './log-source.ts';

const messenger: Hex = `0x${'a1'.repeat(20)}`;
const route: Hex = `0x${'a2'.repeat(20)}`;
const oldRoute: Hex = `0x${'a4'.repeat(20)}`;
const transmitter: Hex = `0x${'a3'.repeat(20)}`;
const merchant: Hex = getAddress(`0x${'c3'.repeat(20)}`);
const orderId: Hex = `0x${'0d'.repeat(32)}`;
const selector = toEventSelector('MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)');
const sources = [{ domain: 6, messenger, routes: [route, oldRoute] }];

interface Changes {
  readonly domain?: number;
  readonly sender?: Hex;
  readonly messageSender?: Hex;
  readonly hookData?: Hex;
}

function received(changed: Changes = {}): RpcLog {
  const word = (value: Hex) => pad(value, { size: 32 });
  const number = (value: bigint | number, size = 32) => numberToHex(value, { size });
  const head = [number(1, 4), word(`0x${'b1'.repeat(20)}`), word(merchant), number(994_000)];
  const tail = [word(changed.messageSender ?? route), number(0), number(4), number(0)];
  const body = concat([...head, ...tail, changed.hookData ?? orderId]);
  const data = encodeAbiParameters(parseAbiParameters('uint32, bytes32, bytes'), [
    changed.domain ?? 6,
    word(changed.sender ?? messenger),
    body,
  ]);
  const topics = [selector, word(`0x${'99'.repeat(20)}`), number(77), number(2000)];
  const place = {
    blockHash: orderId,
    blockNumber: 1n,
    logIndex: 0,
    transactionHash: orderId,
    removed: false,
  };
  return { address: transmitter, topics, data, ...place };
}

test('a mint for an order has the order, the amount that arrived and its receiver', () => {
  const minted = {
    name: 'Minted',
    orderId,
    arguments: {
      sourceDomain: '6',
      nonce: numberToHex(77, { size: 32 }),
      to: merchant,
      burnToken: getAddress(`0x${'b1'.repeat(20)}`),
      amount: '993996',
      fee: '4',
    },
  };
  assert.deepEqual(decodeMint(received(), sources), minted);
  assert.deepEqual(decodeMint(received({ messageSender: oldRoute }), sources), minted);
});

test('a mint belongs to an order only if one of our routes burnt for it through its chain’s messenger', () => {
  const stranger: Hex = `0x${'e1'.repeat(20)}`;
  const others: Changes[] = [
    { domain: 7 },
    { sender: stranger },
    { messageSender: stranger },
    // An address has twenty bytes: a word with more is another sender.
    { sender: `0x01${'00'.repeat(11)}${messenger.slice(2)}` },
    { messageSender: `0x01${'00'.repeat(11)}${route.slice(2)}` },
    { hookData: '0x' },
    { hookData: concat([orderId, '0x00']) },
  ];
  for (const changed of others) assert.equal(decodeMint(received(changed), sources), undefined);
  assert.equal(decodeMint(received(), []), undefined);
});

test('an impossible log of the transmitter is a fault of the node', () => {
  const log = received();
  for (const broken of [
    { ...log, topics: log.topics.slice(0, 3) },
    { ...log, data: log.data.slice(0, 100) as Hex },
    {
      ...log,
      data: log.data.replace(/60(?=0{60}[0-9a-f]{3}104)/, '80') as Hex,
      topics: log.topics.slice(0, 2),
    },
  ])
    assert.throws(() => decodeMint(broken, sources), RpcAnswerInvalid);
});

test('previous gateways, their vaults and the transmitter are watched as well', () => {
  const [chain] = fixtureChains.all;
  assert.ok(chain !== undefined);
  const before = { gateway: getAddress(`0x${'c1'.repeat(20)}`), vault: getAddress(`0x${'c2'.repeat(20)}`) };
  const place = { domain: 0, transmitter, messenger, route, tokenId: 'x::usdc', maxPerOrder: microUsd(1n) };
  const [linked] = chainsOf([{ ...chain, previousContracts: [before], cctp: place }]).all;
  assert.ok(linked !== undefined);
  const source = logSourceOf(linked);
  assert.equal(source.addresses.length, 5 + linked.tokens.length);
  const settled = toEventSelector(
    'Settled(bytes32,bytes32,address,address,address,uint256,uint256,uint256,uint8,bytes32)',
  );
  assert.equal(source.mayHaveEvents(bloomOf([before.gateway, settled])), false);
  const { topics } = received();
  assert.equal(source.mayHaveEvents(bloomOf([transmitter, ...topics])), true);
  // Fast transfers never pay an order.
  assert.equal(
    source.mayHaveEvents(bloomOf([transmitter, selector, numberToHex(1000, { size: 32 })])),
    false,
  );
});
