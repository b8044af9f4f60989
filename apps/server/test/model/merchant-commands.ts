import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expireSessions } from '#sessions/session.ts';
import { unknownId } from '../fuzz/target.ts';
import type { MerchantReply, MerchantWorld } from '../harness/merchant-fixture.ts';
import type { LinkContent, MerchantModel, ModelLink, ProductContent } from './merchant-model.ts';

/** The merchant API and the merchant who calls it. */
export interface Shop {
  readonly world: MerchantWorld;
  readonly key: string;
  readonly accountId: string;
}

type Command = fc.AsyncCommand<MerchantModel, Shop>;
type Run = (model: MerchantModel, shop: Shop) => Promise<void>;

function command(name: string, run: Run): Command {
  return { check: () => true, run, toString: () => name };
}

async function post({ world, key }: Shop, path: string, body: unknown): Promise<MerchantReply> {
  world.clock.time += 1_000;
  return world.send('POST', path, { key, body });
}

async function get({ world, key }: Shop, path: string): Promise<MerchantReply> {
  return world.send('GET', path, { key });
}

/** The nth entry of a list, modulo its length; undefined for an empty list. */
function nth<Entry>(entries: readonly Entry[], number: number): Entry | undefined {
  return entries[number % Math.max(1, entries.length)];
}

const number = fc.nat({ max: 11 });
const name = fc.constantFrom('Tea', 'Coffee', 'Cake');
const productContent: fc.Arbitrary<ProductContent> = fc.record({
  name,
  description: fc.constantFrom('', 'Hot', 'Cold'),
  commonPrices: fc.array(fc.integer({ min: 1_000_000, max: 9_000_000 }), { minLength: 1, maxLength: 3 }),
  attributes: fc.constantFrom([], [{ name: 'Size', value: 'L' }]),
});

const createProduct = productContent.map((content) =>
  command('create product', async (model, shop) => {
    const { code, data } = await post(shop, '/product/create', content);
    assert.equal(code, 0);
    const { productId } = data;
    model.products.unshift({
      productId,
      content,
      status: 'active',
      isReferenced: false,
      events: ['product.created'],
    });
  }),
);

const updateProduct = fc.tuple(number, productContent).map(([place, content]) =>
  command(`update product ${place}`, async (model, shop) => {
    const product = nth(model.products, place);
    const productId = product?.productId ?? unknownId('product');
    const { code } = await post(shop, '/product/update', { productId, ...content });
    assert.equal(code, model.productCode(product));
    if (product === undefined || code !== 0) return;
    product.content = content;
    product.events.push('product.updated');
  }),
);

const moveProduct = fc
  .tuple(number, fc.constantFrom('archive', 'unarchive', 'remove'))
  .map(([place, action]) =>
    command(`${action} product ${place}`, async (model, shop) => {
      const product = nth(model.products, place);
      const productId = product?.productId ?? unknownId('product');
      const { code } = await post(shop, `/product/${action}`, { productId });
      const isKept = action === 'remove' && product?.isReferenced === true && product.status !== 'removed';
      assert.equal(code, isKept ? 100305 : model.productCode(product));
      if (product === undefined || code !== 0) return;
      if (action === 'archive') model.archive(product);
      if (action === 'unarchive' && product.status === 'archived') {
        product.status = 'active';
        product.events.push('product.unarchived');
      }
      if (action === 'remove') {
        product.status = 'removed';
        product.events.push('product.removed');
      }
    }),
  );

/** Limits that no command reaches: no payment is made, and no clock goes so far. */
const linkLimits = fc.record(
  { maxPayments: fc.constantFrom(1, 1_000_000), activeUntil: fc.constantFrom(4_000_000_000, 9_999_999_999) },
  { requiredKeys: [] },
);

