import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agentApi, type CreateSessionMessage } from '@florin/protocol/agent-api.ts';
import type { CreatedSessionView, LinkView, PreparedView } from '@florin/protocol/agent-view.ts';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { decodeFunctionData, erc20Abi, getAddress } from 'viem';
import { privateKeyToAccount, setSignEntropy } from 'viem/accounts';
import { cryptographyOf } from '#authorizations/cryptography.ts';
import { findLink } from '#links/link.ts';
import { archiveProduct } from '#links/link-status.ts';
import { secp256k1 } from '#outside/secp256k1.ts';
import { createCheckoutSession } from '#sessions/session.ts';
import { AgentWorld, fixtureChains } from '../../../test/harness/agent-fixture.ts';
import {
  creationBody,
  newNonce,
  newPayer,
  preparationBody,
  present,
  viewOf,
} from '../../../test/harness/agent-payer.ts';
import { compileCheck } from '../schema-check.ts';

let world: AgentWorld;
let linkId: string;
before(async () => {
  world = await AgentWorld.open();
  linkId = await world.addLink();
});
after(() => world.close());

const [usdc, usdt, baseUsdc] = fixtureChains.tokens.map((token) => ({ ...token }));
const replies = {
  link: compileCheck(agentApi.routes.getPaymentLink.reply, 'reply'),
  created: compileCheck(agentApi.routes.createPaymentSession.reply, 'reply'),
  session: compileCheck(agentApi.routes.getPaymentSession.reply, 'reply'),
  prepared: compileCheck(agentApi.routes.preparePayment.reply, 'reply'),
};

async function createSession(payer = newPayer(), link = linkId) {
  const body = await creationBody(world, payer, link);
  return { payer, body, view: viewOf<CreatedSessionView>(await world.post('/payment/session/create', body)) };
}

async function prepare(created: Awaited<ReturnType<typeof createSession>>) {
  const body = await preparationBody(created.payer, created.view.aiView.preparePaymentRequirement);
  return { body, view: viewOf<PreparedView>(await world.post('/payment/prepare', body)) };
}

test('a success is the view in the envelope and beside it', async () => {
  const { body } = await world.get(`/payment/link/${linkId}`);
  const { code, message, data, ...rest } = body;
  assert.deepEqual([code, message], [0, 'success']);
  assert.deepEqual(rest, data);
});

test('both base paths serve the protocol', async () => {
  const response = await world.server.inject({ method: 'GET', url: `/api/v1/payment/link/${linkId}` });
  assert.equal(response.json().linkId, linkId);
});

test('a link offers every token with the fee in the amount, and a message to sign', async () => {
  const view = viewOf<LinkView>(await world.get(`/payment/link/${linkId}`));
  assert.equal(replies.link(view), undefined);
  assert.deepEqual(
    view.aiView.supportedPaymentTokens.map(({ tokenAddress, amountInToken, amountInUSD }) => [
      tokenAddress,
      amountInToken,
      amountInUSD,
    ]),
    [
      [usdc?.address, '10020000', '10.02'],
      [usdt?.address, '10030000', '10.03'],
      [baseUsdc?.address, '10060000000000000000', '10.06'],
    ],
  );
  const { authorizationSpec, messageTemplate } = present(view.aiView.createPaymentSessionRequirement);
  assert.deepEqual(authorizationSpec.domain, { name: 'aipay.pay.example.com', version: '1', chainId: 31337 });
  const { authorizationNonce, ...settled } = present(messageTemplate);
  assert.match(present(authorizationNonce), /^0x[0-9a-f]{64}$/);
  assert.deepEqual(settled, {
    purpose: 'create_payment_session',
    linkId,
    linkVersion: view.linkVersion,
    merchantId: world.merchantId,
    paymentChainId: '31337',
    paymentToken: usdc?.address,
    amount: '10020000',
    authorizationExpiresAt: String(world.clock.time / 1000 + 900),
  });
});

test('the Host header changes nothing that is signed', async () => {
  const forged = viewOf<LinkView>(await world.get(`/payment/link/${linkId}`, { host: 'evil.example' }));
  assert.equal(
    present(forged.aiView.createPaymentSessionRequirement).authorizationSpec.domain.name,
    'aipay.pay.example.com',
  );
});

