import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

const address = (byte: string): Hex => `0x${byte.repeat(20)}`;
const word = (byte: string): Hex => `0x${byte.repeat(32)}`;

/** A stored order without a signature, whose id ends in 0x2a, which is 42. */
export const fixtureOrder: StoredOrder = {
  orderId: `0x${'b7'.repeat(31)}2a`,
  sessionId: 'sess_1',
  chainId: 31_337,
  tokenId: 'ethereum::usdt',
  payerEmail: '',
  withSecret: false,
  order: {
    channelId: word('01'),
    metaData: word('02'),
    payer: address('03'),
    token: address('04'),
    to: address('05'),
    total: 10_020_000n,
    payment: 10_000_000n,
    fee: 20_000n,
    payBy: 1_900_000_000n,
    reclaimAt: 1_900_086_400n,
    orderType: 0,
    targetChain: 31_337n,
    via: address('00'),
  },
  gateway: address('06'),
  payoutVault: '',
  amounts: {
    totalValue: microUsd(10_020_000n),
    paymentValue: microUsd(10_000_000n),
    feeValue: microUsd(20_000n),
    netValue: microUsd(10_000_000n),
  },
  signature: '0x',
  added: 0n,
};
