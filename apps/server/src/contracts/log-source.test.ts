import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BlockHeader, bloomOf, RpcAnswerInvalid, type RpcLog } from '@florin/evm';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { type Abi, encodeAbiParameters, encodeEventTopics, getAddress, keccak256 } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { logSourceOf } from './log-source.ts';

const chain: Chain = {
  name: 'test',
  chainId: 1,
  rpcUrls: [],
  gateway: '0xAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAa',
  vault: '0xBBbbBbBBBBbBBbbBbBbbbbBBbBbbbbBbBbbBBbBB',
  startBlock: 0n,
  finality: { tag: 'finalized', depth: 0, quorum: 1 },
  pollIntervalMs: 1000,
  tokens: [],
};
const source = logSourceOf(chain);
const gateway = chain.gateway.toLowerCase() as Hex;
const vault = chain.vault.toLowerCase() as Hex;
const blockHash = keccak256('0x01');
const txHash = keccak256('0x02');
const orderId = keccak256('0x03');
const token = getAddress('0x8ba1f109551bd432803012645ac136ddd64dba72');

/** Encodes an event as the contract would, with viem as an independent check of our decoder. */
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

test('events have every argument, integers as decimals and addresses checksummed', () => {
  const logs = [paid, paidOut];
  const place = {
    chainId: 1,
    blockNumber: 16n,
    blockHash,
    blockTime: new Date(1_700_000_000_000),
    txHash,
    orderId,
  };
  assert.deepEqual(source.decode(headerOf(logs), logs), [
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

test('events that the service does not use, and those of the other contract, are omitted', () => {
  const paused = logOf(paymentGatewayAbi, gateway, 'Paused', { by: token });
  const misplaced = { ...paid, address: vault, logIndex: 1 };
  const logs = [paused, misplaced];
  assert.deepEqual(source.decode(headerOf(logs), logs), []);
});

test('a log that our contracts cannot have written is refused', () => {
  const refused: Record<string, RpcLog> = {
    'another contract': { ...paid, address: `0x${'cc'.repeat(20)}` },
    'data cut off': { ...paid, data: paid.data.slice(0, -64) as Hex },
    'a topic less': { ...paid, topics: paid.topics.slice(0, 3) },
    'an address over 20 bytes': { ...paid, data: `0x01${paid.data.slice(4)}` },
    'an order type over 8 bits': { ...paid, data: `0x${paid.data.slice(2, 322)}01${paid.data.slice(324)}` },
  };
  for (const [name, log] of Object.entries(refused)) {
    assert.throws(() => source.decode(headerOf([paid]), [log]), RpcAnswerInvalid, name);
  }
});

test('contracts are watched in any letter case of their configured addresses', () => {
  const capitals = logSourceOf({ ...chain, gateway: `0x${chain.gateway.slice(2).toUpperCase()}` });
  assert.equal(capitals.isWanted(paid), true);
  assert.deepEqual(
    capitals.decode(headerOf([paid]), [paid]).map(({ name }) => name),
    ['Paid'],
  );
});

test('a block may have events only when its bloom may have one of our contracts and one of its topics', () => {
  assert.equal(source.mayHaveEvents(bloomOf([gateway, paid.topics[0] ?? '0x'])), true);
  assert.equal(source.mayHaveEvents(bloomOf([gateway])), false);
  assert.equal(source.mayHaveEvents(bloomOf(paid.topics)), false);
  assert.equal(source.mayHaveEvents(bloomOf([vault, paid.topics[0] ?? '0x'])), false);
});
