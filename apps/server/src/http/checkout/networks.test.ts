import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownChains } from '@florin/protocol/known-chain.ts';
import type { Chain as ViemChain } from 'viem';
import * as chains from 'viem/chains';
import type { Chain } from '#chains/chain.ts';
import { networkFactsOf, networkTitle } from '#chains/networks.ts';

/** Names of the list that wallets check against, where viem's differ. */
const otherTitles = new Map([
  [43_114, 'Avalanche C-Chain'],
  [59_144, 'Linea'],
]);

/** The networks of our table, according to viem. */
const known = knownChains.flatMap(({ chainId, network, isTestnet = false }) =>
  network === undefined
    ? []
    : Object.values<ViemChain>(chains)
        .filter(({ id, testnet = false }) => id === chainId && testnet === isTestnet)
        .slice(0, 1),
);

const chainOf = (chainId: number, rpcUrls: string[]) =>
  ({ chainId, name: 'some', rpcUrls }) as unknown as Chain;

test('wallets get the public facts of known networks, and never a configured node', () => {
  assert.equal(known.length, knownChains.filter(({ network }) => network !== undefined).length);
  for (const { id, name, nativeCurrency, blockExplorers } of known) {
    const facts = networkFactsOf(chainOf(id, ['http://127.0.0.1:1/secret-key']));
    assert.ok(facts);
    const { rpcUrl, explorer, currency } = facts;
    const title = networkTitle(chainOf(id, []));
    const { symbol, decimals } = nativeCurrency;
    assert.deepEqual(
      [title, currency.symbol, currency.decimals, explorer],
      [otherTitles.get(id) ?? name, symbol, decimals, blockExplorers?.default.url],
    );
    assert.match(rpcUrl, /^https:\/\/[a-z0-9.-]+(\/[\w/]*\w)?$/);
    assert.ok(!rpcUrl.includes('polygon-rpc.com'), 'closed to the public on 2026-02-16');
  }
});

test('for an unknown network, wallets get only a node on loopback, and its capitalized name', () => {
  const facts = networkFactsOf(chainOf(31_337, ['https://rpc.example/key', 'http://127.0.0.1:8545']));
  assert.equal(facts?.rpcUrl, 'http://127.0.0.1:8545');
  assert.equal(networkFactsOf(chainOf(31_337, ['https://rpc.example/key'])), undefined);
  assert.equal(networkTitle(chainOf(31_337, [])), 'Some');
});