test('a link becomes a session, and a session a transaction that pays it', async () => {
  const created = await createSession();
  assert.equal(replies.created(created.view), undefined);
  assert.deepEqual(
    [created.view.sessionType, created.view.sessionExpiresAt, created.view.aiView.workflow.stage],
    ['ai_checkout', world.clock.time / 1000 + 1800, 'session_ready'],
  );
  world.chain.allowance = 0n;
  const { view } = await prepare(created);
  assert.equal(replies.prepared(view), undefined);
  const guide = view.aiView.paymentExecutionGuide;
  const gateway = fixtureChains.byId(31337)?.gateway;
  assert.deepEqual(guide.executionRequest.txRequest, {
    chainId: '31337',
    to: gateway,
    data: view.calldata,
    value: '0',
  });
  const { functionName, args } = decodeFunctionData({
    abi: paymentGatewayAbi,
    data: view.calldata as `0x${string}`,
  });
  assert.equal(functionName, 'pay');
  const [order] = args as unknown as [Record<string, unknown>];
  assert.deepEqual(
    [order['payer'], order['token'], order['total'], order['fee'], order['payBy']],
    [created.payer.address, usdc?.address, 10_020_000n, 20_000n, BigInt(created.view.sessionExpiresAt)],
  );
  assert.deepEqual([view.executionChainId, view.executorContract], ['31337', gateway]);
  assert.equal(guide.order.deadline, String(created.view.sessionExpiresAt));
  assert.deepEqual(guide.handoff, {
    paymentUrl: `https://pay.example.com/checkout/${created.view.sessionId}`,
  });
  // What, to whom, how much and where, the fee included; nothing in it is to be guessed.
  assert.deepEqual(guide.executionRequest.userReview, {
    description:
      `Pay 10.02 USDC (a fee of 0.02 USD included) on ethereum (chain 31337) for 1 x "Tea". The gateway ${gateway} takes ` +
      `it and the merchant's wallet 0x${'c3'.repeat(20)} receives it. This cannot be undone.`,
    irreversible: true,
  });
  const session = viewOf(await world.get(`/session/${created.view.sessionId}`));
  assert.equal(replies.session(session), undefined);
});

test('the allowance asked for is exact, and nothing is asked when it suffices', async () => {
  const { view } = await prepare(await createSession());
  const [approval, ...more] = view.aiView.paymentExecutionGuide.prerequisites;
  assert.deepEqual(more, []);
  const data = present(approval).txRequest.data as `0x${string}`;
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
  const gateway = getAddress(present(fixtureChains.byId(31337)).gateway);
  assert.deepEqual([functionName, args], ['approve', [gateway, 10_020_000n]]);
  world.chain.allowance = 10_020_000n;
  const covered = await prepare(await createSession());
  world.chain.allowance = 0n;
  assert.deepEqual(covered.view.aiView.paymentExecutionGuide.prerequisites, []);
});

test('a short allowance of tether is set to zero first', async () => {
  const payer = newPayer();
  const body = await creationBody(world, payer, linkId, {
    paymentToken: present(usdt).address,
    amount: '10030000',
  });
  const view = viewOf<CreatedSessionView>(await world.post('/payment/session/create', body));
  world.chain.allowance = 5n;
  const prepared = await prepare({ payer, body, view });
  world.chain.allowance = 0n;
  assert.deepEqual(
    prepared.view.aiView.paymentExecutionGuide.prerequisites.map(({ purpose }) => purpose),
    ['reset_allowance', 'approve_exact_amount'],
  );
});

const wrongFields: readonly [name: string, change: Partial<CreateSessionMessage>, code: number][] = [
  ['another purpose', { purpose: 'prepare_payment' }, 100606],
  ['an unknown link', { linkId: 'lnk_unknown' }, 100101],
  ['another merchant', { merchantId: 'mer_other' }, 100607],
  ['an old version', { linkVersion: 'ver_old' }, 100104],
  ['an unknown chain', { paymentChainId: '1' }, 100608],
  ['a chain beyond 2^53', { paymentChainId: (2n ** 64n + 31337n).toString() }, 100608],
  ['an unknown token', { paymentToken: `0x${'44'.repeat(20)}` }, 100608],
  ['one unit too much', { amount: '10020001' }, 100609],
  ['one unit too little', { amount: '10019999' }, 100609],
];

