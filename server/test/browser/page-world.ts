import type { CheckoutState } from '@florin/protocol/checkout-api.ts';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import type { FastifyInstance } from 'fastify';
import type { Page } from 'playwright-core';
import { statement } from '#db/statement.ts';
import { checkoutDoor } from '#http/checkout/checkout-door.ts';
import { buildServer } from '#http/server.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { checkoutOptionsOf } from '../harness/checkout-fixture.ts';
import { MerchantWorld } from '../harness/merchant-fixture.ts';
import { addOrder, happen } from '../harness/payment-fixture.ts';

const putCursor = statement(
  'page_world_cursor',
  ['int8', 'int8', 'int8', 'timestamptz'],
  {},
  `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values ($1, $2, '0x', $4, $3, '0x', $4, $4)
   on conflict (chain_id) do update set head_number = $2, final_number = $3`,
);

const blockOfOrder = statement(
  'page_world_block',
  ['text'],
  { block_number: 'int8' },
  'select block_number from chain_events where order_id = $1',
);

const putStatus = statement(
  'page_world_status',
  ['text', 'text', 'timestamptz'],
  {},
  `update sessions set status = $2,
     complete_tx = case when $2 = 'completed' then '0x' || repeat('c1', 32) else '' end,
     settlement_succeeded_at = case when $2 = 'completed' then $3::timestamptz end,
     pending_reason = case when $2 = 'settlement_pending' then 'reverted' else '' end
   where session_id = $1`,
);

const putException = statement(
  'page_world_exception',
  ['text', 'text', 'text', 'text', 'timestamptz'],
  {},
  `insert into exceptions (exception_id, merchant_id, session_id, order_id, kind, token_id, amount_in_token, payer, tx_hash,
     status, created_at, updated_at)
   values ('exc_' || $3, $1, $2, $3, $4, 'ethereum::usdc', 2500000, '0x', '', 'open', $5, $5)`,
);

/** The hosted pages over real PostgreSQL, at an address of their own; what chains would bring is put there by hand. */
export class PageWorld {
  readonly world: MerchantWorld;
  readonly origin: string;
  readonly merchantId: string;
  readonly key: string;
  readonly accountId: string;
  readonly #server: FastifyInstance;

  private constructor(parts: {
    world: MerchantWorld;
    server: FastifyInstance;
    origin: string;
    merchantId: string;
    key: string;
    accountId: string;
  }) {
    this.world = parts.world;
    this.#server = parts.server;
    this.origin = parts.origin;
    this.merchantId = parts.merchantId;
    this.key = parts.key;
    this.accountId = parts.accountId;
  }

  static async open(): Promise<PageWorld> {
    const world = await MerchantWorld.open();
    // Pauses of loops have to be real ones; the time of day is the test's.
    const clock = { ...world.clock, now: () => world.clock.now(), sleep: systemClock.sleep };
    const server = await buildServer({
      log: silentLog,
      random: systemRandom,
      origin: world.deps.origin,
      ready: async () => ({ ready: true, checks: {} }),
      doors: [checkoutDoor({ ...checkoutOptionsOf(world), clock })],
    });
    await server.listen({ host: '127.0.0.1', port: 0 });
    const address = server.server.address();
    if (address === null || typeof address === 'string') throw new Error('the pages have no port');
    const merchantId = await world.addMerchant();
    const key = await world.addKey(merchantId);
    const accountId = await world.addAccount(merchantId);
    return new PageWorld({
      world,
      server,
      origin: `http://127.0.0.1:${address.port}`,
      merchantId,
      key,
      accountId,
    });
  }

  async close(): Promise<void> {
    await this.#server.close();
    await this.world.close();
  }

