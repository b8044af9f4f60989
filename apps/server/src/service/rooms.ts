import {
  createSender,
  type HttpRpc,
  type NodeExchange,
  openHttpRpc,
  type Sender,
  walletOf,
} from '@florin/evm';
import { batched, type Database, type LaggingReads, openDatabase } from '@florin/pg';
import { secp256k1 } from '@florin/signing';
import { hashMessage } from 'viem';
import { cryptographyOf } from '#authorizations/cryptography.ts';
import { payerChainOf } from '#authorizations/payer-chain.ts';
import { isAuthorizedBy } from '#authorizations/signature.ts';
import { type Images, openImages } from '#catalog/images/open-images.ts';
import { verifiedRpc } from '#chains/verification.ts';
import type { ChainHandler } from '#contracts/event.ts';
import { purposes, type SendPurpose } from '#contracts/purpose.ts';
import { schema } from '#db/schema.ts';
import { dashboardOriginOf } from '#members/dashboard-origin.ts';
import { lazySignIn, type SignIn } from '#members/sign-in-session.ts';
import type { VerifyWallet } from '#members/verify-wallet.ts';
import { type ApiKeyLookup, findApiKeys } from '#merchants/api-key.ts';
import { orderSignerOf, verifiedSigner } from '#orders/order-signer.ts';
import type { OrderSigner } from '#orders/signer.ts';
import type { AddressPolicy } from '#outside/address.ts';
import { searchSnapshots } from '#sessions/session-search.ts';
import { recordExchange, recordStatement, tracedHandler } from './follow.ts';
import { openLists } from './lists.ts';
import { measured } from './measure.ts';
import type { ServiceOptions } from './options.ts';
import { chainReactions, outcomesOf } from './reactions.ts';

/** What the roles of a process share. */
export interface Rooms {
  readonly db: Database;
  /** Lists, search and sums, which may be as old as a replica. */
  readonly lists: LaggingReads;
  /** Nodes of chains that are not verified give no answer. */
  readonly rpcOf: (chainId: number) => HttpRpc;
  /** Signs nothing for chains that are not verified. */
  readonly signer: OrderSigner;
  readonly sender: Sender<SendPurpose>;
  readonly handler: ChainHandler;
  readonly lookupApiKey: ApiKeyLookup;
  /** Undefined if the service hosts no images. */
  readonly images: Images | undefined;
  readonly signIn: SignIn;
  readonly verifyWallet: VerifyWallet;
  /** Closes connections; the roles have ended by then. */
  close(): Promise<void>;
}

/** Concurrent lookups of keys share a round trip. */
const keyLookupLimits = { maxSize: 128, maxInFlight: 1, maxWaiting: 10_000 };
const weiPerGwei = 1_000_000_000n;

/** Opens the database and the nodes, and wires what the roles share. */
export function openRooms(options: ServiceOptions): Rooms {
  const {
    clock,
    log,
    chains,
    verification,
    masterKeys,
    metrics,
    traces,
    otherSettlerKeys = [],
    images: settings,
  } = options;
  const db = openDatabase({
    schema,
    url: options.databaseUrl,
    connections: options.databaseConnections,
    onError: (error) => log.warn('database.connection_lost', { message: error.message }),
    onCommit: metrics?.committed,
    onStatement: traces && ((ended) => recordStatement(traces, ended)),
    outageWaitMs: (options.databaseWaitSeconds ?? 0) * 1_000,
    onBack: (ms) => log.warn('database.back', { seconds: Math.round(ms / 100) / 10 }),
  });
  const lists = openLists(options, db);
  const rpcs = new Map(
    chains.all.map(({ name: chain, chainId, rpcUrls: urls }) => {
      const onExchange = (exchange: NodeExchange) => {
        metrics?.rpc(chain, exchange);
        if (traces !== undefined) recordExchange(traces, chain, exchange);
      };
      return [
        chainId,
        verifiedRpc(openHttpRpc({ chainId, urls, clock, log, onExchange }), chainId, verification),
      ];
    }),
  );
  const rpcOf = (chainId: number) => {
    const rpc = rpcs.get(chainId);
    if (rpc === undefined) throw new Error(`chain ${chainId} is not configured`);
    return rpc;
  };
  const sender = createSender({
    ...{ chains: chains.all, purposes, rpcOf, db, clock, log },
    wallet: walletOf(options.settlerKey),
    otherWallets: otherSettlerKeys.map(walletOf),
    relayer: options.gasless?.relayer === 'orderSigner' ? walletOf(options.orderKey) : undefined,
    maxFeePerGas: BigInt(options.settlement.maxFeePerGasGwei) * weiPerGwei,
    onOutcome: outcomesOf(options),
  });
  const searchSessions = (search: Parameters<typeof searchSnapshots>[1]) => searchSnapshots(db, search);
  const images =
    settings === undefined
      ? undefined
      : openImages({ ...options, settings, db, masterKey: masterKeys[0], searchSessions });
  const verifyWallet = walletVerifier(options, rpcOf);
  const signIn = lazySignIn(async () => {
    const { openSignIn } = await import('#members/sign-in.ts');
    return openSignIn({
      ...{ clock, log, masterKeys, random: options.random, databaseUrl: options.databaseUrl },
      databaseWaitSeconds: options.databaseWaitSeconds,
      dashboardOrigin: dashboardOriginOf(options),
      verifyWallet,
    });
  });
  return {
    ...{ db, lists, rpcOf, sender, images, signIn, verifyWallet },
    signer: verifiedSigner(orderSignerOf(options.orderKey), verification),
    handler: handlerOf(options),
    lookupApiKey: batched((hashes: readonly Buffer[]) => findApiKeys(db, hashes), keyLookupLimits),
    async close() {
      await Promise.all([...rpcs.values()].map((rpc) => rpc.close()));
      await images?.close();
      await signIn.close();
      await lists.close();
      await db.close();
    },
  };
}

/** What happens at each block, measured and followed where that is configured. */
function handlerOf(options: ServiceOptions): ChainHandler {
  const { metrics, traces, clock } = options;
  const plain = chainReactions(options);
  const counted = metrics === undefined ? plain : measured(plain, { metrics, clock });
  return traces === undefined ? counted : tracedHandler(counted, traces);
}

/** Wallets sign in as they pay: by their key or by the code of their account. */
function walletVerifier({ chains }: ServiceOptions, rpcOf: Rooms['rpcOf']): VerifyWallet {
  const context = { cryptography: cryptographyOf(secp256k1), payerChain: payerChainOf(rpcOf) };
  return async ({ chainId, address, message, signature }) => {
    if (!chains.all.some((chain) => chain.chainId === chainId)) return false;
    return isAuthorizedBy(context, { chainId, payer: address, digest: hashMessage(message), signature });
  };
}

/** Only local worlds allow loopback, where receivers need no certificates. */
export function webhookAddresses({ webhooks: { allowLoopback } }: ServiceOptions): AddressPolicy {
  return { allowLoopback, allowPlainLoopback: allowLoopback };
}
