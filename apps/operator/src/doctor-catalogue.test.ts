import assert from 'node:assert/strict';
import { test } from 'node:test';
import { circleContracts } from '@florin/protocol/known-chain.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '@florin/server/operator';
import { examineCatalogue } from './doctor-catalogue.ts';

const baseUsdc: Hex = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const other: Hex = '0x1111111111111111111111111111111111111111';

function base(address: Hex, domain: number): Parameters<typeof examineCatalogue>[0] {
  const token = { tokenId: 'base::usdc', symbol: 'USDC', address } as Chain['tokens'][number];
  const { tokenMessenger: messenger, messageTransmitter: transmitter } = circleContracts.main;
  const cctp = { domain, messenger, transmitter } as unknown as NonNullable<Chain['cctp']>;
  return { name: 'base', chainId: 8_453, tokens: [token], cctp };
}

test('a token or a CCTP domain that differs from what is public is reported', () => {
  assert.deepEqual(examineCatalogue(base(baseUsdc, 6)), [
    {
      what: 'base catalogue',
      isGood: true,
      detail: 'nothing differs from what issuers and Circle publish',
    },
  ]);
  const [finding] = examineCatalogue(base(other, 3));
  assert.equal(finding?.isGood, false);
  assert.equal(
    finding?.detail,
    `base::usdc is ${other}, and the issuer's USDC is ${baseUsdc}; cctp.domain is 3, and Circle's is 6: correct the configuration`,
  );
});

test('a chain of which nothing is known has no finding', () => {
  assert.deepEqual(examineCatalogue({ ...base(other, 3), chainId: 31_337 }), []);
});
