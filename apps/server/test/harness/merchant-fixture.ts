import { randomBytes } from 'node:crypto';
import { statement } from '@florin/pg';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import type { MerchantDoorContext } from '#http/merchant/context.ts';
import { merchantDoor } from '#http/merchant/merchant-door.ts';
import { compileCheck } from '#http/schema-check.ts';
import { buildServer } from '#http/server.ts';
import { createAccount } from '#merchants/account.ts';
import { type ApiKeyRequest, apiKeyLookup, createApiKey } from '#merchants/api-key.ts';
import { isOriginListed } from '#merchants/api-key-limits.ts';
import { createMerchant } from '#merchants/merchant.ts';
import { systemRandom } from '#outside/random.ts';
import { secretBox } from '#outside/secret-box.ts';
import { sessionInserter } from '#sessions/session-insert.ts';
import { silentLog } from '#telemetry/log.ts';
import { fixtureChains } from './agent-fixture.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { type MovableClock, movableClock } from './movable-clock.ts';

const eventBodies = statement({
  name: 'merchant_fixture_events',
  parameters: { objectId: 'text' },
  columns: { body: 'text' },
  text: 'select body from events where object_id = :objectId order by sequence',
});

export interface MerchantReply {
  readonly status: number;
  readonly headers: LightMyRequestResponse['headers'];
  readonly text: string;
  readonly code: number;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly data: any;
}

/** The merchant API over a separate database, with two merchants. */
export class MerchantWorld {
  readonly clock: MovableClock;
  readonly database: TestDatabase;
  readonly server: FastifyInstance;
  readonly deps: MerchantDoorContext;

  private constructor(parts: {
    clock: MovableClock;
    database: TestDatabase;
    server: FastifyInstance;
    deps: MerchantDoorContext;
  }) {
    this.clock = parts.clock;
    this.database = parts.database;
    this.server = parts.server;
    this.deps = parts.deps;
  }

  /**
   * @param given A database of the caller's instead of a fresh one; it ends with this world, too.
   * @param lists Where lists are read; the database when absent.
   */
  static async open(given?: TestDatabase, lists?: MerchantDoorContext['lists']): Promise<MerchantWorld> {
    const database = given ?? (await testDatabase());
    const clock = movableClock();
    const origin = 'https://pay.example.com';
    const deps: MerchantDoorContext = {
      // No other members: the door itself uses the database only in the caller's scope.
      db: { inScope: (merchantId) => database.db.inScope(merchantId) },
      lists,
      isOriginListed: (webOrigin) => isOriginListed(database.db, webOrigin, clock.now()),
      insertSession: sessionInserter(database.db, { random: systemRandom, origin }),
      lookupApiKey: apiKeyLookup(database.db),
      clock,
      random: systemRandom,
      origin,
      chains: fixtureChains,
      rates: { sameToken: 2000, sameChain: 3000, crossChain: 6000 },
      secrets: secretBox([randomBytes(32)]),
      deposits: undefined,
      addresses: { allowLoopback: false },
    };
    const server = await buildServer({
      log: silentLog,
      random: systemRandom,
      origin,
      ready: async () => ({ ready: true, checks: {} }),
      doors: [merchantDoor(deps)],
    });
    return new MerchantWorld({ clock, database, server, deps });
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.database.close();
  }

  /** Adds a merchant and returns its id. */
  async addMerchant(): Promise<string> {
    const merchant = await this.database.db.transaction((transaction) =>
      createMerchant(transaction, this.deps, { merchantName: 'Test merchant' }),
    );
    return merchant.merchantId;
  }

  /** Adds an account and returns its id; by default it accepts every token but `ethereum::usdt`. */
  async addAccount(
    merchantId: string,
    settlementCurrencies: readonly string[] = ['ethereum::usdc', 'base::usdc'],
  ): Promise<string> {
    const request = {
      merchantId,
      accountName: 'Main',
      accountAddress: `0x${randomBytes(20).toString('hex')}`,
      settlementCurrencies,
    };
    const account = await this.database.db.transaction((transaction) =>
      createAccount(transaction, this.deps, request),
    );
    return account.accountId;
  }

  /** Adds an API key: a secret one unless permissions are given. */
  async addKey(merchantId: string, restricted?: Omit<ApiKeyRequest, 'merchantId' | 'kind'>): Promise<string> {
    const kind = restricted === undefined ? 'secret' : 'restricted';
    const created = await this.database.db.transaction((transaction) =>
      createApiKey(transaction, this.deps, { ...restricted, merchantId, kind }),
    );
    return created.key;
  }

  /** The events about one object, in order. */
  async eventsOf(objectId: string): Promise<{ type: string; sequence: number; data: unknown }[]> {
    const rows = await this.database.db.query(eventBodies, { objectId });
    return rows.map((row) => JSON.parse(row.body));
  }

  /** Sends one request below the base path; a text body is sent unchanged. A success must match its documented shape. */
  async send(
    method: 'GET' | 'POST',
    path: string,
    options: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<MerchantReply> {
    const { key, body } = options;
    const reply = await this.server.inject({
      method,
      url: `/payment/v1${path}`,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer = JSON.parse(reply.body) as { code: number; message: string; data: unknown };
    if (answer.code === 0) assertDocumented(method, path, answer.data);
    return { status: reply.statusCode, headers: reply.headers, text: reply.body, ...answer };
  }
}

const documented = Object.values(merchantApi.routes).map((route) => ({
  method: route.method,
  path: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`),
  check: compileCheck(route.reply, 'data'),
}));

function assertDocumented(method: string, path: string, data: unknown): void {
  const route = documented.find((candidate) => candidate.method === method && candidate.path.test(path));
  if (route === undefined) throw new Error(`no route documents ${method} ${path}`);
  const refusal = route.check(data);
  if (refusal !== undefined) throw new Error(`${method} ${path} answered another shape: ${refusal.message}`);
}
