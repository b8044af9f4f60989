import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement, type Transaction } from '@florin/pg';
import type { LinkCreateBody } from '@florin/protocol/link.ts';
import { createProduct } from '#catalog/product.ts';
import { removeAccount } from '#merchants/account.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import type { LinkContext } from './context.ts';
import { createLink, updateLink } from './link.ts';
import { archiveProduct, disableLink, disableLinksOfAccount, enableLink } from './link-status.ts';

const lockWaits = statement({
  name: 'link_race_lock_waits',
  columns: { waits: 'int8' },
  text: `select count(*) as waits from pg_stat_activity
   where datname = current_database() and wait_event_type = 'Lock'`,
});
const linkState = statement({
  name: 'link_race_state',
  parameters: { linkId: 'text' },
  columns: { status: 'text', disabled_reason: 'text', account_status: 'text', product_statuses: 'text[]' },
  text: `select l.status, l.disabled_reason, a.status as account_status,
     array(select p.status from link_items i join products p using (product_id) where i.link_id = l.link_id)
       as product_statuses
   from links l join accounts a using (account_id) where l.link_id = :linkId`,
});

let world: MerchantWorld;
let merchantId: string;
let deps: LinkContext;
before(async () => {
  world = await MerchantWorld.open();
  merchantId = await world.addMerchant();
  const { clock, random, chains, origin } = world.deps;
  deps = { clock, random, chains, origin, isPayable: () => true };
});
after(() => world.close());

/** Work that pauses before each of some statements until it is released. */
interface Paused<T> {
  readonly done: Promise<T>;
  /** Resolves when the work pauses before the statement of this name, or has ended. */
  reached(name: string): Promise<void>;
  release(name: string): void;
}

function pausedAt<T>(names: readonly string[], work: (transaction: Transaction) => Promise<T>): Paused<T> {
  const stops = new Map(
    names.map((name) => [
      name,
      { reached: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() },
    ]),
  );
  const done = world.database.db.transaction((transaction) =>
    work({
      ...transaction,
      query: async (asked, ...values) => {
        const stop = stops.get(asked.name);
        stop?.reached.resolve();
        await stop?.go.promise;
        return transaction.query(asked, ...values);
      },
    }),
  );
  const ended = done.then(
    () => undefined,
    () => undefined,
  );
  return {
    done,
    reached: async (name) => Promise.race([stops.get(name)?.reached.promise, ended]),
    release: (name) => stops.get(name)?.go.resolve(),
  };
}

/** Starts work and returns it once it has ended or waits for a lock. */
async function startedBehind<T>(start: () => Promise<T>): Promise<{ done: Promise<T> }> {
  let hasEnded = false;
  const done = start().finally(() => {
    hasEnded = true;
  });
  done.catch(() => undefined);
  while (!hasEnded) {
    const [row] = await world.database.db.query(lockWaits);
    if (row !== undefined && row.waits > 0n) break;
  }
  return { done };
}

async function addProduct(): Promise<string> {
  const body = { name: 'Tea', commonPrices: [1_000] };
  const product = await world.database.db.transaction((transaction) =>
    createProduct(transaction, deps, { merchantId, body }),
  );
  return product.productId;
}

function bodyFor(accountId: string, productId: string): LinkCreateBody {
  return {
    linkType: 'fixed',
    linkName: 'Shop',
    accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 1_000 }],
  };
}

async function addLink(accountId: string, productId: string): Promise<string> {
  const created = await world.database.db.transaction((transaction) =>
    createLink(transaction, deps, { merchantId, body: bodyFor(accountId, productId) }),
  );
  return created.linkId;
}

async function addDisabledLink(accountId: string, productId: string): Promise<string> {
  const linkId = await addLink(accountId, productId);
  await world.database.db.transaction((transaction) =>
    disableLink(transaction, deps, { merchantId, linkId }),
  );
  return linkId;
}

async function removeIn(transaction: Transaction, accountId: string): Promise<number> {
  await removeAccount(transaction, deps, { merchantId, accountId });
  return disableLinksOfAccount(transaction, deps, { merchantId, accountId });
}

function remove(accountId: string): Promise<number> {
  return world.database.db.transaction((transaction) => removeIn(transaction, accountId));
}

async function stateOf(linkId: string) {
  const [row] = await world.database.db.query(linkState, { linkId });
  return row;
}

const disabledWithAccount = {
  status: 'disabled',
  disabled_reason: 'account_removed',
  account_status: 'removed',
  product_statuses: ['active'],
};

// proves W4.21
test('a link that is being enabled while its account is removed ends disabled', async () => {
  const accountId = await world.addAccount(merchantId);
  const linkId = await addDisabledLink(accountId, await addProduct());
  const enabling = pausedAt(['link_set_status'], (transaction) =>
    enableLink(transaction, deps, { merchantId, linkId }),
  );
  await enabling.reached('link_set_status');
  const removing = await startedBehind(() => remove(accountId));
  enabling.release('link_set_status');
  await enabling.done;
  assert.equal(await removing.done, 1);
  assert.deepEqual(await stateOf(linkId), disabledWithAccount);
});

test('a link is never enabled over an account that is being removed', async () => {
  const accountId = await world.addAccount(merchantId);
  const linkId = await addDisabledLink(accountId, await addProduct());
  const removing = pausedAt(['link_lock_of_account'], (transaction) => removeIn(transaction, accountId));
  await removing.reached('link_lock_of_account');
  const enabling = await startedBehind(() =>
    world.database.db.transaction((transaction) => enableLink(transaction, deps, { merchantId, linkId })),
  );
  removing.release('link_lock_of_account');
  await removing.done;
  await assert.rejects(enabling.done, { slug: 'account_removed' });
  assert.equal((await stateOf(linkId))?.status, 'disabled');
});

