import type { Database } from '@florin/pg';
import type { AuthorizationContext } from '#authorizations/context.ts';
import type { ImageStore } from '#catalog/images/image-store.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import type { Log } from '#telemetry/log.ts';
import type { DemoPayer } from './demo-payer.ts';

/** What the hosted pages need of the process that serves them. */
export interface CheckoutContext extends Omit<AuthorizationContext, 'cryptography'> {
  readonly db: Database;
  readonly log: Log;
  /** Present where there is a mail server. */
  readonly notify?: SessionMoveContext['notify'];
  /** The hosted images; absent where the service hosts none. */
  readonly imageStore?: Pick<ImageStore, 'read'> | undefined;
  /** Base URL of the AI protocol, without a trailing slash. */
  readonly agentApi: string;
  /** Where payers whose wallet has too little get tokens. */
  readonly fundingUrl?: string | undefined;
  /** Where the operator chose WalletConnect: the project's id, and the text of the module that the operator built. */
  readonly walletConnect?: { readonly projectId: string; readonly module: string } | undefined;
  /** Only in local worlds: pays for visitors without a wallet. */
  readonly demo?: DemoPayer | undefined;
}
