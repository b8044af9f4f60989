import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import type {
  AgentSessionView,
  AuthorizationRequirement,
  CreatedSessionView,
  LinkView,
  PreparedView,
} from '@florin/protocol/agent-view.ts';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { paymentSessionCreationTypes } from '@florin/protocol/typed-data.ts';
import { decodeFunctionData, erc20Abi, getAddress } from 'viem';
import { findLink } from '#links/link-lookup.ts';
import { createCheckoutSession } from '#sessions/session.ts';
import { fixtureChains } from '../../../test/harness/agent-fixture.ts';
import {
  creationBody,
  newPayer,
  openLinkWorld,
  preparationBody,
  present,
  viewOf,
} from '../../../test/harness/agent-payer.ts';
import { compileCheck } from '../schema-check.ts';

const { world, linkId, createSession, prepare } = await openLinkWorld();
after(() => world.close());

const [usdc, usdt, baseUsdc] = fixtureChains.tokens.map((token) => ({ ...token }));
const replies = {
  link: compileCheck(agentApi.routes.getPaymentLink.reply, 'reply'),
  created: compileCheck(agentApi.routes.createPaymentSession.reply, 'reply'),
  session: compileCheck(agentApi.routes.getPaymentSession.reply, 'reply'),
  prepared: compileCheck(agentApi.routes.preparePayment.reply, 'reply'),
};

// proves S4.28, W1.9
test('every success is the view in the envelope, with its members repeated beside it', async () => {
  const created = await createSession();
  const { body: preparation } = await prepare(created);
  // The identical request gets the same answer.
  const answers = [
    await world.get(`/payment/link/${linkId}`),
    await world.post('/payment/session/create', created.body),
    await world.get(`/session/${created.view.sessionId}`),
    await world.post('/payment/prepare', preparation),
  ];
  for (const { body } of answers) {
    const { code, message, data, ...rest } = body;
    assert.deepEqual([code, message], [0, 'success']);
    assert.deepEqual(rest, data);
    assert.ok('aiView' in rest);
  }
});

// proves S1.5
test('a message signed by another wallet, or unsigned, creates no session and prepares none', async () => {
  const created = await createSession();
  const before = await world.rows();
  const payer = newPayer();
  const creation = await creationBody(world, newPayer(), linkId, { payer: payer.address });
  const requirement = created.view.aiView.preparePaymentRequirement;
  const preparation = await preparationBody(newPayer(), requirement);
  const codes = [];
  for (const [path, { message, signature }] of [
    ['/payment/session/create', creation],
    ['/payment/prepare', preparation],
  ] as const)
    for (const body of [{ message, signature }, { message, signature: '0x' }, { message }])
      codes.push((await world.post(path, body)).body['code']);
  assert.deepEqual(codes, [100601, 100601, 400101, 100601, 100601, 400101]);
  assert.deepEqual(await world.rows(), before);
});

test('both base paths serve the protocol', async () => {
  const response = await world.server.inject({ method: 'GET', url: `/api/v1/payment/link/${linkId}` });
  assert.equal(response.json().linkId, linkId);
});

/** The typed data as wallets parse the specification's definitions: clients that pass it on must sign exactly this. */
function typedDataOf({ domain, types }: AuthorizationRequirement['authorizationSpec'], message: unknown) {
  const [primaryType] = Object.keys(types);
  const domainFields = [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
  ];
  return { types: { EIP712Domain: domainFields, ...types }, primaryType, domain, message };
}

