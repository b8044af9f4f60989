import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Token } from '@florin/protocol/token.ts';
import type { CctpContracts, Chain } from '#chains/chain.ts';
import { assertCctpFits, attestationUrlOf, contractsFrom } from './contracts.ts';
import { readSetting } from './setting.ts';
import { settings } from './settings.ts';
import { settlementOf } from './settlement.ts';

const gateway = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const vault = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';
const cctp = { domain: 6, transmitter: gateway, messenger: vault, route: gateway, tokenId: 'base::usdc' };

const { attestationUrl, chains, settlement } = settings.properties;
const token = { tokenId: 'base::usdc', address: gateway, name: 'USD Coin', symbol: 'USDC', decimals: 6 };
const chainSettings = {
  name: 'base',
  chainId: '8453',
  rpcUrls: ['https://x.example'],
  startBlock: '0',
  tokens: [token],
};

function contractsOf(given: object) {
  const [read] = readSetting(chains, [{ ...chainSettings, gateway, vault, ...given }]);
  assert.ok(read !== undefined);
  return contractsFrom(read);
}

function chainWith(changes: Partial<CctpContracts>, decimals = 6): Chain {
  const contracts = contractsOf({ cctp });
  const token: Token = {
    ...{ tokenId: 'base::usdc', chainName: 'base', chainId: 8453, address: gateway },
    ...{ name: 'USD Coin', symbol: 'USDC', decimals },
  };
  assert.ok(contracts.cctp !== undefined);
  return {
    ...{ name: 'base', chainId: 8453, rpcUrls: [], startBlock: 0n, pollIntervalMs: 1, tokens: [token] },
    ...{
      finality: { tag: 'finalized', depth: 0, quorum: 1 },
      ...contracts,
      cctp: { ...contracts.cctp, ...changes },
    },
  };
}

test('a chain has its contracts, earlier ones, and its CCTP path', () => {
  const previousGateways = [{ gateway: vault, vault: gateway, cctpRoute: vault }];
  const none = { previousContracts: undefined, cctp: undefined };
  assert.deepEqual(contractsOf({}), { gateway, vault, ...none });
  assert.deepEqual(contractsOf({ previousGateways, cctp }), {
    gateway,
    vault,
    previousContracts: previousGateways,
    cctp: { ...cctp, maxPerOrder: 1_000_000_000_000n },
  });
});

test('CCTP is refused for a token that is not the chain’s own, or whose decimals differ between chains', () => {
  const refused = (chains: readonly Chain[]) => {
    try {
      assertCctpFits(chains);
    } catch (error) {
      return String(error);
    }
    return 'accepted';
  };
  assert.equal(refused([chainWith({})]), 'accepted');
  assert.match(
    refused([chainWith({ tokenId: 'base::dai' })]),
    /base::dai, which is not a token of the chain/,
  );
  assert.match(refused([chainWith({}, 18)]), /must have 6 decimals/);
  assert.match(refused([chainWith({}), chainWith({})]), /domain 6 is used twice/);
});

test('burns need an attestation service', () => {
  const urlOf = (url?: string, chains: readonly Chain[] = [chainWith({})]) =>
    attestationUrlOf(url && readSetting(attestationUrl, url, 'attestationUrl'), chains);
  assert.equal(urlOf('https://iris-api.circle.com'), 'https://iris-api.circle.com');
  assert.equal(urlOf(undefined, []), undefined);
  assert.throws(() => urlOf(), /attestationUrl is missing/);
  for (const wrong of ['iris', 'ftp://iris.example', 'https://iris.example/'])
    assert.throws(() => urlOf(wrong), /give an http or https URL/);
});

test('the time to reclaim is one that the gateway takes, for sessions of every length', () => {
  const read = (values: object) => settlementOf(readSetting(settlement, values, 'settlement'));
  const chosen = (seconds: number) => read({ reclaimAfterSeconds: seconds }).reclaimAfterSeconds;
  const day = 86_400;
  assert.deepEqual([chosen(2 * day), chosen(83 * day)], [2 * day, 83 * day]);
  for (const seconds of [2 * day - 1, 83 * day + 1])
    assert.throws(() => chosen(seconds), /reclaimAfterSeconds must be an integer from 172800 to 7171200/);
  assert.equal(read({}).reclaimAfterSeconds, undefined);
  const outflow = { perOrderUsd: 1_000, hourlyUsd: 5_000, dailyUsd: 20_000 };
  assert.deepEqual(read({ outflow }).outflow, {
    perOrder: 1_000_000_000n,
    hourly: 5_000_000_000n,
    daily: 20_000_000_000n,
  });
});