for (const [name, change, code] of wrongFields) {
  test(`a creation with ${name} is refused with ${code} although it is signed`, async () => {
    const body = await creationBody(world, newPayer(), linkId, change);
    const { httpStatus, body: reply } = await world.post('/payment/session/create', body);
    assert.deepEqual([httpStatus, reply['code']], [200, code]);
  });
}

const malformed: readonly [name: string, change: Record<string, unknown>][] = [
  ['a hexadecimal chain', { paymentChainId: '0x7a69' }],
  ['a chain with white space', { paymentChainId: ' 31337 ' }],
  ['a leading zero', { amount: '010020000' }],
  ['a sign', { amount: '+10020000' }],
  ['an empty amount', { amount: '' }],
  ['a number for an amount', { amount: 10020000 }],
  ['an amount beyond uint256', { amount: (2n ** 256n).toString() }],
  ['an expiry in scientific notation', { authorizationExpiresAt: '1e10' }],
  ['a wrong checksum', { payer: '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9b'.replace('A', 'a') }],
  ['a payer in upper case', { payer: `0x${'AB'.repeat(20)}` }],
  ['a short nonce', { authorizationNonce: '0x1234' }],
  ['a nonce without 0x', { authorizationNonce: 'ab'.repeat(33) }],
  ['an unknown field', { recipient: 'me' }],
  ['a missing field', { merchantId: undefined }],
];

for (const [name, change] of malformed) {
  test(`a message with ${name} is refused with 400101`, async () => {
    const { message, signature } = await creationBody(world, newPayer(), linkId);
    const reply = await world.post('/payment/session/create', {
      message: { ...message, ...change },
      signature,
    });
    assert.deepEqual([reply.httpStatus, reply.body['code']], [200, 400101]);
  });
}

test('checks come in their documented order, and no row is written before the last has passed', async () => {
  const rows = await world.rows();
  const payer = newPayer();
  const disabled = await world.addLink();
  const { message } = await creationBody(world, payer, linkId);
  const now = world.clock.time / 1000;
  const right: Partial<CreateSessionMessage>[] = [
    { purpose: message.purpose },
    { linkId },
    { merchantId: message.merchantId },
    { linkVersion: message.linkVersion },
    { paymentChainId: '31337' },
    { paymentToken: message.paymentToken },
    { amount: message.amount },
    { authorizationExpiresAt: String(now + 3901) },
    { authorizationExpiresAt: String(now + 3900) },
  ];
  let tried: CreateSessionMessage = {
    ...message,
    purpose: 'prepare_payment',
    linkId: `${disabled}x`,
    merchantId: 'mer_other',
    linkVersion: 'ver_old',
    paymentChainId: '1',
    paymentToken: `0x${'44'.repeat(20)}`,
    amount: '1',
    authorizationExpiresAt: String(now),
  };
  const codes: unknown[] = [];
  const signature = `0x${'11'.repeat(65)}`;
  world.chain.callsSeen = 0;
  for (const fix of [{}, ...right]) {
    tried = { ...tried, ...fix };
    codes.push((await world.post('/payment/session/create', { message: tried, signature })).body['code']);
  }
  assert.deepEqual(codes, [100606, 100101, 100607, 100104, 100608, 100608, 100609, 100602, 100603, 100601]);
  // Only the last one was worth a call to the chain.
  assert.equal(world.chain.callsSeen, 1);
  assert.deepEqual(await world.rows(), rows);
});

