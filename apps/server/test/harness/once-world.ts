import { openDatabase } from '@florin/pg';
import type { FastifyInstance } from 'fastify';
import { schema } from '#db/schema.ts';
import { merchantDoor } from '#http/merchant/merchant-door.ts';
import { buildServer } from '#http/server.ts';
import { systemRandom } from '#outside/random.ts';
import { groupInserter } from '#sessions/session-insert.ts';
import { silentLog } from '#telemetry/log.ts';
import { MerchantWorld } from './merchant-fixture.ts';

interface Shop {
  readonly merchantId: string;
  readonly key: string;
  readonly accountId: string;
  readonly productId: string;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly code: number;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly data: any;
  readonly replayed: unknown;
  readonly retryAfter: unknown;
}

/** HTTP status and code. */
export const codes = (reply: Reply) => [reply.status, reply.code];

/** A shop whose requests carry idempotency keys, and two processes of the service over one database. */
export class OnceWorld {
  readonly world: MerchantWorld;
  readonly shop: Shop;
  readonly replicas: FastifyInstance[] = [];
  readonly #closing: (() => Promise<void>)[] = [];
  #keys = 0;

  private constructor(world: MerchantWorld, shop: Shop) {
    this.world = world;
    this.shop = shop;
  }

  static async open(): Promise<OnceWorld> {
    const world = await MerchantWorld.open();
    const once = new OnceWorld(world, await openShop(world));
    once.replicas.push(await once.replica(), await once.replica());
    return once;
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
    await this.world.close();
  }

  /** A server with its own pool and insert queue; `before` runs ahead of every insert of a session. */
  async replica(before: () => Promise<void> = async () => {}): Promise<FastifyInstance> {
    const db = openDatabase({ schema, url: this.world.database.url, connections: 4 });
    const insert = groupInserter(db, this.world.deps);
    const server = await buildServer({
      log: silentLog,
      random: systemRandom,
      origin: this.world.deps.origin,
      ready: async () => ({ ready: true, checks: {} }),
      doors: [
        merchantDoor({
          ...this.world.deps,
          db,
          insertSession: async (created) => {
            await before();
            return insert(created);
          },
        }),
      ],
    });
    this.#closing.push(async () => {
      await server.close();
      await db.close();
    });
    return server;
  }

  openShop(): Promise<Shop> {
    return openShop(this.world);
  }

  /** An idempotency key that no other test uses. */
  freshKey(): string {
    this.#keys += 1;
    return `key-${this.#keys}`;
  }

  sessionBody(changes: object = {}, { accountId, productId }: Shop = this.shop) {
    return {
      accountId,
      settlementToken: 'ethereum::usdc',
      lineItems: [{ itemType: 'product', productId }],
      ...changes,
    };
  }

  async post(
    path: string,
    body: unknown,
    idempotencyKey: string,
    options: { key?: string; server?: FastifyInstance | undefined } = {},
  ): Promise<Reply> {
    const reply = await (options.server ?? this.replicas[0] ?? this.world.server).inject({
      method: 'POST',
      url: `/payment/v1${path}`,
      headers: {
        authorization: `Bearer ${options.key ?? this.shop.key}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return {
      status: reply.statusCode,
      text: reply.body,
      replayed: reply.headers['idempotent-replayed'],
      retryAfter: reply.headers['retry-after'],
      ...JSON.parse(reply.body),
    };
  }
}

async function openShop(world: MerchantWorld): Promise<Shop> {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  const product = await world.send('POST', '/product/create', {
    key,
    body: { name: 'Tea', commonPrices: [10] },
  });
  return { merchantId, key, accountId, productId: product.data.productId };
}