/** A link's content whose items name products by their place. */
const linkTerms = fc.record({
  linkType: fc.constantFrom<'fixed' | 'custom'>('fixed', 'fixed', 'custom'),
  linkName: name,
  feeModel: fc.constantFrom<1 | 2>(1, 2),
  payerEmailRequired: fc.constantFrom<0 | 1>(0, 1),
  customDisabledText: fc.constantFrom('', 'Back at noon'),
  items: fc.array(
    fc.record({
      place: number,
      quantity: fc.integer({ min: 1, max: 3 }),
      unitPrice: fc.constantFrom(1_000_000, 2_500_000),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});
const linkDraft = fc.tuple(linkTerms, linkLimits).map(([terms, limits]) => ({ ...terms, ...limits }));
type LinkDraft = typeof linkDraft extends fc.Arbitrary<infer Draft> ? Draft : never;

function linkContentOf(model: MerchantModel, { items, ...draft }: LinkDraft): LinkContent {
  const named = items.map(({ place, quantity, unitPrice }) => ({
    productId: nth(model.products, place)?.productId ?? unknownId('product'),
    quantity,
    unitPrice,
  }));
  if (draft.linkType === 'fixed') return { ...draft, items: named };
  return { ...draft, items: named.slice(0, 1).map((item) => ({ ...item, quantity: 1, unitPrice: 0 })) };
}

function linkBodyOf(shop: Shop, { items, ...content }: LinkContent) {
  const itemType = content.linkType === 'fixed' ? 'product' : 'user_priced';
  const lineItems = items.map((item) => ({ itemType, ...item }));
  return { ...content, accountId: shop.accountId, settlementToken: 'ethereum::usdc', lineItems };
}

function reference(model: MerchantModel, content: LinkContent): void {
  for (const { productId } of content.items) {
    const product = model.product(productId);
    if (product !== undefined) product.isReferenced = true;
  }
}

const createLink = linkDraft.map((draft) =>
  command('create link', async (model, shop) => {
    const content = linkContentOf(model, draft);
    const { code, data } = await post(shop, '/payment/link/create', linkBodyOf(shop, content));
    assert.equal(code, model.sellingCode(content.items.map((item) => item.productId)));
    if (code !== 0) return;
    reference(model, content);
    const { linkId } = data;
    const link: ModelLink = { linkId, content, status: 'active', events: ['payment.link.created'] };
    model.links.unshift(link);
    assertLink(model, link, data);
  }),
);

const updateLink = fc.tuple(number, linkDraft).map(([place, draft]) =>
  command(`update link ${place}`, async (model, shop) => {
    const link = nth(model.links, place);
    const linkId = link?.linkId ?? unknownId('link');
    const content = linkContentOf(model, draft);
    const { code } = await post(shop, '/payment/link/update', { linkId, ...linkBodyOf(shop, content) });
    assert.equal(
      code,
      link === undefined ? 100101 : model.sellingCode(content.items.map((item) => item.productId)),
    );
    if (link === undefined || code !== 0) return;
    reference(model, content);
    link.content = content;
    link.events.push('payment.link.updated');
  }),
);

/** Changes of single fields, and no change: only they show that the version changes with each field. */
const edits: readonly ((content: LinkContent) => LinkContent)[] = [
  (content) => content,
  (content) => ({ ...content, linkName: `${content.linkName}!` }),
  (content) => ({ ...content, feeModel: content.feeModel === 1 ? 2 : 1 }),
  (content) => ({ ...content, payerEmailRequired: content.payerEmailRequired === 1 ? 0 : 1 }),
  (content) => ({ ...content, customDisabledText: `${content.customDisabledText}!` }),
  (content) => ({ ...content, maxPayments: (content.maxPayments ?? 1) === 1 ? 2 : 1 }),
  (content) => ({
    ...content,
    activeUntil: content.activeUntil === 5_000_000_000 ? 5_000_000_001 : 5_000_000_000,
  }),
  (content) => ({ ...content, items: [...content.items].reverse() }),
];

const editLink = fc.tuple(number, fc.nat({ max: edits.length - 1 })).map(([place, edit]) =>
  command(`edit ${edit} of link ${place}`, async (model, shop) => {
    const link = nth(model.links, place);
    const change = edits[edit];
    if (link === undefined || change === undefined) return;
    const content = change(link.content);
    const body = { linkId: link.linkId, ...linkBodyOf(shop, content) };
    const { code } = await post(shop, '/payment/link/update', body);
    assert.equal(code, model.sellingCode(content.items.map((item) => item.productId)));
    if (code !== 0) return;
    link.content = content;
    link.events.push('payment.link.updated');
    assertLink(model, link, (await get(shop, `/payment/link/${link.linkId}`)).data);
  }),
);

const moveLink = fc.tuple(number, fc.constantFrom('disable', 'enable')).map(([place, action]) =>
  command(`${action} link ${place}`, async (model, shop) => {
    const link = nth(model.links, place);
    const { code } = await post(shop, `/payment/link/${action}`, {
      linkId: link?.linkId ?? unknownId('link'),
    });
    const isArchived = link?.content.items.some((item) => model.product(item.productId)?.status !== 'active');
    if (link === undefined) assert.equal(code, 100101);
    else if (action === 'enable' && isArchived) assert.equal(code, 100304);
    else assert.equal(code, 0);
    const status = action === 'enable' ? 'active' : 'disabled';
    if (link === undefined || code !== 0 || link.status === status) return;
    link.status = status;
    link.events.push(`payment.link.${action}d`);
  }),
);

const createSession = fc
  .tuple(fc.array(number, { minLength: 1, maxLength: 3 }), fc.integer({ min: 0, max: 9 }))
  .map(([places, extraMinutes]) =>
    command('create session', async (model, shop) => {
      const products = places.map((place) => nth(model.products, place));
      const productIds = products.map((product) => product?.productId ?? unknownId('product'));
      const expiresAtSeconds = shop.world.clock.time / 1_000 + 1_801 + extraMinutes * 60;
      const { code, data } = await post(shop, '/session/checkout/create', {
        accountId: shop.accountId,
        settlementToken: 'ethereum::usdc',
        expirationTime: expiresAtSeconds,
        lineItems: productIds.map((productId) => ({ itemType: 'product', productId })),
      });
      assert.equal(code, model.sellingCode(productIds));
      if (code !== 0) return;
      const contents = products.flatMap((product) => product?.content ?? []);
      model.sessions.unshift({
        sessionId: data.sessionId,
        amount: contents.reduce((sum, content) => sum + (content.commonPrices[0] ?? 0), 0),
        productNames: contents.map((content) => content.name),
        expiresAtSeconds,
        status: 'initialized',
        events: ['session.created'],
      });
    }),
  );

const cancelCodes = { initialized: 0, cancelled: 100205, expired: 100203 } as const;

const cancelSession = number.map((place) =>
  command(`cancel session ${place}`, async (model, shop) => {
    const session = nth(model.sessions, place);
    const sessionId = session?.sessionId ?? unknownId('session');
    const { code } = await post(shop, '/session/checkout/cancel', { sessionId });
    assert.equal(code, session === undefined ? 100201 : cancelCodes[session.status]);
    if (session === undefined || code !== 0) return;
    session.status = 'cancelled';
    session.events.push('session.cancelled');
  }),
);

const passTime = fc.integer({ min: 1, max: 50 }).map((minutes) =>
  command(`${minutes} minutes pass`, async (model, { world }) => {
    world.clock.time += minutes * 60_000;
    const { db } = world.database;
    await db.transaction((transaction) => expireSessions(transaction, world.deps, 1_000));
    model.expire(world.clock.time / 1_000);
  }),
);

/** Asserts a link's reply, including its version. */
function assertLink(model: MerchantModel, link: ModelLink, shown: Record<string, unknown>): void {
  const { items, ...content } = link.content;
  const amount = model.linkAmount(link.content);
  assert.partialDeepStrictEqual(shown, { linkId: link.linkId, ...content, status: link.status, amount });
  const shownItems = (shown['lineItems'] as { items: Record<string, unknown>[] }).items;
  assert.equal(shownItems.length, items.length);
  assert.partialDeepStrictEqual(shownItems, items);
  const agreed = model.agreed(link);
  const version = String(shown['versionCode']);
  assert.equal(version, model.versionOf.get(agreed) ?? version, 'the version moved without the content');
  assert.equal(agreed, model.contentOf.get(version) ?? agreed, 'the content moved without the version');
  model.versionOf.set(agreed, version);
  model.contentOf.set(version, agreed);
}

/** The entries of one page of a list, and the list's totals in the answer. */
function pageOf<Entry>(
  entries: readonly Entry[],
  { page, size, idOf }: { page: number; size: number; idOf: (entry: Entry) => string },
) {
  const shown = entries.slice((page - 1) * size, page * size);
  const hasMore = page * size < entries.length;
  const last = shown.at(-1);
  const nextCursor = hasMore && last !== undefined ? idOf(last) : '';
  return {
    entries: shown,
    listing: { total: entries.length, hasMore, nextCursor, page: String(page), size: String(size) },
  };
}

async function assertLists(model: MerchantModel, shop: Shop, page: number, size: number): Promise<void> {
  const at = `${page}/${size}`;
  const products = pageOf(model.shownProducts, { page, size, idOf: ({ productId }) => productId });
  const { products: shownProducts, ...productPage } = (await get(shop, `/product/list/${at}`)).data;
  assert.deepEqual(productPage, products.listing);
  const contents = products.entries.map(({ productId, status, content }) => ({
    productId,
    status,
    ...content,
  }));
  assert.equal(shownProducts.length, contents.length);
  assert.partialDeepStrictEqual(shownProducts, contents);
  const links = pageOf(model.links, { page, size, idOf: ({ linkId }) => linkId });
  const { links: shownLinks, ...linkPage } = (await get(shop, `/payment/link/list/${at}`)).data;
  assert.deepEqual(linkPage, links.listing);
  assert.equal(shownLinks.length, links.entries.length);
  for (const [index, link] of links.entries.entries()) assertLink(model, link, shownLinks[index]);
  for (const status of ['all', 'initialized', 'cancelled', 'expired'] as const) {
    const ofStatus = model.sessions.filter((session) => status === 'all' || session.status === status);
    const sessions = pageOf(ofStatus, { page, size, idOf: ({ sessionId }) => sessionId });
    const { sessions: shown, ...sessionPage } = (await get(shop, `/session/list/${status}/${at}`)).data;
    assert.deepEqual(sessionPage, { ...sessions.listing, page, size });
    assert.deepEqual(
      shown.map((view: { session: { sessionId: string; status: string } }) => [
        view.session.sessionId,
        view.session.status,
      ]),
      sessions.entries.map((session) => [session.sessionId, session.status]),
    );
  }
}

const readLists = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 }))
  .map(([page, size]) =>
    command(`read lists ${page}/${size}`, (model, shop) => assertLists(model, shop, page, size)),
  );

