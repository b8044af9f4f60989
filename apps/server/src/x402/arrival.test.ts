import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Rpc, RpcError, RpcUnavailable } from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import { pad, toHex } from 'viem';
import { payerChainOf } from '#authorizations/payer-chain.ts';
import { type ExpectedTransfer, findArrival } from './arrival.ts';

const address = (byte: string): Hex => `0x${byte.repeat(20)}`;
const word = (byte: string): Hex => `0x${byte.repeat(32)}`;
const expected: ExpectedTransfer = {
  token: {
    ...{ tokenId: 'base::usdc', chainName: 'base', chainId: 8_453, address: address('70') },
    ...{ name: 'USD Coin', symbol: 'USDC', decimals: 6 },
  },
  payer: address('11'),
  payTo: address('22'),
  total: 2_000_000n,
  isPrivate: true,
};

interface ChainState {
  readonly balance: Hex | Error;
  /** Values of transfers from the payer to the address; none when absent. */
  readonly transfers?: readonly bigint[];
}

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const headNumber = 1_000n;

function log(value: bigint) {
  return {
    ...{ address: expected.token.address, data: pad(toHex(value)), blockHash: word('aa') },
    topics: [transferTopic, pad(expected.payer), pad(expected.payTo)],
    ...{ blockNumber: toHex(headNumber), logIndex: '0x0', transactionHash: word('bb'), removed: false },
  };
}

const head = {
  ...{ number: toHex(headNumber), hash: word('aa'), parentHash: word('a9'), timestamp: '0x1' },
  ...{ baseFeePerGas: '0x1', gasLimit: '0x1c9c380', gasUsed: '0x0', logsBloom: `0x${'00'.repeat(256)}` },
  ...{ transactions: [], miner: address('00'), stateRoot: word('01'), receiptsRoot: word('02') },
  ...{ transactionsRoot: word('03'), sha3Uncles: word('04'), extraData: '0x', mixHash: word('05') },
  ...{ nonce: '0x0000000000000000', difficulty: '0x0', size: '0x1', uncles: [] },
};

/** A node of the payer's chain. It records the filters of log requests. */
function chainIn({ balance, transfers = [] }: ChainState, filters: unknown[] = []) {
  const rpc: Rpc = {
    request: async (method, params) => {
      if (method === 'eth_getBlockByNumber') return head;
      if (method === 'eth_getLogs') {
        filters.push(params[0]);
        return transfers.map(log);
      }
      if (balance instanceof Error) throw balance;
      return balance;
    },
    batch: async () => assert.fail('no batches here'),
  };
  return { rpcOf: () => rpc, payerChain: payerChainOf(() => rpc) };
}

const amount = (value: bigint) => pad(toHex(value));
const enough = amount(expected.total);
type Rule = readonly [name: string, state: ChainState, ofLink: string, ofSession: string];
const rules: readonly Rule[] = [
  ['an empty address', { balance: amount(0n) }, 'none', 'none'],
  ['an address that lacks a unit', { balance: amount(expected.total - 1n) }, 'none', 'none'],
  ['an address without a token', { balance: '0x' }, 'none', 'none'],
  ['a token that reverts', { balance: new RpcError(3, 'reverted') }, 'none', 'none'],
  ['a transfer without a balance', { balance: amount(0n), transfers: [expected.total] }, 'none', 'none'],
  // proves W8.15
  ['money of unknown payers', { balance: enough }, 'there', 'foreign'],
  ['a small transfer beside it', { balance: enough, transfers: [1n] }, 'there', 'foreign'],
  ['the payer’s transfer', { balance: enough, transfers: [1n, expected.total] }, 'there', 'there'],
];

for (const [name, state, ofLink, ofSession] of rules)
  test(`${name}: ${ofLink} for a link, ${ofSession} for a session`, async () => {
    assert.equal(await findArrival(chainIn(state), expected), ofLink);
    assert.equal(await findArrival(chainIn(state), { ...expected, isPrivate: false }), ofSession);
  });

test('recent blocks are searched for transfers of this payer to this address', async () => {
  const filters: unknown[] = [];
  await findArrival(chainIn({ balance: enough }, filters), { ...expected, isPrivate: false });
  const topics = [transferTopic, pad(expected.payer), pad(expected.payTo)];
  assert.deepEqual(filters, [
    { fromBlock: toHex(headNumber - 200n), toBlock: 'latest', address: expected.token.address, topics },
  ]);
});

test('a chain that does not answer does not mean an empty address', async () => {
  const silent = chainIn({ balance: new RpcUnavailable('timeout') });
  await assert.rejects(findArrival(silent, expected), { slug: 'chain_unavailable' });
});
