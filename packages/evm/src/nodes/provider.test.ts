import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog, systemClock } from '../../test/context.ts';
import { rpcOver } from './http-rpc.ts';
import { countProviders, providerOf } from './provider.ts';
import { type RpcOutcome, RpcUnavailable } from './rpc.ts';
import type { NodeConnection } from './transport.ts';

test('hosts of one registrable domain are one provider, and those of different ones are not', () => {
  const cases = [
    ['https://base.g.alchemy.com/v2/key', 'alchemy.com'],
    ['wss://eth.g.alchemy.com:444/v2', 'alchemy.com'],
    ['https://rpc.example.co.uk', 'example.co.uk'],
    ['https://other.co.uk', 'other.co.uk'],
    // A hoster put this domain on the list: two of its customers do not prove two companies.
    ['https://one.azurewebsites.net', 'azurewebsites.net'],
    ['http://10.0.0.1:8545', '10.0.0.1'],
    ['http://10.0.0.1:8546', '10.0.0.1'],
    ['http://[2001:db8::1]:8545', '[2001:db8::1]'],
    ['http://geth:8545', 'geth'],
    ['http://geth.internal:8545', 'geth.internal'],
    ['http://127.0.0.1:8545', '127.0.0.1:8545'],
    ['http://localhost:8546', 'localhost:8546'],
  ] as const;
  assert.deepEqual(
    cases.map(([url]) => providerOf(url)),
    cases.map(([, provider]) => provider),
  );
  assert.equal(countProviders(['https://a.alchemy.com', 'https://b.alchemy.com', 'https://c.infura.io']), 2);
});

test('nodes of one provider count as one, regardless of which of them answers', async () => {
  const answering = (name: string, answer?: string): NodeConnection => ({
    name,
    exchange: async (calls) => {
      if (answer === undefined) throw new RpcUnavailable('away');
      return calls.map(({ method }): RpcOutcome => ({ result: method === 'eth_chainId' ? '0x1' : answer }));
    },
    close: async () => {},
  });
  const options = { chainId: 1, clock: systemClock, log: silentLog };
  const rpc = rpcOver(
    [
      answering('one.example.com'),
      answering('two.example.com', 'said'),
      answering('node.example.net', 'said'),
    ],
    options,
  );
  const call = { method: 'eth_blockNumber', params: [] };
  const answersOf = async () => (await rpc.askEach([call])).map(({ node }) => node).sort();
  const [first, second] = [await answersOf(), await answersOf()];
  assert.deepEqual([first, second], [['node.example.net'], ['node.example.net', 'two.example.com']]);
});
