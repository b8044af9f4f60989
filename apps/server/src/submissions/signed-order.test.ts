import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { consentsOf } from '#authorizations/consent.ts';
import { findLink } from '#links/link-lookup.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { prepareOrder } from '#sessions/order-preparation.ts';
import { createLinkSession, lockSession } from '#sessions/session.ts';
import { AgentWorld } from '../../test/harness/agent-fixture.ts';
import { newPayer } from '../../test/harness/agent-payer.ts';
import { signedOrder } from './signed-order.ts';

let world: AgentWorld;
let linkId: string;
before(async () => {
  world = await AgentWorld.open();
  linkId = await world.addLink();
});
after(() => world.close());

const newAddress = () => newPayer().address as Hex;

/** A session for which a payer prepared an order, followed by orders of `strangers`. */
async function crowdedSession(payer: Hex, strangers = 0): Promise<StoredOrder> {
  const { deps, db, clock } = world;
  const link = await findLink(db, linkId, clock.now());
  const token = deps.chains.token('ethereum::usdc');
  assert.ok(link !== undefined && token !== undefined);
  const own = await db.transaction(async (transaction) => {
    const session = await createLinkSession(transaction, deps, { link, paymentValue: link.amount });
    return prepareOrder(transaction, deps, { session, payer, payerEmail: '', token });
  });
  clock.time += 1_000;
  await db.transaction(async (transaction) => {
    const session = await lockSession(transaction, own.sessionId);
    assert.ok(session !== undefined);
    for (let stranger = 0; stranger < strangers; stranger += 1)
      await prepareOrder(transaction, deps, { session, payerEmail: '', token, payer: newAddress() });
  });
  return own;
}

function domainOf({ chainId, order }: StoredOrder) {
  return { name: 'USD Coin', version: '2', chainId, verifyingContract: order.token };
}

function signatureFor(payer: ReturnType<typeof newPayer>, order: StoredOrder): Hex {
  const gateway = world.deps.chains.byId(order.chainId)?.gateway ?? '0x';
  const [consent] = consentsOf('eip3009', order, { gateway, domain: domainOf(order) });
  assert.ok(consent !== undefined);
  return payer.signingKey.sign(consent.digest).serialized as Hex;
}

interface Given {
  readonly signature: Hex;
  readonly orderId?: string;
  /** Code at the payer's address. The strangers are accounts whose code accepts no signature. */
  readonly code?: Hex;
}

/** The order found in a session or the refusal, and how many calls ran account code. */
async function look(order: StoredOrder, { code = '0x', ...signed }: Given) {
  let calls = 0;
  const accepted: Hex = `0x1626ba7e${'0'.repeat(56)}`;
  const { payer } = order.order;
  const asked: Parameters<typeof signedOrder>[1] = {
    ...world.deps,
    gasless: { signingOf: async () => ({ permits: new Set(['eip3009']), domain: domainOf(order) }) },
    payerChain: {
      codeAt: async (_chainId, address) => (address === payer ? code : '0xc0de'),
      callAt: async (_chainId, { to }) => (to === payer ? accepted : undefined),
    },
    admitWalletCall: () => {
      calls += 1;
    },
  };
  const body = { sessionId: order.sessionId, method: 'eip3009' as const, ...signed };
  try {
    return [(await signedOrder(world.db, asked, body)).order.orderId, calls];
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return [error.slug, calls];
  }
}

test('a hundred orders of strangers do not hide the payer’s own', async () => {
  const payer = newPayer();
  const own = await crowdedSession(payer.address as Hex, 100);
  const { orderId } = own;
  const signature = signatureFor(payer, own);
  assert.deepEqual(await look(own, { signature, orderId }), [orderId, 0]);
  assert.deepEqual(await look(own, { signature }), [orderId, 0]);
  // For accounts with code, only the order's name links a signature to its signer.
  const byCode = { signature: '0xabcd', code: '0xc0de' } as const;
  assert.deepEqual(await look(own, { ...byCode, orderId }), [orderId, 1]);
  assert.deepEqual(await look(own, byCode), ['signature_invalid', 20]);
});

test('an order that is named is found among many others, and only its account is asked', async () => {
  const payer = newPayer();
  const own = await crowdedSession(payer.address as Hex, 130);
  const signature = signatureFor(payer, own);
  const orderId = `0x${own.orderId.slice(2).toUpperCase()}`;
  assert.deepEqual(await look(own, { signature, orderId }), [own.orderId, 0]);
  assert.equal((await look(own, { signature }))[0], 'signature_invalid');
  const others: Hex = `0x${'11'.repeat(64)}1b`;
  assert.deepEqual(await look(own, { signature: others, orderId }), ['signature_invalid', 0]);
});

const takeSignature = statement({
  name: 'signed_order_test_take_signature',
  parameters: { orderId: 'text' },
  text: `update orders set signature = '0x' where order_id = :orderId`,
});

test('an order that is named must belong to the session and accept payment by signature', async () => {
  const payer = newPayer();
  const own = await crowdedSession(payer.address as Hex);
  const other = await crowdedSession(payer.address as Hex);
  const signature = signatureFor(payer, own);
  assert.deepEqual(await look(own, { signature, orderId: other.orderId }), ['field_invalid', 0]);
  assert.deepEqual(await look(own, { signature, orderId: `0x${'12'.repeat(32)}` }), ['field_invalid', 0]);
  await world.db.query(takeSignature, { orderId: own.orderId });
  assert.deepEqual(await look(own, { signature, orderId: own.orderId }), ['field_invalid', 0]);
});