interface ShownSession {
  readonly status: string;
  readonly amount: number;
  readonly lineItems: { readonly items: { readonly productData: { readonly productName: string } }[] };
}

/** Reads every object, singly and in lists, and the events about it. */
export async function assertAll(model: MerchantModel, shop: Shop): Promise<void> {
  await assertLists(model, shop, 1, 100);
  for (const link of model.links) {
    assertLink(model, link, (await get(shop, `/payment/link/${link.linkId}`)).data);
  }
  for (const { sessionId, status, amount, productNames } of model.sessions) {
    const session: ShownSession = (await get(shop, `/session/${sessionId}`)).data.session;
    const names = session.lineItems.items.map((item) => item.productData.productName);
    assert.deepEqual([session.status, session.amount, names], [status, amount, productNames]);
  }
  const objects = [
    ...model.products.map(({ productId, events }) => ({ id: productId, events })),
    ...model.links.map(({ linkId, events }) => ({ id: linkId, events })),
    ...model.sessions.map(({ sessionId, events }) => ({ id: sessionId, events })),
  ];
  for (const { id, events } of objects) {
    const told = await shop.world.eventsOf(id);
    assert.deepEqual(
      told.map(({ type, sequence }) => [type, sequence]),
      events.map((type, index) => [type, index + 1]),
    );
  }
}

/** Every kind of request, and the passage of time. */
export const commands: fc.Arbitrary<Command>[] = [
  createProduct,
  updateProduct,
  moveProduct,
  createLink,
  updateLink,
  editLink,
  moveLink,
  createSession,
  cancelSession,
  passTime,
  readLists,
];
