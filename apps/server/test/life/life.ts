import { randomBytes } from 'node:crypto';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { findFreePort, type LocalAttester } from '@florin/world';
import { Wallet } from 'ethers';
import { chainsOf } from '#chains/chain.ts';
import { allVerified } from '#chains/verification.ts';
import { createAccount } from '#merchants/account.ts';
import { createApiKey } from '#merchants/api-key.ts';
import { createMerchant } from '#merchants/merchant.ts';
import { type Clock, systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { jsonLog } from '#telemetry/log.ts';
import type { ProcessRole, ServiceOptions } from '../../src/service/options.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { type TestDatabase, testDatabase } from '../harness/database.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { settlementSettings } from '../harness/settlement-fixture.ts';
import { startAttester } from './bridge.ts';
import { LifeChain } from './life-chain.ts';
import { keys } from './roles.ts';

/** What a merchant read returned, with the parts that stories look at. */
export interface MerchantReply<Data> {
  readonly code: number;
  readonly message: string;
  readonly data: Data;
}

export interface SessionData {
  readonly session: {
    readonly sessionId: string;
    readonly status: string;
    readonly expirationTime: number;
    readonly payer: string;
    readonly payerEmail: string;
    readonly paidToken: string;
    readonly receiptId: string;
    readonly paymentSucceededTime: string | null;
    readonly settlementSucceededTime: string | null;
    readonly initiateTx: string;
    readonly completeTx: string;
    readonly pendingReason: string;
    readonly amount: number;
    readonly signedOnce: number;
  };
  readonly transaction?: {
    readonly orderId: string;
    readonly channelId: string;
    readonly orderType: number;
    readonly metaData: string;
    readonly paidAmountInToken: string;
    readonly executeTime: string;
    readonly finalizeTime: string;
    readonly totalValue: number;
    readonly addedValue: number;
    readonly paymentValue: number;
    readonly feeValue: number;
    readonly netValue: number;
    readonly sourceTx: string;
    readonly targetTx: string;
    readonly from: string;
    readonly to: string;
  };
}

/** An event as the receiver got it. */
export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly data: SessionData;
}

/** Time between two blocks while something happens on a chain, and between two looks whether something does. */
const blockIntervalMs = 60;
const idleIntervalMs = 300;
/**
 * A dozen loops look once or twice a second whether they have work. A story waits for few of them, and all together cost
 * more than the rest of a service that waits: here they look a third as often. Loops of other intervals keep theirs.
 */
const unhurriedClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep([500, 1_000].includes(ms) ? 3 * ms : ms, signal),
};
/** How long a story waits for something to become true before it gives up: generous, for slow machines. */
const patienceMs = 120_000;

/**
 * A whole small world for stories: real PostgreSQL, two real chains with real contracts and tokens, the service with all
 * roles, a real HTTPS receiver, one merchant with a webhook on everything.
 */
export class Life {
  readonly database: TestDatabase;
  readonly ethereum: LifeChain;
  readonly base: LifeChain;
  readonly receiver: Receiver;
  readonly attester: LocalAttester | undefined;
  readonly options: ServiceOptions;
  readonly merchantWallet: Hex;
  merchantId = '';
  accountId = '';
  secretKey = '';
  webhookKey = '';
  readonly #start: (options: ServiceOptions) => Promise<Pick<Service, 'stop'>>;
  #service: Pick<Service, 'stop'> | undefined;
  #isMining = false;
  #miner: Promise<void> = Promise.resolve();

  private constructor(parts: {
    database: TestDatabase;
    ethereum: LifeChain;
    base: LifeChain;
    receiver: Receiver;
    attester: LocalAttester | undefined;
    options: ServiceOptions;
    start: (options: ServiceOptions) => Promise<Pick<Service, 'stop'>>;
  }) {
    this.#start = parts.start;
    this.database = parts.database;
    this.ethereum = parts.ethereum;
    this.base = parts.base;
    this.receiver = parts.receiver;
    this.attester = parts.attester;
    this.options = parts.options;
    this.merchantWallet = Wallet.createRandom().address as Hex;
  }

