import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BlockHeader, bloomOf, type Receipt, RpcAnswerInvalid, type RpcLog } from '@florin/evm';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { type Abi, encodeAbiParameters, encodeEventTopics, getAddress, keccak256, toHex } from 'viem';
import type { Chain } from '../chain.ts';
import { eventsOf, logsOfReceipts, mayHaveEvents, watchedContracts } from './log-check.ts';

const chain: Chain = {
  name: 'test',
  chainId: 1,
  rpcUrls: [],
  gateway: '0xAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAa',
  vault: '0xBBbbBbBBBBbBBbbBbBbbbbBBbBbbbbBbBbbBBbBB',
  startBlock: 0n,
  finality: { tag: 'finalized', depth: 0 },
  pollIntervalMs: 1000,
  tokens: [],
};
const watched = watchedContracts(chain);
const gateway = chain.gateway.toLowerCase() as Hex;
const vault = chain.vault.toLowerCase() as Hex;
const blockHash = keccak256('0x01');
const txHash = keccak256('0x02');
const orderId = keccak256('0x03');
const token = getAddress('0x8ba1f109551bd432803012645ac136ddd64dba72');

/** Encodes an event as the contract would, with viem as the second opinion on our decoder. */
function logOf(
  abi: Abi,
  address: Hex,
  eventName: string,
  args: Record<string, unknown>,
  logIndex = 0,
): RpcLog {
  const event = abi.find((item) => item.type === 'event' && item.name === eventName);
  if (event?.type !== 'event') throw new Error(`no event ${eventName}`);
  const plain = event.inputs.filter((input) => input.indexed !== true);
  const topics = encodeEventTopics({ abi, eventName, args }).map((topic) => topic as Hex);
  return {
    address,
    topics,
    data: encodeAbiParameters(
      plain,
      plain.map((input) => args[input.name ?? '']),
    ).toLowerCase() as Hex,
    blockHash,
    blockNumber: 16n,
    logIndex,
    transactionHash: txHash,
    removed: false,
  };
}

function headerOf(logs: readonly RpcLog[]): BlockHeader {
  return {
    number: 16n,
    hash: blockHash,
    parentHash: keccak256('0x00'),
    time: new Date(1_700_000_000_000),
    logsBloom: bloomOf(logs.flatMap((log) => [log.address, ...log.topics])),
    baseFeePerGas: 0n,
    transactionHashes: [txHash],
  };
}

const paid = logOf(paymentGatewayAbi, gateway, 'Paid', {
  orderId,
  channelId: keccak256('0x04'),
  from: token,
  to: token,
  token,
  totalValue: 2n ** 255n,
  paymentValue: 1n,
  feeValue: 0n,
  orderType: 2,
  metaData: keccak256('0x05'),
});
const paidOut = logOf(
  payoutVaultAbi,
  vault,
  'PaidOut',
  {
    orderId,
    channelId: keccak256('0x04'),
    to: token,
    token,
    amount: 77n,
    sourceChain: 8453n,
    metaData: keccak256('0x05'),
  },
  3,
);

test('events come out with every argument, integers as decimals and addresses checksummed', () => {
  const logs = [paid, paidOut];
  const place = {
    chainId: 1,
    blockNumber: 16n,
    blockHash,
    blockTime: new Date(1_700_000_000_000),
    txHash,
    orderId,
  };
  assert.deepEqual(eventsOf(watched, headerOf(logs), logs), [
    {
      ...place,
      logIndex: 0,
      contract: 'gateway',
      name: 'Paid',
      arguments: {
        orderId,
        channelId: keccak256('0x04'),
        from: token,
        to: token,
        token,
        totalValue: (2n ** 255n).toString(),
        paymentValue: '1',
        feeValue: '0',
        orderType: '2',
        metaData: keccak256('0x05'),
      },
    },
    {
      ...place,
      logIndex: 3,
      contract: 'vault',
      name: 'PaidOut',
      arguments: {
        orderId,
        channelId: keccak256('0x04'),
        to: token,
        token,
        amount: '77',
        sourceChain: '8453',
        metaData: keccak256('0x05'),
      },
    },
  ]);
});

test('events of ours that do not concern payments, and those of the other contract, are left out', () => {
  const paused = logOf(paymentGatewayAbi, gateway, 'Paused', { by: token });
  const misplaced = { ...paid, address: vault, logIndex: 1 };
  const logs = [paused, misplaced];
  assert.deepEqual(eventsOf(watched, headerOf(logs), logs), []);
});