test('an old version is answered with the fresh view, a wrong amount with the current quote', async () => {
  const old = await creationBody(world, newPayer(), linkId, { linkVersion: 'ver_old' });
  const { data } = (await world.post('/payment/session/create', old)).body as { data: { latest: LinkView } };
  assert.deepEqual([data.latest.linkId, data.latest.aiView.workflow.stage], [linkId, 'link_ready']);
  const wrong = await creationBody(world, newPayer(), linkId, { amount: '1' });
  const quote = (await world.post('/payment/session/create', wrong)).body['data'];
  const view = viewOf<LinkView>(await world.get(`/payment/link/${linkId}`));
  assert.deepEqual(quote, view.aiView.supportedPaymentTokens[0]);
});

test('an authorization is good until the second before its expiry', async () => {
  const expiry = String(world.clock.time / 1000 + 1);
  const body = await creationBody(world, newPayer(), linkId, { authorizationExpiresAt: expiry });
  assert.equal((await world.post('/payment/session/create', body)).body['code'], 0);
});

test('the same request answers the same session, whatever has changed since', async () => {
  const first = await createSession();
  const before = await world.rows();
  world.clock.time += 3_600_000;
  world.chain.isDown = true;
  const again = await world.post('/payment/session/create', first.body);
  world.chain.isDown = false;
  world.clock.time -= 3_600_000;
  const replay = viewOf<CreatedSessionView>(again);
  assert.deepEqual(
    [replay.sessionId, replay.sessionExpiresAt, replay.replayed],
    [first.view.sessionId, first.view.sessionExpiresAt, true],
  );
  assert.deepEqual(await world.rows(), before);
});

test('the same message in other letters is the same request', async () => {
  const first = await createSession();
  const { message, signature } = first.body;
  const respelt = {
    message: {
      ...message,
      payer: message.payer.toLowerCase(),
      authorizationNonce: `0x${message.authorizationNonce.slice(2).toUpperCase()}`,
    },
    signature: `0x${signature.slice(2).toUpperCase()}`,
  };
  const replay = viewOf<CreatedSessionView>(await world.post('/payment/session/create', respelt));
  assert.equal(replay.sessionId, first.view.sessionId);
});

test('another valid signature of the same message is the same request', async () => {
  const first = await createSession();
  const { message } = first.body;
  const account = privateKeyToAccount(first.payer.privateKey as `0x${string}`);
  const digest = cryptographyOf(secp256k1).digest('aipay.pay.example.com', {
    purpose: 'create_payment_session',
    message,
  });
  setSignEntropy(true);
  const signature = await account.sign({ hash: digest });
  assert.notEqual(signature, first.body.signature);
  const replay = viewOf<CreatedSessionView>(
    await world.post('/payment/session/create', { message, signature }),
  );
  assert.deepEqual([replay.sessionId, replay.replayed], [first.view.sessionId, true]);
});

test('a smart account authorizes by its own code, and its retry is answered after it has changed its keys', async () => {
  const { message } = await creationBody(world, newPayer(), linkId);
  const body = { message, signature: `0x${'ab'.repeat(100)}` };
  world.chain.code = '0x60806040';
  const refused = await world.post('/payment/session/create', body);
  world.chain.verdict = `0x1626ba7e${'0'.repeat(56)}`;
  const created = viewOf<CreatedSessionView>(await world.post('/payment/session/create', body));
  world.chain.verdict = undefined;
  const retry = viewOf<CreatedSessionView>(await world.post('/payment/session/create', body));
  world.chain.code = '0x';
  assert.deepEqual([refused.body['code'], retry.sessionId], [100601, created.sessionId]);
});

test('a known nonce with anything else is refused with 100604', async () => {
  const first = await createSession();
  const nonce = { authorizationNonce: first.body.message.authorizationNonce };
  const otherMessage = await creationBody(world, first.payer, linkId, { ...nonce, amount: '1' });
  const otherSignature = { ...first.body, signature: `0x${'22'.repeat(65)}` };
  const otherPurpose = await preparationBody(first.payer, first.view.aiView.preparePaymentRequirement, nonce);
  assert.deepEqual(
    [
      (await world.post('/payment/session/create', otherMessage)).body['code'],
      (await world.post('/payment/session/create', otherSignature)).body['code'],
      (await world.post('/payment/prepare', otherPurpose)).body['code'],
    ],
    [100604, 100604, 100604],
  );
});