  /** Starts everything; the service in this process, unless the story brings another way to start it. */
  static async start(
    start: (options: ServiceOptions) => Promise<Pick<Service, 'stop'>> = startService,
    extras: { hasCctp?: boolean } = {},
  ): Promise<Life> {
    const [database, receiver, ethereum, base] = await Promise.all([
      testDatabase(),
      startReceiver(),
      LifeChain.start({
        name: 'ethereum',
        chainId: 31_337,
        ...extras,
        tokens: [
          { symbol: 'usdc', decimals: 6 },
          { symbol: 'usdt', decimals: 6 },
        ],
      }),
      LifeChain.start({
        name: 'base',
        chainId: 31_338,
        ...extras,
        tokens: [
          { symbol: 'usdc', decimals: 6 },
          { symbol: 'dai', decimals: 18 },
        ],
      }),
    ]);
    const port = await findFreePort();
    const attester = extras.hasCctp === true ? await startAttester([ethereum, base]) : undefined;
    const options: ServiceOptions = {
      origin: `http://127.0.0.1:${port}`,
      serviceDomain: 'florin.test',
      http: { host: '127.0.0.1', port },
      // Each connection plans every statement that it runs: ten would cost a story half a second of PostgreSQL more.
      ...{ databaseUrl: database.url, databaseConnections: 4 },
      ...{ chains: chainsOf([ethereum.chain, base.chain]), verification: allVerified },
      roles: new Set<ProcessRole>(['web', 'watcher', 'worker']),
      fees: { sameToken: 2_000, sameChain: 3_000, crossChain: 6_000 },
      orderKey: keys.orderSigner,
      settlerKey: keys.settler,
      masterKeys: [randomBytes(32)],
      webhooks: {
        allowLoopback: true,
        certificateAuthority: receiver.ca,
        pauseAfterFailures: 10,
        pauseAfterHours: 72,
      },
      gasless: {
        minAmount: microUsd(1_000_000n),
        budgets: {
          ...{ perPayer: 10_000_000, perLink: 10_000_000, perNetwork: 1_000_000_000 },
          smartAccounts: { perPayment: 600_000, failuresPerMerchant: 20 },
        },
        depositWindowMs: 700,
        mostNamed: 1_000,
        depositBudgets: undefined,
        totals: undefined,
        balanceWindowMs: 500,
        x402WaitMs: 4_000,
        relayer: 'orderSigner',
        deposits: {
          underpaidPpm: 0,
          underpaidAmount: undefined,
          latePayment: 'return',
          lateHours: 24,
          addedAboveFee: microUsd(0n),
          addedPerDay: microUsd(100_000_000n),
        },
      },
      settlement: {
        ...settlementSettings,
        mode: 'escrow',
        // Each chain asks for its legs at this pace: 24 statements, however little happens.
        windowMs: 1_200,
        reclaimAfterSeconds: 604_800,
        maxFeePerGasGwei: 500,
      },
      ...(attester === undefined ? {} : { attestationUrl: attester.url }),
      maxOpenSessions: undefined,
      rateLimits: undefined,
      clock: unhurriedClock,
      random: systemRandom,
      log: jsonLog(process.env['FLORIN_TEST_LOG'] === undefined ? 'silent' : 'info'),
    };
    const life = new Life({ database, ethereum, base, receiver, attester, options, start });
    await life.startService();
    await life.#createMerchant();
    return life;
  }

