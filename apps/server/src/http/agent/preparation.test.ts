import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
import type { PreparedView } from '@florin/protocol/agent-view.ts';
import { fixtureChains } from '../../../test/harness/agent-fixture.ts';
import {
  newNonce,
  newPayer,
  openLinkWorld,
  preparationBody,
  present,
  viewOf,
} from '../../../test/harness/agent-payer.ts';

const { world, createSession, prepare } = await openLinkWorld();
after(() => world.close());

const [usdc, usdt] = fixtureChains.tokens.map((token) => ({ ...token }));

// proves W8.7
test('the same preparation returns the same order, a fresh one an order with the same id', async () => {
  const created = await createSession();
  const first = await prepare(created);
  const replay = viewOf<PreparedView>(await world.post('/payment/prepare', first.body));
  const requirement = created.view.aiView.preparePaymentRequirement;
  const again = await preparationBody(created.payer, requirement, { authorizationNonce: newNonce() });
  const fresh = viewOf<PreparedView>(await world.post('/payment/prepare', again));
  // Even after the session expires and the chain stops answering.
  world.clock.time += 3_600_000;
  world.chain.isDown = true;
  const late = viewOf<PreparedView>(await world.post('/payment/prepare', first.body));
  world.chain.isDown = false;
  world.clock.time -= 3_600_000;
  assert.deepEqual([late.calldata, late.replayed], [first.view.calldata, true]);
  const { orderId } = first.view.aiView.paymentExecutionGuide.order;
  assert.deepEqual([replay.calldata, replay.replayed], [first.view.calldata, true]);
  assert.deepEqual([fresh.aiView.paymentExecutionGuide.order.orderId, fresh.replayed], [orderId, undefined]);
});

test('a preparation is refused while the chain does not answer, but its retry succeeds', async () => {
  const created = await createSession();
  const body = await preparationBody(created.payer, created.view.aiView.preparePaymentRequirement);
  world.chain.isDown = true;
  const refused = await world.post('/payment/prepare', body);
  world.chain.isDown = false;
  const first = viewOf<PreparedView>(await world.post('/payment/prepare', body));
  world.chain.isDown = true;
  const retry = viewOf<PreparedView>(await world.post('/payment/prepare', body));
  world.chain.isDown = false;
  assert.deepEqual([refused.httpStatus, refused.body['code']], [503, 900401]);
  assert.equal(retry.calldata, first.calldata);
});

const setGateway = statement({
  name: 'preparation_test_gateway',
  parameters: { orderId: 'text', gateway: 'text' },
  text: 'update orders set gateway = :gateway where order_id = :orderId',
});

test('an order whose gateway the configuration no longer names is not prepared again while it is to be paid', async () => {
  const first = await prepare(await createSession());
  const { orderId } = first.view.aiView.paymentExecutionGuide.order;
  const again = async (gateway: string) => {
    await world.db.query(setGateway, { orderId, gateway });
    return world.post('/payment/prepare', first.body);
  };
  const refused = await again(`0x${'ee'.repeat(20)}`);
  assert.deepEqual([refused.httpStatus, refused.body['code']], [503, 900401]);
  // What is not to be executed any more is told as it is, and not as a chain to wait for.
  world.clock.time += 3_600_000;
  const late = viewOf<PreparedView>(await world.post('/payment/prepare', first.body));
  world.clock.time -= 3_600_000;
  assert.deepEqual(
    [late.calldata, late.aiView.workflow.nextAction.action],
    [first.view.calldata, 'poll_session'],
  );
  const known = viewOf<PreparedView>(await again(first.view.executorContract.toLowerCase()));
  assert.equal(known.calldata, first.view.calldata);
});

// proves W8.7
test('100 identical concurrent preparations get one order', async () => {
  const created = await createSession();
  const body = await preparationBody(created.payer, created.view.aiView.preparePaymentRequirement);
  const all = await Promise.all(Array.from({ length: 100 }, () => world.post('/payment/prepare', body)));
  assert.equal(new Set(all.map((reply) => viewOf<PreparedView>(reply).calldata)).size, 1);
});

// proves W8.9
test('a preparation with an integer in another spelling is refused with 400101', async () => {
  const created = await createSession();
  const { message, signature } = await preparationBody(
    created.payer,
    created.view.aiView.preparePaymentRequirement,
  );
  const spellings = (text: string) => [`0${text}`, `+${text}`, ` ${text}`, `0x${BigInt(text).toString(16)}`];
  const changes = [
    ...spellings(message.paymentChainId).map((paymentChainId) => ({ paymentChainId })),
    ...spellings(message.authorizationExpiresAt).map((time) => ({ authorizationExpiresAt: time })),
  ];
  for (const change of changes) {
    const body = { message: { ...message, ...change }, signature };
    assert.equal((await world.post('/payment/prepare', body)).body['code'], 400101, JSON.stringify(change));
  }
});

// proves S5.4
test('only the payer’s key authorizes a preparation, for its own session and e-mail address', async () => {
  const { view, payer } = await createSession();
  const other = await createSession(payer);
  const requirement = view.aiView.preparePaymentRequirement;
  const { message, signature } = await preparationBody(payer, requirement);
  const byOther = await preparationBody(newPayer(), requirement);
  const rows = await world.rows();
  const codes: unknown[] = [];
  for (const body of [
    byOther,
    { message: { ...message, sessionId: other.view.sessionId }, signature },
    { message: { ...message, payerEmail: 'eve@example.com' }, signature },
  ]) {
    codes.push((await world.post('/payment/prepare', body)).body['code']);
  }
  assert.deepEqual(codes, Array(3).fill(100601));
  assert.deepEqual(await world.rows(), rows);
});

// proves W1.29, W8.6
test('checks of a preparation run in their documented order, and no row is written before the last has passed', async () => {
  const link = await world.addLink({ payerEmailRequired: 1 });
  const expired = await createSession();
  world.clock.time += 1_800_000;
  const { view, payer } = await createSession(newPayer(), link);
  const template = present(present(view.aiView.preparePaymentRequirement).messageTemplate);
  const now = world.clock.time / 1000;
  const fixes: Record<string, string>[] = [
    { purpose: 'prepare_payment' },
    { sessionId: expired.view.sessionId },
    { sessionId: view.sessionId },
    { merchantId: world.merchantId },
    { payer: payer.address },
    { payerEmail: 'ada@example.com' },
    { paymentChainId: '31337' },
    { paymentToken: present(usdc).address },
    { authorizationExpiresAt: String(now + 3901) },
    { authorizationExpiresAt: String(now + 3900) },
  ];
  let tried = {
    ...template,
    purpose: 'create_payment_session',
    sessionId: 'sess_unknown',
    merchantId: 'mer_other',
    payer: newPayer().address,
    payerEmail: '',
    paymentChainId: '1',
    paymentToken: present(usdt).address,
    authorizationExpiresAt: '0',
  };
  const codes: unknown[] = [];
  const rows = await world.rows();
  for (const fix of [{}, ...fixes]) {
    tried = { ...tried, ...fix };
    const reply = await world.post('/payment/prepare', { message: tried, signature: `0x${'11'.repeat(65)}` });
    codes.push(reply.body['code']);
  }
  assert.deepEqual(codes, [
    ...[100606, 100201, 100203, 100607, 100206, 100610],
    ...[100608, 100608, 100602, 100603, 100601],
  ]);
  assert.deepEqual(await world.rows(), rows);
});