  async #post<Data>(path: string, body: unknown): Promise<Data> {
    const reply = await this.world.send('POST', path, { key: this.key, body });
    if (reply.code !== 0) throw new Error(reply.text);
    return reply.data;
  }

  /** Gives the id of a new product. */
  async addProduct(body: object = {}): Promise<string> {
    const product = {
      name: 'Green tea',
      description: 'Two tins of Sencha, shipped from Porto',
      commonPrices: [12_500_000],
      attributes: [{ name: 'Weight', value: '2 × 100 g' }],
      ...body,
    };
    return (await this.#post<{ productId: string }>('/product/create', product)).productId;
  }

  /** Gives the id of a new link. */
  async addLink(changes: object = {}): Promise<string> {
    const productId = await this.addProduct();
    const body = {
      linkType: 'fixed',
      linkName: 'Tea shop',
      accountId: this.accountId,
      settlementToken: 'ethereum::usdc',
      feeModel: 2,
      lineItems: [{ itemType: 'product', productId, quantity: 2, unitPrice: 12_500_000 }],
      customSuccessText: 'Thank you! Your tea leaves tomorrow.',
      successUrl: 'https://shop.example/thanks?s={SESSION_ID}',
      ...changes,
    };
    return (await this.#post<{ linkId: string }>('/payment/link/create', body)).linkId;
  }

  async disableLink(linkId: string): Promise<void> {
    await this.#post('/payment/link/disable', { linkId });
  }

  /** Begins a session from a link as its page does; gives the path of its page. */
  async begin(linkId: string): Promise<{ sessionId: string; path: string }> {
    const page = await (await fetch(`${this.origin}/link/${linkId}`)).text();
    const linkVersion = /"version":"(ver_\w+)"/.exec(page)?.[1] ?? '';
    const reply = await fetch(`${this.origin}${checkoutApi.basePath}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ linkId, linkVersion }),
    });
    const { data } = (await reply.json()) as { data: { paymentUrl: string; state: CheckoutState } };
    const { pathname, hash } = new URL(data.paymentUrl);
    return { sessionId: data.state.sessionId, path: `${pathname}${hash}` };
  }

  /** A session of a link whose payment is in a block, 3 of about 8 deep, or final. */
  async addPaid(
    linkId: string,
    options: { isFinal?: boolean } = {},
  ): Promise<{ sessionId: string; path: string }> {
    const begun = await this.begin(linkId);
    const order = await addOrder(this.world, begun.sessionId);
    await happen(this.world, order, 'Paid', options);
    const { db } = this.world.database;
    const [row] = await db.query(blockOfOrder, [order.orderId]);
    const block = row?.block_number ?? 0n;
    await db.query(putCursor, [order.chainId, block + 2n, block - 5n, this.world.clock.now()]);
    return begun;
  }

  /** Puts a session into a status, whatever brings it there. */
  async putStatus(sessionId: string, status: CheckoutState['status']): Promise<void> {
    await this.world.database.db.query(putStatus, [sessionId, status, this.world.clock.now()]);
  }

  /** Lets too little money arrive for a session. */
  async putUnderpaid(sessionId: string): Promise<void> {
    const order = await addOrder(this.world, sessionId);
    const values = [this.merchantId, sessionId, order.orderId, 'underpaid', this.world.clock.now()];
    await this.world.database.db.query(putException, values);
  }

  /** Opens a page at the world's time of day, in the time zone of the server's texts. */
  async visit(page: Page, path: string): Promise<void> {
    await page.clock.setFixedTime(this.world.clock.now());
    await page.goto(`${this.origin}${path}`);
  }
}

/** Puts a wallet into a page that has enough of everything and never answers when it is to send something. */
export async function injectStub(page: Page, options: { rejects?: boolean } = {}): Promise<void> {
  await page.addInitScript(`(() => {
    let chainId = '0x7a69';
    const answers = {
      eth_requestAccounts: () => ['0x' + 'd4'.repeat(20)],
      eth_chainId: () => chainId,
      wallet_switchEthereumChain: ([wanted]) => { chainId = wanted.chainId; return null; },
      eth_sendTransaction: () => ${
        options.rejects === true
          ? "Promise.reject(Object.assign(new Error('User rejected'), { code: 4001 }))"
          : 'new Promise(() => {})'
      },
    };
    const request = async ({ method, params }) => {
      if (!answers[method]) throw Object.assign(new Error(method), { code: 4200 });
      return answers[method](params);
    };
    const info = { uuid: 'stub', name: 'Stub Wallet', icon: '', rdns: 'test.stub' };
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request } } }));
    addEventListener('eip6963:requestProvider', announce);
  })()`);
}
