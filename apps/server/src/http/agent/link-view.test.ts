import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { LinkView } from '@florin/protocol/agent-view.ts';
import { findLink, linkDetail } from '#links/link-lookup.ts';
import { archiveProduct, disableLink } from '#links/link-status.ts';
import { creationBody, newPayer, openLinkWorld, present, viewOf } from '../../../test/harness/agent-payer.ts';

const { world, createSession, prepare } = await openLinkWorld();
after(() => world.close());

// proves S3.8, W2.5
test('a disabled link still has a view and takes no sessions; a deleted one has none', async () => {
  const link = await world.addLink();
  const body = await creationBody(world, newPayer(), link);
  await world.setLinkStatus(link, 'disabled');
  const view = viewOf<LinkView>(await world.get(`/payment/link/${link}`));
  const disabled = await world.post('/payment/session/create', body);
  await world.setLinkStatus(link, 'deleted');
  const deleted = await world.post('/payment/session/create', body);
  const gone = await world.get(`/payment/link/${link}`);
  const ofMerchant = linkDetail(world.db, world.deps, { merchantId: world.merchantId, linkId: link });
  await assert.rejects(ofMerchant, { slug: 'link_archived' });
  assert.deepEqual(
    [view.customDisabledText, view.aiView.createPaymentSessionRequirement, view.aiView.workflow.stage],
    ['Back at noon', undefined, 'link_unavailable'],
  );
  assert.deepEqual(
    [disabled.body['code'], deleted.body['code'], gone.body['code']],
    [100103, 100102, 100102],
  );
});

test('payers are told that a link has ended or has had all its payments, and no other reason', async () => {
  const activeUntil = Math.floor(world.clock.time / 1000) + 60;
  const [ended, archived] = [await world.addLink({ activeUntil }), await world.addLink()];
  const body = await creationBody(world, newPayer(), ended);
  await world.setLinkStatus(archived, 'disabled');
  world.clock.time += 60_000;
  const reasonOf = async (link: string) =>
    viewOf<LinkView>(await world.get(`/payment/link/${link}`)).disabledReason;
  assert.deepEqual([await reasonOf(ended), await reasonOf(archived)], ['ended', undefined]);
  const refused = (await world.post('/payment/session/create', body)).body;
  assert.equal(refused['code'], 100103);
  assert.match(String(refused['message']), new RegExp(`${ended}: ended`));
});

// proves W8.14
test('the texts of a link reach an agent as one line without hidden characters', async () => {
  const link = await world.addLink({
    linkName: 'Tea\n\u202eshop',
    customDisabledText: 'Back\u2066 at\r\nnoon',
  });
  const { linkName } = viewOf<LinkView>(await world.get(`/payment/link/${link}`));
  const { merchantId } = world;
  const linkDeps = { ...world.deps, isPayable: () => true };
  await world.db.transaction((transaction) =>
    disableLink(transaction, linkDeps, { merchantId, linkId: link }),
  );
  const { customDisabledText } = viewOf<LinkView>(await world.get(`/payment/link/${link}`));
  assert.deepEqual([linkName, customDisabledText], ['Tea shop', 'Back at noon']);
});

// proves W4.5
test('archiving a product disables its links, and keeps their open sessions payable', async () => {
  const ownLink = await world.addLink();
  const open = await createSession(newPayer(), ownLink);
  const link = present(await findLink(world.db, ownLink, world.clock.now()));
  const productId = present(link.items[0]).productId;
  const { merchantId } = world;
  const linkDeps = { ...world.deps, isPayable: () => true };
  await world.db.transaction((transaction) =>
    archiveProduct(transaction, linkDeps, { merchantId, productId }),
  );
  assert.equal((await findLink(world.db, ownLink, world.clock.now()))?.status, 'disabled');
  const { view } = await prepare(open);
  assert.equal(view.aiView.workflow.stage, 'payment_prepared');
});
