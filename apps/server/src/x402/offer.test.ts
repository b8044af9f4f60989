import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { X402Requirements } from '@florin/protocol/x402.ts';
import { type OfferTerms, openOffer, sealOffer } from './offer.ts';

const deps = { offerKey: new Uint8Array(32).fill(1) };
const terms: OfferTerms = {
  seed: 'ab'.repeat(32),
  issuedAt: 1_800_000_000,
  version: 'ver_1',
  refundAddress: `0x${'aA'.repeat(20)}`,
};
const shown = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '2000000',
  asset: `0x${'bB'.repeat(20)}`,
  payTo: `0x${'cC'.repeat(20)}`,
  maxTimeoutSeconds: 300,
} as const;
const offered = (
  changed: Partial<X402Requirements> = {},
  offer = sealOffer(deps, shown, terms),
): X402Requirements => ({ ...shown, extra: { name: 'USD Coin', version: '2', offer }, ...changed });

test('an offer states its terms, regardless of how its addresses are written', () => {
  assert.deepEqual(openOffer(deps, offered()), terms);
  const lower = { asset: shown.asset.toLowerCase(), payTo: shown.payTo.toLowerCase() };
  assert.deepEqual(openOffer(deps, offered(lower)), terms);
});

const [body = '', mac = ''] = offered().extra.offer.split('.');
const others: readonly (readonly [name: string, offer: X402Requirements])[] = [
  ['another network', offered({ network: 'eip155:1' })],
  // proves W8.15
  ['another amount', offered({ amount: '2000001' })],
  ['another token', offered({ asset: shown.payTo })],
  ['another address', offered({ payTo: shown.asset })],
  ['another seed', offered({}, `${bodyWith({ seed: 'cd'.repeat(32) })}.${mac}`)],
  ['another time', offered({}, `${bodyWith({ issuedAt: 1_900_000_000 })}.${mac}`)],
  ['another version', offered({}, `${bodyWith({ version: 'ver_2' })}.${mac}`)],
  ['another refund address', offered({}, `${bodyWith({ refundAddress: shown.payTo })}.${mac}`)],
  // proves W8.15
  ['no MAC', offered({}, body)],
  ['an empty MAC', offered({}, `${body}.`)],
  ['a cut MAC', offered({}, `${body}.${mac.slice(0, -4)}`)],
  ['a longer MAC', offered({}, `${body}.${mac}AAAA`)],
  ['nothing', offered({}, '')],
  ['the MAC of another key', offered({}, sealOffer({ offerKey: new Uint8Array(32) }, shown, terms))],
];

function bodyWith(changed: Partial<OfferTerms>): string {
  const { seed, issuedAt, version, refundAddress } = { ...terms, ...changed };
  return Buffer.from(JSON.stringify([seed, issuedAt, version, refundAddress])).toString('base64url');
}

for (const [name, offer] of others)
  test(`with ${name} an offer is not ours`, () => assert.equal(openOffer(deps, offer), undefined));