test('a nonce belongs to its payer: another payer may use the same', async () => {
  const nonce = { authorizationNonce: newNonce() };
  const codes: unknown[] = [];
  for (const payer of [newPayer(), newPayer()]) {
    const body = await creationBody(world, payer, linkId, nonce);
    codes.push((await world.post('/payment/session/create', body)).body['code']);
  }
  assert.deepEqual(codes, [0, 0]);
});

test('100 identical creations at once make one session, and all get it', async () => {
  const before = present(await world.rows());
  const body = await creationBody(world, newPayer(), linkId);
  const all = await Promise.all(
    Array.from({ length: 100 }, () => world.post('/payment/session/create', body)),
  );
  const ids = new Set(all.map((reply) => viewOf<CreatedSessionView>(reply).sessionId));
  const firsts = all.filter((reply) => viewOf<CreatedSessionView>(reply).replayed === undefined);
  const now = present(await world.rows());
  assert.deepEqual(
    [ids.size, firsts.length, now.sessions - before.sessions, now.authorizations - before.authorizations],
    [1, 1, 1n, 1n],
  );
  assert.equal(now.events - before.events, 1n);
});

test('100 different messages with one nonce make one session and 99 refusals', async () => {
  const before = present(await world.rows());
  const payer = newPayer();
  const nonce = newNonce();
  const now = world.clock.time / 1000;
  const bodies = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      creationBody(world, payer, linkId, {
        authorizationNonce: nonce,
        authorizationExpiresAt: String(now + 100 + index),
      }),
    ),
  );
  const all = await Promise.all(bodies.map((body) => world.post('/payment/session/create', body)));
  const codes = all.map((reply) => reply.body['code']);
  assert.deepEqual(
    [codes.filter((code) => code === 0).length, codes.filter((code) => code === 100604).length],
    [1, 99],
  );
  assert.equal(present(await world.rows()).sessions - before.sessions, 1n);
});

test('a payer may have 20 open sessions, and no more at once', async () => {
  const payer = newPayer();
  const bodies = await Promise.all(Array.from({ length: 25 }, () => creationBody(world, payer, linkId)));
  const all = await Promise.all(bodies.map((body) => world.post('/payment/session/create', body)));
  const statuses = all.map((reply) => `${reply.httpStatus} ${reply.body['code']}`).sort();
  assert.deepEqual(statuses, [...Array(20).fill('200 0'), ...Array(5).fill('429 900101')]);
});

test('a custom link takes the total that the payer signs, and no price of its own', async () => {
  const custom = await world.addCustomLink();
  const view = viewOf<LinkView>(await world.get(`/payment/link/${custom}`));
  assert.deepEqual(view.aiView.pricingModel, {
    type: 'custom',
    minAmountInUSD: '0.000002',
    maxAmountInUSD: '10020000.00',
  });
  assert.deepEqual(
    view.aiView.supportedPaymentTokens.map(({ amountInToken }) => amountInToken),
    ['0', '0', '0'],
  );
  const payer = newPayer();
  const codeOf = async (changes: Partial<CreateSessionMessage>) => {
    const body = await creationBody(world, payer, custom, changes);
    return (await world.post('/payment/session/create', body)).body['code'];
  };
  const base = { paymentChainId: '31338', paymentToken: present(baseUsdc).address };
  assert.deepEqual(
    [
      await codeOf({ amount: '0' }),
      await codeOf({ amount: '10020000000002' }),
      await codeOf({ ...base, amount: '5000000000000000001' }),
    ],
    [100209, 100209, 100609],
  );
  const body = await creationBody(world, payer, custom, { amount: '10020000' });
  const created = viewOf<CreatedSessionView>(await world.post('/payment/session/create', body));
  const { view: prepared } = await prepare({ payer, body, view: created });
  const { args } = decodeFunctionData({ abi: paymentGatewayAbi, data: prepared.calldata as `0x${string}` });
  const [order] = args as unknown as [Record<string, unknown>];
  assert.deepEqual([order['total'], order['payment'], order['fee']], [10_020_000n, 10_000_000n, 20_000n]);
});