test('a log that cannot be of this block makes the whole answer worthless', () => {
  const stranger: Hex = `0x${'cc'.repeat(20)}`;
  const header = headerOf([paid, paidOut, { ...paid, address: stranger }]);
  const refused: Record<string, RpcLog[]> = {
    removed: [{ ...paid, removed: true }],
    'another block hash': [{ ...paid, blockHash: keccak256('0x09') }],
    'another number': [{ ...paid, blockNumber: 17n }],
    'another contract': [{ ...paid, address: stranger }],
    'an unknown transaction': [{ ...paid, transactionHash: keccak256('0x09') }],
    twice: [paid, paid],
    'out of order': [paidOut, paid],
    'a topic outside of the bloom': [
      { ...paid, topics: [...paid.topics.slice(0, 3), keccak256(toHex('forged'))] },
    ],
    'data cut off': [{ ...paid, data: paid.data.slice(0, -64) as Hex }],
    'a topic less': [{ ...paid, topics: paid.topics.slice(0, 3) }],
    'an address over 20 bytes': [{ ...paid, data: `0x01${paid.data.slice(4)}` }],
    'an order type over 8 bits': [{ ...paid, data: `0x${paid.data.slice(2, 322)}01${paid.data.slice(324)}` }],
  };
  for (const [name, logs] of Object.entries(refused)) {
    assert.throws(() => eventsOf(watched, header, logs), RpcAnswerInvalid, name);
  }
});

test('a block concerns us only when its bloom may have one of our contracts and one of its topics', () => {
  assert.equal(mayHaveEvents(watched, bloomOf([gateway, paid.topics[0] ?? '0x'])), true);
  assert.equal(mayHaveEvents(watched, bloomOf([gateway])), false);
  assert.equal(mayHaveEvents(watched, bloomOf(paid.topics)), false);
  assert.equal(mayHaveEvents(watched, bloomOf([vault, paid.topics[0] ?? '0x'])), false);
});

const receiptOf = (logs: readonly RpcLog[]): Receipt => ({
  transactionHash: txHash,
  blockHash,
  blockNumber: 16n,
  succeeded: true,
  logsBloom: bloomOf(logs.flatMap((log) => [log.address, ...log.topics])),
  logs,
  type: 2,
  cumulativeGasUsed: 21_000n,
});

test('receipts that leave out what the bloom promises are not believed', () => {
  const foreign = { ...paid, address: `0x${'cc'.repeat(20)}` as Hex, logIndex: 1 };
  const header = headerOf([paid, foreign, paidOut]);
  const whole = [receiptOf([paid, foreign]), receiptOf([paidOut])];
  assert.deepEqual(logsOfReceipts(watched, header, whole), [paid, paidOut]);
  assert.throws(() => logsOfReceipts(watched, header, []), RpcAnswerInvalid);
  assert.throws(() => logsOfReceipts(watched, header, whole.slice(0, 1)), RpcAnswerInvalid);
  const thinned = [{ ...receiptOf([paid, foreign]), logs: [foreign] }, receiptOf([paidOut])];
  assert.throws(() => logsOfReceipts(watched, header, thinned), RpcAnswerInvalid);
  const moved = [{ ...receiptOf([paid, foreign]), blockHash: keccak256('0x09') }, receiptOf([paidOut])];
  assert.throws(() => logsOfReceipts(watched, header, moved), RpcAnswerInvalid);
});

test('a log that is missing between others of its transaction is missed by its number', () => {
  // The first and the last one set every bit that the one between them sets.
  const three = [paid, { ...paid, logIndex: 1 }, { ...paid, logIndex: 2 }];
  const header = headerOf(three);
  assert.equal(logsOfReceipts(watched, header, [receiptOf(three)]).length, 3);
  assert.equal(logsOfReceipts(watched, header, [receiptOf(three.toReversed())]).length, 3);
  const thinned = three.filter(({ logIndex }) => logIndex !== 1);
  assert.throws(() => logsOfReceipts(watched, header, [receiptOf(thinned)]), RpcAnswerInvalid);
  assert.throws(() => logsOfReceipts(watched, header, [receiptOf([...three, ...three])]), RpcAnswerInvalid);
});
