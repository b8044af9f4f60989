import type { Sender } from '@florin/evm';
import type { AuthorizationContext } from '#authorizations/context.ts';
import type { SendPurpose } from '#contracts/purpose.ts';
import type { GasTotals } from '#merchants/relayed-gas.ts';

/** What this room needs of the process that it runs in. */
export interface SubmissionContext extends AuthorizationContext {
  readonly gasless: NonNullable<AuthorizationContext['gasless']> & {
    readonly budgets: GasBudgets;
    /** Of all gas spent for payers; absent: no total limit. */
    readonly totals?: GasTotals | undefined;
  };
  readonly sender: Pick<Sender<SendPurpose>, 'plan' | 'record' | 'broadcast'>;
}

/** What the service spends on payers' gas, in units of gas over the last 24 hours. */
export interface GasBudgets {
  readonly perPayer: number;
  /** Of a payment link; of the merchant for sessions without a link. */
  readonly perLink: number;
  /** Of a client's network: an IPv4 address, or the /64 of an IPv6 address. */
  readonly perNetwork: number;
  /** For payers with code. Such code can detect a simulation, use up the transaction's gas and refuse to pay. */
  readonly smartAccounts: {
    /** Gas of one payment's transaction. */
    readonly perPayment: number;
    /** Payments of a merchant's payers that failed within 24 hours or may still fail. */
    readonly failuresPerMerchant: number;
  };
}