  async #createMerchant(): Promise<void> {
    const { clock, random, chains } = this.options;
    const deps = { clock, random, chains };
    const created = await this.database.db.transaction(async (transaction) => {
      const { merchantId } = await createMerchant(transaction, deps, { merchantName: 'Story Shop' });
      const account = await createAccount(transaction, deps, {
        merchantId,
        accountName: 'Main',
        accountAddress: this.merchantWallet,
        settlementCurrencies: chains.tokens.map((token) => token.tokenId),
      });
      const { key } = await createApiKey(transaction, deps, { merchantId, kind: 'secret' });
      return { merchantId, accountId: account.accountId, key };
    });
    this.merchantId = created.merchantId;
    this.accountId = created.accountId;
    this.secretKey = created.key;
    const webhook = await this.post<{ key: string }>('/webhook/create', {
      webhookName: 'Story',
      webhookUrl: this.receiver.url,
      subscribedEvents: ['session.*'],
    });
    this.webhookKey = webhook.key;
  }

  async startService(): Promise<void> {
    this.#service = await this.#start(this.options);
  }

  async stopService(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  async close(): Promise<void> {
    await this.pauseMining();
    await this.stopService();
    await Promise.all([
      this.ethereum.anvil.close(),
      this.base.anvil.close(),
      this.receiver.close(),
      this.attester?.close(),
      this.database.close(),
    ]);
  }

  /** Lets blocks come on both chains until `pauseMining`. */
  mine(): void {
    if (this.#isMining) return;
    this.#isMining = true;
    this.#miner = (async () => {
      while (this.#isMining) {
        const isBusy = await Promise.all([this.ethereum.mineAsNeeded(), this.base.mineAsNeeded()]);
        await systemClock.sleep(isBusy.includes(true) ? blockIntervalMs : idleIntervalMs);
      }
    })();
  }

  async pauseMining(): Promise<void> {
    this.#isMining = false;
    await this.#miner;
  }

  /** Asks the merchant API and gives `data`; throws with the whole answer when code is not 0. */
  async post<Data>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Data> {
    return this.#data<Data>('POST', path, body, headers);
  }

  async get<Data>(path: string): Promise<Data> {
    return this.#data<Data>('GET', path);
  }

  async #data<Data>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Data> {
    const reply = await this.call<Data>(method, path, body, headers);
    if (reply.code !== 0) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
    return reply.data;
  }

  /** Asks the merchant API and gives the whole envelope. */
  async call<Data>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<MerchantReply<Data>> {
    const response = await fetch(`${this.options.origin}/payment/v1${path}`, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${this.secretKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as MerchantReply<Data>;
  }

  async session(sessionId: string): Promise<SessionData> {
    return this.get<SessionData>(`/session/${sessionId}`);
  }

  /** Waits until the session is in one of these states; fails with what it saw last. */
  async sessionIn(sessionId: string, ...statuses: string[]): Promise<SessionData> {
    return this.eventually(
      () => this.session(sessionId),
      (view) => statuses.includes(view.session.status),
      `session in ${statuses.join(' or ')}`,
    );
  }

  /** Asks again until the answer is as wished, ever more rarely: what takes long is not asked hundreds of times. */
  async eventually<T>(ask: () => Promise<T> | T, isWished: (answer: T) => boolean, what: string): Promise<T> {
    const begin = performance.now();
    for (;;) {
      const answer = await ask();
      if (isWished(answer)) return answer;
      const waitedMs = performance.now() - begin;
      if (waitedMs > patienceMs)
        throw new Error(`gave up waiting for ${what}; last seen: ${JSON.stringify(answer)}`);
      await systemClock.sleep(Math.max(40, waitedMs / 10));
    }
  }

  /** The events of one session that the receiver has got, in order of arrival, retries left out. */
  eventsOf(sessionId: string): ReceivedEvent[] {
    const events = this.receiver.requests.map((request) => JSON.parse(request.body) as ReceivedEvent);
    const seen = new Set<string>();
    return events.filter((event) => {
      if (event.data.session?.sessionId !== sessionId || seen.has(event.id)) return false;
      seen.add(event.id);
      return true;
    });
  }

  /** Waits until the receiver has got this type of event for the session. */
  async eventOf(sessionId: string, type: string): Promise<ReceivedEvent[]> {
    return this.eventually(
      () => this.eventsOf(sessionId),
      (events) => events.some((event) => event.type === type),
      `event ${type} of ${sessionId}`,
    );
  }
}
