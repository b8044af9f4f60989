import { microUsd } from '@florin/protocol/money.ts';
import { toHex } from 'viem';
import type { CheckoutContext } from '#http/checkout/context.ts';
import { orderSignerOf } from '#orders/order-signer.ts';
import { silentLog } from '#telemetry/log.ts';
import type { MerchantWorld } from './merchant-fixture.ts';

const balanceOfSelector = '0x70a08231';

/**
 * The options of the hosted pages over a merchant's world. Every payer has a hundred ethereum::usdc and no other
 * tokens.
 */
export function checkoutOptionsOf(world: MerchantWorld): CheckoutContext {
  const { origin, chains } = world.deps;
  const held = chains.token('ethereum::usdc')?.address;
  return {
    ...world.deps,
    db: world.database.db,
    log: silentLog,
    agentApi: `${origin}/aipay/api/v1`,
    signer: orderSignerOf(`0x${'0f'.repeat(32)}`),
    reclaimAfterSeconds: 86_400,
    serviceDomain: 'pay.example.com',
    payerChain: {
      codeAt: async () => '0x',
      callAt: async (_chainId, { to, data }) => {
        const isHeld = data.startsWith(balanceOfSelector) && to === held;
        return toHex(isHeld ? 100_000_000n : 0n, { size: 32 });
      },
    },
    gasless: { minAmount: microUsd(1_000_000n), signingOf: async () => ({ permits: new Set() }) },
    maxOpenSessions: undefined,
  };
}