// proves S2.22, S2.23, S3.12, S5.5, S5.10, S9.2
test('a link offers every token with the fee in the amount, and a message to sign', async () => {
  const view = viewOf<LinkView>(await world.get(`/payment/link/${linkId}`));
  assert.equal(replies.link(view), undefined);
  assert.equal(view.linkVersion, (await findLink(world.db, linkId, world.clock.now()))?.versionCode);
  assert.deepEqual(
    view.aiView.supportedPaymentTokens,
    [
      { token: usdc, amountInToken: '10020000', amountInUSD: '10.02' },
      { token: usdt, amountInToken: '10030000', amountInUSD: '10.03' },
      { token: baseUsdc, amountInToken: '10060000000000000000', amountInUSD: '10.06' },
    ].map(({ token, ...amounts }) => {
      const { tokenId: _, address: tokenAddress, chainId, ...shown } = present(token);
      const open = { status: 'available', statusReason: '' };
      return { ...shown, chainId: `${chainId}`, tokenAddress, ...amounts, ...open };
    }),
  );
  const productData = { productName: 'Tea', productDescription: '', imageUrl: '', attributes: [] };
  assert.deepEqual(
    [view.merchantId, view.linkId, view.linkName, view.lineItems],
    [world.merchantId, linkId, 'Tea shop', [{ quantity: 1, productData, unitPriceInUSD: '10.00' }]],
  );
  assert.deepEqual([view.aiView.pricingModel, view.aiView.workflow.stage], [{ type: 'fixed' }, 'link_ready']);
  const { authorizationRequired, authorizationSpec, messageTemplate } = present(
    view.aiView.createPaymentSessionRequirement,
  );
  assert.deepEqual(
    [authorizationRequired, authorizationSpec.type, authorizationSpec.purpose, authorizationSpec.types],
    [true, 'eip712', 'create_payment_session', paymentSessionCreationTypes],
  );
  assert.deepEqual(authorizationSpec.domain, { name: 'aipay.pay.example.com', version: '1', chainId: 31337 });
  assert.deepEqual(authorizationSpec.typedData, typedDataOf(authorizationSpec, messageTemplate));
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

function stepOf({ aiView }: { readonly aiView: Pick<LinkView['aiView'], 'pricingModel' | 'workflow'> }) {
  const { stage, nextAction } = aiView.workflow;
  return [aiView.pricingModel.type, stage, nextAction.action];
}

// proves S2.16, S2.23, S2.25, S3.12, S4.26, S5.10
test('a link becomes a session, and a session a transaction that pays it', async () => {
  const created = await createSession();
  assert.equal(replies.created(created.view), undefined);
  const { authorizationSpec, messageTemplate } = present(created.view.aiView.preparePaymentRequirement);
  assert.deepEqual(authorizationSpec.typedData, typedDataOf(authorizationSpec, messageTemplate));
  assert.deepEqual(
    [created.view.sessionType, created.view.sessionExpiresAt, stepOf(created.view)],
    ['ai_checkout', world.clock.time / 1000 + 1800, ['fixed', 'session_ready', 'prepare_payment']],
  );
  const { sessionId } = created.view;
  const ready = viewOf<AgentSessionView>(await world.get(`/session/${sessionId}`));
  const productData = { productName: 'Tea', productDescription: '', imageUrl: '', attributes: [] };
  assert.deepEqual(
    [ready.sessionId, ready.sessionType, ready.lineItems, stepOf(ready)],
    [sessionId, 'ai_checkout', [{ quantity: 1, productData, unitPriceInUSD: '10.00' }], stepOf(created.view)],
  );
  world.chain.allowance = 0n;
  const { view } = await prepare(created);
  assert.equal(replies.prepared(view), undefined);
  assert.deepEqual(stepOf(view), ['fixed', 'payment_prepared', 'execute_payment_client_side']);
  const guide = view.aiView.paymentExecutionGuide;
  const gateway = fixtureChains.byId(31337)?.gateway;
  const { purpose, sessionId: paidSession } = guide.executionRequest;
  assert.deepEqual(
    [guide.authorizationRequired, purpose, paidSession],
    [false, 'execute_payment_guide', sessionId],
  );
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
  // What, to whom, how much and where, the fee included, so that the agent guesses nothing.
  assert.deepEqual(guide.executionRequest.userReview, {
    description:
      `Pay 10.02 USDC (a fee of 0.02 USD included) on ethereum (chain 31337) for 1 x "Tea". The gateway ${gateway} takes ` +
      `it and the merchant's wallet 0x${'c3'.repeat(20)} receives it. This cannot be undone.`,
    irreversible: true,
  });
  const session = viewOf(await world.get(`/session/${created.view.sessionId}`));
  assert.equal(replies.session(session), undefined);
});

// proves W8.10
test('the requested allowance is exact, and none is requested when it suffices', async () => {
  const { view } = await prepare(await createSession());
  const [approval, ...more] = view.aiView.paymentExecutionGuide.prerequisites;
  assert.deepEqual(more, []);
  const data = present(approval).txRequest.data as `0x${string}`;
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
  const gateway = getAddress(present(fixtureChains.byId(31337)).gateway);
  assert.deepEqual([functionName, args], ['approve', [gateway, 10_020_000n]]);
  world.chain.allowance = 10_019_999n;
  const short = await prepare(await createSession());
  const [whole] = short.view.aiView.paymentExecutionGuide.prerequisites;
  assert.equal(whole?.txRequest.data, data);
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

// proves W8.12
test('a session of the AI protocol keeps its payer and its token', async () => {
  const { view, payer } = await createSession();
  const requirement = view.aiView.preparePaymentRequirement;
  const stranger = newPayer();
  const byStranger = await preparationBody(stranger, requirement, { payer: stranger.address });
  const inTether = await preparationBody(payer, requirement, { paymentToken: present(usdt).address });
  const onBase = await preparationBody(payer, requirement, {
    paymentChainId: '31338',
    paymentToken: present(baseUsdc).address,
  });
  const otherMerchant = await preparationBody(payer, requirement, { merchantId: 'mer_other' });
  const unknown = await preparationBody(payer, requirement, { sessionId: 'sess_unknown' });
  const codes = [];
  for (const body of [byStranger, inTether, onBase, otherMerchant, unknown]) {
    codes.push((await world.post('/payment/prepare', body)).body['code']);
  }
  assert.deepEqual(codes, [100206, 100608, 100608, 100607, 100201]);
});

// proves W8.13
test('an e-mail address is asked for only when the link requires it, and never goes on chain', async () => {
  const required = await world.addLink({ payerEmailRequired: 1 });
  const created = await createSession(newPayer(), required);
  const requirement = created.view.aiView.preparePaymentRequirement;
  const without = await preparationBody(created.payer, requirement);
  const withEmail = await preparationBody(created.payer, requirement, { payerEmail: 'ada@example.com' });
  assert.equal((await world.post('/payment/prepare', without)).body['code'], 100610);
  const { calldata } = viewOf<PreparedView>(await world.post('/payment/prepare', withEmail));
  assert.equal(calldata.includes(Buffer.from('ada@example.com').toString('hex')), false);
  const free = await createSession();
  const unasked = await preparationBody(free.payer, free.view.aiView.preparePaymentRequirement);
  assert.deepEqual(
    [unasked.message.payerEmail, (await world.post('/payment/prepare', unasked)).body['code']],
    ['', 0],
  );
});

// proves S3.3
test('an expired session is not prepared, and an agent whose order has expired is told to wait', async () => {
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

// proves S2.24, W8.14
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
