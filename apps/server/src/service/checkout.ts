import { walletOf } from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import type { CheckoutDoorOptions } from '#http/checkout/checkout-door.ts';
import { demoPayerOf } from '#http/checkout/demo-payer.ts';
import { agentDepsOf } from './gasless.ts';

type Options = Parameters<typeof agentDepsOf>[0] & { readonly demoPayerKey?: Hex };

/** What the hosted pages need: all that the AI protocol needs, and in local worlds a payer for visitors without a wallet. */
export function checkoutOptionsOf(
  options: Options,
  parts: Parameters<typeof agentDepsOf>[1],
  sessionDeps: Parameters<typeof agentDepsOf>[2],
): CheckoutDoorOptions {
  const { demoPayerKey, clock, log, origin } = options;
  const { db, rpcOf } = parts;
  return {
    ...agentDepsOf(options, parts, sessionDeps).deps,
    db,
    log,
    agentApi: `${origin}/aipay/api/v1`,
    ...(demoPayerKey === undefined ? {} : { demo: demoPayerOf(walletOf(demoPayerKey), { clock, rpcOf }) }),
  };
}
