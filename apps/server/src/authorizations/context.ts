import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Chains } from '#chains/chain.ts';
import type { TokenSigningReader } from '#contracts/token-signing.ts';
import type { DepositPolicy, OrderContext } from '#orders/context.ts';
import type { FeeRates } from '#orders/quote.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { Cryptography } from './cryptography.ts';
import type { PayerChain } from './payer-chain.ts';

/** What this room needs of the process that it runs in. It includes the contexts of orders and of session moves. */
export interface AuthorizationContext {
  readonly clock: Clock;
  readonly random: Random;
  /** The public origin, without a slash at the end. */
  readonly origin: string;
  /** The service's own domain. The name of the EIP-712 domain is `aipay.` and this domain. */
  readonly serviceDomain: string;
  readonly chains: Chains;
  readonly rates: FeeRates;
  readonly signer: OrderContext['signer'];
  readonly reclaimAfterSeconds: number | undefined;
  readonly settlementMode?: OrderContext['settlementMode'];
  readonly orderLimits?: OrderContext['orderLimits'];
  readonly cryptography: Cryptography;
  readonly payerChain: PayerChain;
  /** Refuses (900101) to run another account's code for a caller who has used its share; no limit when absent. */
  readonly admitWalletCall?: (() => void) | undefined;
  /** How many payable sessions one payer may have open; undefined: no limit. */
  readonly maxOpenSessions: number | undefined;
  /** Refuses (900101) another session of a link that created too many lately; no limit when absent. */
  readonly admitCreation?: ((linkId: string) => void) | undefined;
  /** Absent where the service does not pay for payers' transactions. */
  readonly gasless?:
    | {
        readonly signingOf: TokenSigningReader;
        /** The service sends no payments below this, in Micro-USD. */
        readonly minAmount: MicroUsd;
        readonly deposits?: DepositPolicy | undefined;
        /** Whether a merchant's payers are offered gasless payment on a chain; always when absent. */
        readonly isOffered?: ((chainId: number, merchantId: string) => boolean) | undefined;
      }
    | undefined;
}
