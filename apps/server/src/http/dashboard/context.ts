import type { HttpRpc, Rpc } from '@florin/evm';
import type { Database } from '@florin/pg';
import type { SendReceipt } from '#mail/receipt-again.ts';
import type { TellInvited, TellPerson } from '#members/context.ts';
import type { SignIn } from '#members/sign-in-session.ts';
import type { VerifyWallet } from '#members/verify-wallet.ts';
import type { Clock } from '#outside/clock.ts';
import type { SendingWallet } from '#reconcile/health.ts';
import type { OperationContext } from '../operations/context.ts';
import type { Limits } from '../rate-limit.ts';
import type { Attempts } from './attempts.ts';

/** What the door knows of the caller before it knows who it is. */
export interface VisitorContext {
  /** In the scope of the system: people are looked up before their merchant is known. */
  readonly people: Database;
  readonly signIn: SignIn;
  readonly clock: Clock;
  /** The origin of the dashboard's pages. */
  readonly dashboardOrigin: string;
  /** In the local environment a password alone opens the dashboard. */
  readonly environment: 'local' | 'production';
}

/** What the operator's screens show of the process. */
export interface Installation {
  readonly rpcOf: (chainId: number) => Rpc & Pick<HttpRpc, 'inspect'>;
  readonly wallets: readonly SendingWallet[];
  /** In force, without secrets. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** What the process gives the dashboard's door. */
export interface DashboardDoorContext extends OperationContext, VisitorContext {
  readonly clock: Clock;
  /** The name of the installation. */
  readonly displayName?: string | undefined;
  readonly limits?: Limits | undefined;
  readonly verifyWallet: VerifyWallet;
  /** What the operator's screens show of the installation. */
  readonly installation: Installation;
  /** Absent where no e-mail is configured. */
  readonly tellPerson?: TellPerson | undefined;
  readonly tellInvited?: TellInvited | undefined;
  readonly sendReceipt?: SendReceipt | undefined;
  /** How long an added wallet waits that is not the merchant's first, in milliseconds. */
  readonly walletDelayMs: number;
}

/** What the routes of the dashboard need. */
export interface DashboardContext extends DashboardDoorContext {
  readonly attempts: Attempts;
  /** What names the installation, which no password may contain. */
  readonly places: readonly string[];
}