// proves W4.21
test('a link that moves to another account while it is enabled is never active over a removed one', async () => {
  const [first, second] = [await world.addAccount(merchantId), await world.addAccount(merchantId)];
  const productId = await addProduct();
  const linkId = await addDisabledLink(first, productId);
  const enabling = pausedAt(['link_lock_account', 'link_set_status'], (transaction) =>
    enableLink(transaction, deps, { merchantId, linkId }),
  );
  // It has read the link with its first account, and holds no lock on that account yet.
  await enabling.reached('link_lock_account');
  const updating = await startedBehind(() =>
    world.database.db.transaction((transaction) =>
      updateLink(transaction, deps, { merchantId, linkId, body: bodyFor(second, productId) }),
    ),
  );
  enabling.release('link_lock_account');
  await enabling.reached('link_set_status');
  const removing = await startedBehind(() => remove(second));
  enabling.release('link_set_status');
  await Promise.allSettled([enabling.done, updating.done, removing.done]);
  const state = await stateOf(linkId);
  assert.ok(state?.status === 'disabled' || state?.account_status === 'normal', JSON.stringify(state));
});

// proves W4.21
test('a link that is created while its account is removed ends disabled', async () => {
  const accountId = await world.addAccount(merchantId);
  const productId = await addProduct();
  const creating = pausedAt(['link_insert'], (transaction) =>
    createLink(transaction, deps, { merchantId, body: bodyFor(accountId, productId) }),
  );
  await creating.reached('link_insert');
  const removing = await startedBehind(() => remove(accountId));
  creating.release('link_insert');
  const { linkId } = await creating.done;
  assert.equal(await removing.done, 1);
  assert.deepEqual(await stateOf(linkId), disabledWithAccount);
});

test('a link that moves away from a product while that is archived stays active', async () => {
  const accountId = await world.addAccount(merchantId);
  const [old, other] = [await addProduct(), await addProduct()];
  const linkId = await addLink(accountId, old);
  const updating = pausedAt(['link_replace'], (transaction) =>
    updateLink(transaction, deps, { merchantId, linkId, body: bodyFor(accountId, other) }),
  );
  await updating.reached('link_replace');
  const archiving = await startedBehind(() =>
    world.database.db.transaction((transaction) =>
      archiveProduct(transaction, deps, { merchantId, productId: old }),
    ),
  );
  updating.release('link_replace');
  await Promise.all([updating.done, archiving.done]);
  assert.deepEqual(await stateOf(linkId), {
    status: 'active',
    disabled_reason: '',
    account_status: 'normal',
    product_statuses: ['active'],
  });
});

test('a link that moves to a product while that is archived is disabled with it', async () => {
  const accountId = await world.addAccount(merchantId);
  const [old, other] = [await addProduct(), await addProduct()];
  const linkId = await addLink(accountId, old);
  const updating = pausedAt(['link_replace'], (transaction) =>
    updateLink(transaction, deps, { merchantId, linkId, body: bodyFor(accountId, other) }),
  );
  await updating.reached('link_replace');
  const archiving = await startedBehind(() =>
    world.database.db.transaction((transaction) =>
      archiveProduct(transaction, deps, { merchantId, productId: other }),
    ),
  );
  updating.release('link_replace');
  await Promise.all([updating.done, archiving.done]);
  const state = await stateOf(linkId);
  assert.deepEqual([state?.status, state?.disabled_reason], ['disabled', 'product_archived']);
});

test('concurrent updates, enabling, archiving and removing end consistent and without a deadlock', async () => {
  const accounts = [await world.addAccount(merchantId), await world.addAccount(merchantId)];
  const products = [await addProduct(), await addProduct()];
  const [account = '', otherAccount = ''] = accounts;
  const [product = '', otherProduct = ''] = products;
  const links = await Promise.all(Array.from({ length: 6 }, () => addLink(account, product)));
  const { db } = world.database;
  const works = links.flatMap((linkId, index) => [
    () => db.transaction((each) => disableLink(each, deps, { merchantId, linkId })),
    () => db.transaction((each) => enableLink(each, deps, { merchantId, linkId })),
    () =>
      db.transaction((each) => {
        const body = index % 2 === 0 ? bodyFor(otherAccount, product) : bodyFor(account, otherProduct);
        return updateLink(each, deps, { merchantId, linkId, body });
      }),
    () => db.transaction((each) => enableLink(each, deps, { merchantId, linkId })),
  ]);
  works.splice(8, 0, () =>
    db.transaction((each) => archiveProduct(each, deps, { merchantId, productId: otherProduct })),
  );
  works.splice(14, 0, () => remove(otherAccount).then(() => undefined));
  const outcomes = await Promise.allSettled(works.map((work) => work()));
  const refused = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [String(outcome.reason)] : [],
  );
  for (const reason of refused) assert.match(reason, /^Refusal: (Account removed|Product not active)/);
  for (const linkId of links) {
    const state = await stateOf(linkId);
    const isWhole =
      state?.account_status === 'normal' && state.product_statuses.every((each) => each === 'active');
    assert.ok(state?.status === 'disabled' || isWhole, JSON.stringify(state));
  }
});
