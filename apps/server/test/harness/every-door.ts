import { microUsd } from '@florin/protocol/money.ts';
import { secp256k1 } from '@florin/signing';
import type { FastifyInstance } from 'fastify';
import { cryptographyOf } from '#authorizations/cryptography.ts';
import type { PayerChain } from '#authorizations/payer-chain.ts';
import type { Chains } from '#chains/chain.ts';
import type { TokenSigningReader } from '#contracts/token-signing.ts';
import { agentDoor } from '#http/agent/agent.ts';
import { checkoutDoor } from '#http/checkout/checkout-door.ts';
import { merchantDoor } from '#http/merchant/merchant-door.ts';
import { buildServer } from '#http/server.ts';
import { x402Door } from '#http/x402/x402-door.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { checkoutOptionsOf } from './checkout-fixture.ts';
import type { MerchantWorld } from './merchant-fixture.ts';

/** A server with every door for sales and payments, over a merchant's world. It sends no transactions. */
export function everyDoor(
  world: MerchantWorld,
  chains: Chains,
  payerChain?: PayerChain,
): Promise<FastifyInstance> {
  const { db } = world.database;
  const page = { ...checkoutOptionsOf(world), chains, ...(payerChain === undefined ? {} : { payerChain }) };
  const deps = { ...page, db, cryptography: cryptographyOf(secp256k1) };
  const permits = new Set(['eip3009' as const]);
  const signingOf: TokenSigningReader = async ({ chainId, address }) => ({
    permits,
    domain: { name: 'Token', version: '1', chainId, verifyingContract: address },
  });
  const gasless = {
    signingOf,
    minAmount: microUsd(0n),
    budgets: {
      ...{ perPayer: 0, perLink: 0, perNetwork: 0 },
      smartAccounts: { perPayment: 0, failuresPerMerchant: 0 },
    },
  };
  const sender = {
    plan: async () => ({ reverted: true, data: '0x' }) as const,
    record: () => Promise.reject(new Error('nothing is sent here')),
    broadcast: async () => {},
  };
  const rpcOf = (chainId: number): never => {
    throw new Error(`chain ${chainId} is not asked here`);
  };
  const readPayment = async () => undefined;
  const x402 = { ...deps, gasless, sender, rpcOf, readPayment, offerKey: new Uint8Array(32), waitMs: 0 };
  return buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [
      merchantDoor({ ...world.deps, chains }),
      checkoutDoor(page),
      agentDoor({ db, deps, basePaths: ['/aipay/api/v1'] }),
      x402Door({ deps: x402, enter: () => () => {}, basePaths: ['/aipay/x402'] }),
    ],
  });
}
