import { statement } from '@florin/pg';
import type { BrandLook } from '@florin/protocol/branding.ts';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { FastifyInstance } from 'fastify';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import type { BrandImages } from '#catalog/branding.ts';
import { hostedImageUrl, parseImageFile } from '#catalog/images/image-name.ts';
import { updateProduct } from '#catalog/product.ts';
import { checkoutDoor } from '#http/checkout/checkout-door.ts';
import { imagesDoor } from '#http/images/images-door.ts';
import { buildServer } from '#http/server.ts';
import type { DepositPolicy } from '#orders/context.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { noBrandImages, updateBranding } from '../harness/brand.ts';
import { checkoutOptionsOf } from '../harness/checkout-fixture.ts';
import { MerchantWorld } from '../harness/merchant-fixture.ts';
import { addOrder, happen } from '../harness/payment-fixture.ts';

const putCursor = statement({
  name: 'page_world_cursor',
  parameters: { chainId: 'int8', headNumber: 'int8', finalNumber: 'int8', headTime: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values (:chainId, :headNumber, '0x', :headTime, :finalNumber, '0x', :headTime, :headTime)
   on conflict (chain_id) do update set head_number = :headNumber, final_number = :finalNumber`,
});

const blockOfOrder = statement({
  name: 'page_world_block',
  parameters: { orderId: 'text' },
  columns: { block_number: 'int8' },
  text: 'select block_number from chain_events where order_id = :orderId',
});

const putStatus = statement({
  name: 'page_world_status',
  parameters: { sessionId: 'text', status: 'text', settledAt: 'timestamptz' },
  text: `update sessions set status = :status,
     complete_tx = case when :status = 'completed' then '0x' || repeat('c1', 32) else '' end,
     settlement_succeeded_at = case when :status = 'completed' then :settledAt::timestamptz end,
     pending_reason = case when :status = 'settlement_pending' then 'reverted' else '' end
   where session_id = :sessionId`,
});

// As a rewind below finality leaves it.
const dropPayment = statement({
  name: 'page_world_dropped',
  parameters: { sessionId: 'text', droppedAt: 'timestamptz' },
  text: `insert into dropped_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name, order_id,
     arguments, dropped_at)
   select chain_id, 1, '0xab', 0, '0xcd', :droppedAt, '0x90', 'Paid', order_id, '{}', :droppedAt from orders where session_id = :sessionId`,
});

const putName = statement({
  name: 'page_world_name',
  parameters: { merchantId: 'text', merchantName: 'text' },
  text: 'update merchants set merchant_name = :merchantName where merchant_id = :merchantId',
});

const putException = statement({
  name: 'page_world_exception',
  parameters: {
    merchantId: 'text',
    sessionId: 'text',
    kind: 'text',
    status: 'text',
    createdAt: 'timestamptz',
    amountInToken: 'numeric',
  },
  text: `insert into exceptions (exception_id, merchant_id, session_id, order_id, kind, token_id, amount_in_token, payer, tx_hash,
     status, created_at, updated_at, resolved_tx)
   select 'exc_' || :kind || order_id, :merchantId, session_id, order_id, :kind, 'ethereum::usdc', :amountInToken, '0x', '', :status, :createdAt, :createdAt,
     case when :status = 'resolved' then '0x' || repeat('5e', 32) else '' end
   from orders where session_id = :sessionId limit 1`,
});

const putArrived = statement({
  name: 'page_world_arrived',
  parameters: { sessionId: 'text', amount: 'numeric' },
  text: `insert into deposit_sightings (order_id, chain_id, pay_by, block_number, amount, final_amount)
   select o.order_id, o.chain_id, o.pay_by, 1, :amount, 0 from sessions s
     join orders o on o.session_id = s.session_id
     left join deposit_terms t on t.order_id = o.order_id
   where s.session_id = :sessionId and not exists (select from deposit_terms w where w.wallet_order_id = o.order_id)
   order by coalesce(t.wallet_order_id, o.order_id) = s.shown_order_id desc limit 1`,
});

/**
 * A logo of two shapes and a product's picture, like a merchant's, and logos that no page is made for: a tall one, a wide white
 * one, and one of which nothing is seen. By the first letter of their names.
 */
const pictures: Readonly<Record<string, string>> = {
  L: '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="192"><circle cx="96" cy="96" r="88" fill="#1c3f2b"/><path d="M60 120q40-90 76-52-10 66-76 52z" fill="#9bd36a"/><rect x="210" y="70" width="400" height="52" rx="26" fill="#1c3f2b"/></svg>',
  P: '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="640"><rect width="640" height="640" fill="#e7efe2"/><rect x="190" y="150" width="260" height="360" rx="30" fill="#3c6e47"/><rect x="190" y="250" width="260" height="120" fill="#f6f2e4"/></svg>',
  T: '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="1000"><rect width="20" height="1000" fill="#a3261b"/></svg>',
  W: '<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="20"><rect width="1000" height="20" fill="#fff"/></svg>',
  N: '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="640"/>',
};

type PictureLetter = 'L' | 'P' | 'T' | 'W' | 'N';

/** The images of this world's pages in every size, drawn on request. */
const drawnImages = {
  async read(file: string): Promise<Uint8Array | undefined> {
    const { name = '', size = 0 } = parseImageFile(file) ?? {};
    const picture = pictures[name.charAt(0)];
    if (picture === undefined) return undefined;
    return sharp(Buffer.from(picture)).resize(size, size, { fit: 'inside' }).webp().toBuffer();
  },
};

/** Late or short money goes back, except where a link has a policy of its own. */
const deposits: DepositPolicy = {
  ...{ underpaidPpm: 0, underpaidAmount: undefined, latePayment: 'return', lateHours: 24 },
  ...{ addedAboveFee: microUsd(0n), addedPerDay: microUsd(0n) },
};

/** The hosted pages over real PostgreSQL, at a separate address. Tests insert events of chains directly. */
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

  /** `vaultCap`: the most that a vault pays for one order, in Micro-USD; unlimited when absent. */
  static async open({ vaultCap }: { vaultCap?: bigint } = {}): Promise<PageWorld> {
    const world = await MerchantWorld.open();
    const condition = { status: 'available', reason: '', secondsToFinal: 1 } as const;
    const capped = { version: () => 1, of: () => condition, payoutCap: () => microUsd(vaultCap ?? 0n) };
    const chains = { ...world.deps.chains, ...(vaultCap === undefined ? {} : { conditions: capped }) };
    // Loops need real pauses; the test sets the time of day.
    const clock = { ...world.clock, now: () => world.clock.now(), sleep: systemClock.sleep };
    const options = checkoutOptionsOf(world);
    const server = await buildServer({
      log: silentLog,
      random: systemRandom,
      origin: world.deps.origin,
      ready: async () => ({ ready: true, checks: {} }),
      doors: [
        checkoutDoor({
          ...options,
          gasless: options.gasless && { ...options.gasless, deposits },
          chains,
          clock,
          // There is a mail server: the pages ask no more of it.
          notify: async () => undefined,
        }),
        imagesDoor({ store: drawnImages, log: silentLog }),
      ],
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

  /** Adds a product and returns its id. */
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

  #hosted(letter: PictureLetter) {
    const name = letter.repeat(22);
    return { name, url: hostedImageUrl(this.origin, name) };
  }

  /** Adds a product with a picture and returns its id. */
  async addPicturedProduct(): Promise<string> {
    const productId = await this.addProduct();
    const { merchantId } = this;
    const image = { status: 'hosted', ...this.#hosted('P') } as const;
    const body = { name: 'Green tea', description: 'Two tins of Sencha', commonPrices: [12_500_000] };
    await this.world.database.db.transaction((transaction) =>
      updateProduct(transaction, this.world.deps, { merchantId, productId, body, image }),
    );
    return productId;
  }

  /** Sets pictures and a look for the merchant's pages; without a look, removes both. */
  async brand(
    look?: Partial<BrandLook>,
    letters: Partial<Record<keyof BrandImages, PictureLetter>> = { logo: 'L' },
  ): Promise<void> {
    const { merchantId } = this;
    const images = { ...noBrandImages };
    for (const name of ['logo', 'darkLogo', 'icon'] as const) {
      const letter = letters[name];
      if (look !== undefined && letter !== undefined) images[name] = this.#hosted(letter);
    }
    await this.world.database.db.transaction((transaction) =>
      updateBranding(transaction, this.world.deps, { merchantId, images, look: look ?? {} }),
    );
  }

  /** Lists the origins that may embed the merchant's checkout. */
  async listShops(embedOrigins: readonly string[]): Promise<void> {
    const { merchantId } = this;
    await this.world.database.db.transaction((transaction) =>
      updateBranding(transaction, this.world.deps, {
        merchantId,
        images: noBrandImages,
        look: {},
        embedOrigins,
      }),
    );
  }

  /** Adds a link and returns its id. */
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

  async renameLink(linkId: string, linkName: string): Promise<void> {
    const { data } = await this.world.send('GET', `/payment/link/${linkId}`, { key: this.key });
    await this.#post('/payment/link/update', { ...data, linkName });
  }

  async nameMerchant(name: string): Promise<void> {
    await this.world.database.db.query(putName, { merchantId: this.merchantId, merchantName: name });
  }

  async disableLink(linkId: string): Promise<void> {
    await this.#post('/payment/link/disable', { linkId });
  }

  /** Begins a session from a link as its page does; returns the path of its page. */
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
  ): Promise<{ sessionId: string; path: string; confirm: (confirmations: number) => Promise<void> }> {
    const begun = await this.begin(linkId);
    return { ...begun, confirm: await this.pay(begun.sessionId, options) };
  }

  /** Pays a session by a block, and returns what makes it deeper. */
  async pay(
    sessionId: string,
    options: { isFinal?: boolean } = {},
  ): Promise<(confirmations: number) => Promise<void>> {
    const order = await addOrder(this.world, sessionId);
    await happen(this.world, order, 'Paid', options);
    const { db } = this.world.database;
    const [row] = await db.query(blockOfOrder, { orderId: order.orderId });
    const block = row?.block_number ?? 0n;
    const confirm = async (confirmations: number) => {
      const headNumber = block + BigInt(confirmations) - 1n;
      const headTime = this.world.clock.now();
      await db.query(putCursor, {
        ...{ chainId: order.chainId, headNumber, finalNumber: headNumber - 7n, headTime },
      });
    };
    await confirm(3);
    return confirm;
  }

  /** A session whose chain took its final payment back. */
  async addDoubted(linkId: string): Promise<{ path: string }> {
    const begun = await this.addPaid(linkId);
    const droppedAt = this.world.clock.now();
    await this.world.database.db.query(dropPayment, { sessionId: begun.sessionId, droppedAt });
    await this.putStatus(begun.sessionId, 'settlement_pending');
    return begun;
  }

  /** Sets the status of a session directly. */
  async putStatus(sessionId: string, status: CheckoutState['status']): Promise<void> {
    await this.world.database.db.query(putStatus, { sessionId, status, settledAt: this.world.clock.now() });
  }

  /** Adds a deposit of too little money for a session. */
  async putUnderpaid(sessionId: string, amount?: bigint): Promise<void> {
    await this.addUnpaidOrder(sessionId);
    await this.putException(sessionId, 'underpaid', 'open', amount);
  }

  /** An amount arrives at the address that the session's pages show, or at its only one. */
  async putArrived(sessionId: string, amount: bigint): Promise<void> {
    await this.world.database.db.query(putArrived, { sessionId, amount });
  }

  async addUnpaidOrder(sessionId: string): Promise<void> {
    await addOrder(this.world, sessionId);
  }

  /** Adds money that pays nothing to a session with an order, and returns it when it is resolved. */
  async putException(
    sessionId: string,
    kind: 'underpaid' | 'overpaid' | 'late' | 'duplicate',
    status: 'open' | 'resolved',
    amount = 2_500_000n,
  ): Promise<void> {
    await this.world.database.db.query(putException, {
      merchantId: this.merchantId,
      sessionId,
      kind,
      status,
      createdAt: this.world.clock.now(),
      amountInToken: amount,
    });
  }

  /** Opens a page at the world's time of day, in the time zone of the server's texts. */
  async visit(page: Page, path: string): Promise<void> {
    await page.clock.setFixedTime(this.world.clock.now());
    await page.goto(`${this.origin}${path}`);
  }
}

/** Adds a wallet to a page. It has enough of every token and never answers a request to send. */
export async function injectStub(
  page: Page,
  options: { rejects?: boolean; stays?: boolean } = {},
): Promise<void> {
  await page.addInitScript(`(() => {
    let chainId = '${options.stays === true ? '0x1' : '0x7a69'}';
    const answers = {
      eth_requestAccounts: () => ['0x' + 'd4'.repeat(20)],
      eth_chainId: () => chainId,
      wallet_switchEthereumChain: ([wanted]) => { ${options.stays === true ? '' : 'chainId = wanted.chainId;'} return null; },
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