test('the same preparation answers the same order, a fresh one an order with the same id', async () => {
  const created = await createSession();
  const first = await prepare(created);
  const replay = viewOf<PreparedView>(await world.post('/payment/prepare', first.body));
  const requirement = created.view.aiView.preparePaymentRequirement;
  const again = await preparationBody(created.payer, requirement, { authorizationNonce: newNonce() });
  const fresh = viewOf<PreparedView>(await world.post('/payment/prepare', again));
  const { orderId } = first.view.aiView.paymentExecutionGuide.order;
  assert.deepEqual([replay.calldata, replay.replayed], [first.view.calldata, true]);
  assert.deepEqual([fresh.aiView.paymentExecutionGuide.order.orderId, fresh.replayed], [orderId, undefined]);
});

test('a preparation is refused while the chain cannot be asked, but its retry is answered', async () => {
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

test('100 identical preparations at once get the one order', async () => {
  const created = await createSession();
  const body = await preparationBody(created.payer, created.view.aiView.preparePaymentRequirement);
  const all = await Promise.all(Array.from({ length: 100 }, () => world.post('/payment/prepare', body)));
  assert.equal(new Set(all.map((reply) => viewOf<PreparedView>(reply).calldata)).size, 1);
});

test('a session of the AI protocol keeps its payer and its token', async () => {
  const { view, payer } = await createSession();
  const requirement = view.aiView.preparePaymentRequirement;
  const stranger = newPayer();
  const byStranger = await preparationBody(stranger, requirement, { payer: stranger.address });
  const inTether = await preparationBody(payer, requirement, { paymentToken: present(usdt).address });
  const otherMerchant = await preparationBody(payer, requirement, { merchantId: 'mer_other' });
  const unknown = await preparationBody(payer, requirement, { sessionId: 'sess_unknown' });
  const codes = [];
  for (const body of [byStranger, inTether, otherMerchant, unknown]) {
    codes.push((await world.post('/payment/prepare', body)).body['code']);
  }
  assert.deepEqual(codes, [100206, 100608, 100607, 100201]);
});

test('an e-mail address is asked for only when the link requires it, and never goes on chain', async () => {
  const required = await world.addLink({ payerEmailRequired: 1 });
  const created = await createSession(newPayer(), required);
  const requirement = created.view.aiView.preparePaymentRequirement;
  const without = await preparationBody(created.payer, requirement);
  const withEmail = await preparationBody(created.payer, requirement, { payerEmail: 'ada@example.com' });
  assert.equal((await world.post('/payment/prepare', without)).body['code'], 100610);
  const { calldata } = viewOf<PreparedView>(await world.post('/payment/prepare', withEmail));
  assert.equal(calldata.includes(Buffer.from('ada@example.com').toString('hex')), false);
});

test('an expired session is not prepared, and an agent whose order is out is told to wait', async () => {
  const unsigned = await createSession();
  const signed = await createSession();
  await prepare(signed);
  world.clock.time += 1_800_000;
  const late = await preparationBody(unsigned.payer, unsigned.view.aiView.preparePaymentRequirement);
  const code = (await world.post('/payment/prepare', late)).body['code'];
  const stages = [];
  for (const { view } of [unsigned, signed]) {
    const { aiView } = viewOf<CreatedSessionView>(await world.get(`/session/${view.sessionId}`));
    stages.push([aiView.workflow.stage, aiView.workflow.nextAction.action, aiView.preparePaymentRequirement]);
  }
  world.clock.time -= 1_800_000;
  assert.equal(code, 100203);
  assert.deepEqual(stages, [
    ['session_expired', 'create_payment_session', undefined],
    ['payment_prepared', 'poll_session', undefined],
  ]);
});

test('a session of a merchant asks for payer and token, and is prepared with the choice', async () => {
  const session = await world.db.transaction((transaction) =>
    createCheckoutSession(transaction, world.deps, {
      merchantId: world.merchantId,
      metadataText: '{}',
      body: {
        accountId: world.accountId,
        settlementToken: 'ethereum::usdc',
        lineItems: [
          {
            itemType: 'one_time',
            quantity: 2,
            unitPrice: 5_000_000,
            productData: { productName: 'Cup\u202e' },
          },
        ],
      },
    }),
  );
  const reply = await world.get(`/session/${session.sessionId}`);
  const { aiView } = viewOf<CreatedSessionView>(reply);
  const guide = present(aiView.completePaymentSessionGuide);
  assert.equal(replies.session(viewOf(reply)), undefined);
  assert.deepEqual(
    [aiView.workflow.stage, guide.requiredFields, guide.handoffUrl, guide.supportedPaymentTokens.length],
    [
      'payment_parameters_required',
      ['payer', 'paymentChainId', 'paymentToken'],
      `https://pay.example.com/checkout/${session.sessionId}`,
      3,
    ],
  );
  assert.equal(reply.text.includes(session.clientCode), false);
  const payer = newPayer();
  const body = await preparationBody(payer, guide.preparePaymentRequirement, {
    payer: payer.address,
    paymentChainId: '31338',
    paymentToken: present(baseUsdc).address,
  });
  const prepared = viewOf<PreparedView>(await world.post('/payment/prepare', body));
  assert.equal(prepared.executionChainId, '31338');
  assert.match(
    prepared.aiView.paymentExecutionGuide.executionRequest.userReview.description,
    /^Pay 10 USDC \(no fee on top\) on base \(chain 31338\) for 2 x "Cup"\./,
  );
});

test('a disabled link still has a view and takes no sessions; a deleted one has none', async () => {
  const link = await world.addLink();
  const body = await creationBody(world, newPayer(), link);
  await world.setLinkStatus(link, 'disabled');
  const view = viewOf<LinkView>(await world.get(`/payment/link/${link}`));
  const disabled = await world.post('/payment/session/create', body);
  await world.setLinkStatus(link, 'deleted');
  const deleted = await world.post('/payment/session/create', body);
  const gone = await world.get(`/payment/link/${link}`);
  assert.deepEqual(
    [view.customDisabledText, view.aiView.createPaymentSessionRequirement, view.aiView.workflow.stage],
    ['Back at noon', undefined, 'link_unavailable'],
  );
  assert.deepEqual(
    [disabled.body['code'], deleted.body['code'], gone.body['code']],
    [100103, 100102, 100102],
  );
});

test('checks of a preparation come in their documented order', async () => {
  const link = await world.addLink({ payerEmailRequired: 1 });
  const { view, payer } = await createSession(newPayer(), link);
  const template = present(present(view.aiView.preparePaymentRequirement).messageTemplate);
  const now = world.clock.time / 1000;
  const fixes: Record<string, string>[] = [
    { purpose: 'prepare_payment' },
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
  for (const fix of [{}, ...fixes]) {
    tried = { ...tried, ...fix };
    const reply = await world.post('/payment/prepare', { message: tried, signature: `0x${'11'.repeat(65)}` });
    codes.push(reply.body['code']);
  }
  assert.deepEqual(codes, [100606, 100201, 100607, 100206, 100610, 100608, 100608, 100602, 100603, 100601]);
});

test('unknown links and sessions are refused in the envelope', async () => {
  const link = await world.get('/payment/link/lnk_unknown');
  const session = await world.get('/session/sess_unknown');
  assert.deepEqual(
    [link, session].map(({ httpStatus, body }) => [httpStatus, body['code'], body['data']]),
    [
      [200, 100101, null],
      [200, 100201, null],
    ],
  );
});

test('archiving a product closes its links, and leaves their open sessions payable', async () => {
  const ownLink = await world.addLink();
  const open = await createSession(newPayer(), ownLink);
  const link = present(await findLink(world.db, ownLink));
  const productId = present(link.items[0]).productId;
  const { merchantId } = world;
  const linkDeps = { ...world.deps, isPayable: () => true };
  await world.db.transaction((transaction) =>
    archiveProduct(transaction, linkDeps, { merchantId, productId }),
  );
  assert.equal((await findLink(world.db, ownLink))?.status, 'disabled');
  const { view } = await prepare(open);
  assert.equal(view.aiView.workflow.stage, 'payment_prepared');
});
