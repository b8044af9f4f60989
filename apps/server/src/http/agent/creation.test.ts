import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { CreateSessionMessage } from '@florin/protocol/agent-api.ts';
import type { CreatedSessionView, LinkView } from '@florin/protocol/agent-view.ts';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { secp256k1 } from '@florin/signing';
import { decodeFunctionData } from 'viem';
import { cryptographyOf } from '#authorizations/cryptography.ts';
import { fixtureChains } from '../../../test/harness/agent-fixture.ts';
import {
  creationBody,
  newNonce,
  newPayer,
  openLinkWorld,
  preparationBody,
  present,
  viewOf,
} from '../../../test/harness/agent-payer.ts';
import { otherSignature } from '../../../test/harness/other-signature.ts';

const { world, linkId, createSession, prepare } = await openLinkWorld();
after(() => world.close());

const [, usdt, baseUsdc] = fixtureChains.tokens.map((token) => ({ ...token }));

const wrongFields: readonly [name: string, change: Partial<CreateSessionMessage>, code: number][] = [
  ['another purpose', { purpose: 'prepare_payment' }, 100606],
  ['an unknown link', { linkId: 'lnk_unknown' }, 100101],
  ['another merchant', { merchantId: 'mer_other' }, 100607],
  // proves S9.2
  ['an old version', { linkVersion: 'ver_old' }, 100104],
  ['an unknown chain', { paymentChainId: '1' }, 100608],
  ['a chain beyond 2^53', { paymentChainId: (2n ** 64n + 31337n).toString() }, 100608],
  ['an unknown token', { paymentToken: `0x${'44'.repeat(20)}` }, 100608],
  // proves S5.4
  ['one unit too much', { amount: '10020001' }, 100609],
  // proves S5.4
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
  // proves W8.9
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

// proves S4.27
test('a creation and a preparation lack no field of their messages, and no signature', async () => {
  const created = await createSession();
  const requirement = created.view.aiView.preparePaymentRequirement;
  const bodies = {
    '/payment/session/create': await creationBody(world, newPayer(), linkId),
    '/payment/prepare': await preparationBody(created.payer, requirement),
  };
  for (const [path, body] of Object.entries(bodies)) {
    for (const field of Object.keys(body.message)) {
      const reply = await world.post(path, { ...body, message: { ...body.message, [field]: undefined } });
      assert.deepEqual([field, reply.body['code'], paramOf(reply)], [field, 400101, `message.${field}`]);
    }
    const unsigned = await world.post(path, { message: body.message });
    assert.deepEqual([unsigned.body['code'], paramOf(unsigned)], [400101, 'signature']);
  }
});

function paramOf({ body }: { readonly body: Record<string, unknown> }): unknown {
  return (body['error'] as { param: unknown }).param;
}

// proves W1.29, W8.6
test('checks run in their documented order, and no row is written before the last has passed', async () => {
  const rows = await world.rows();
  const payer = newPayer();
  const disabled = await world.addLink();
  await world.setLinkStatus(disabled, 'disabled');
  const { message } = await creationBody(world, payer, linkId);
  const now = world.clock.time / 1000;
  const right: Partial<CreateSessionMessage>[] = [
    { purpose: message.purpose },
    { linkId: disabled },
    { linkId },
    { merchantId: message.merchantId },
    { payer: message.payer },
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
    linkId: 'lnk_unknown',
    merchantId: 'mer_other',
    // A contract of the installation: a refund to it could not arrive.
    payer: present(fixtureChains.byId(31337)).gateway,
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
  assert.deepEqual(codes, [
    ...[100606, 100101, 100103, 100607, 100611, 100104],
    ...[100608, 100608, 100609, 100602, 100603, 100601],
  ]);
  // Only the last one needed a call to the chain.
  assert.equal(world.chain.callsSeen, 1);
  assert.deepEqual(await world.rows(), rows);
});

test('an old version gets the fresh view, a wrong amount the current quote', async () => {
  const old = await creationBody(world, newPayer(), linkId, { linkVersion: 'ver_old' });
  const { data } = (await world.post('/payment/session/create', old)).body as { data: { latest: LinkView } };
  assert.deepEqual([data.latest.linkId, data.latest.aiView.workflow.stage], [linkId, 'link_ready']);
  const wrong = await creationBody(world, newPayer(), linkId, { amount: '1' });
  const quote = (await world.post('/payment/session/create', wrong)).body['data'];
  const view = viewOf<LinkView>(await world.get(`/payment/link/${linkId}`));
  assert.deepEqual(quote, view.aiView.supportedPaymentTokens[0]);
});

// proves S5.9
test('an authorization is valid until the second before its expiry, and not at it', async () => {
  const codeOf = async (expiry: number) => {
    const body = await creationBody(world, newPayer(), linkId, { authorizationExpiresAt: String(expiry) });
    return (await world.post('/payment/session/create', body)).body['code'];
  };
  const now = world.clock.time / 1000;
  assert.deepEqual([await codeOf(now + 1), await codeOf(now), await codeOf(now - 1)], [0, 100602, 100602]);
});

// proves S5.4
test('a signature authorizes only its payer, token, chain and amount, and only by that payer’s key', async () => {
  const custom = await world.addCustomLink();
  const rows = await world.rows();
  const changes: Partial<CreateSessionMessage>[] = [
    { payer: newPayer().address },
    { paymentToken: present(usdt).address, amount: '10030000' },
    { paymentChainId: '31338', paymentToken: present(baseUsdc).address, amount: '10060000000000000000' },
  ];
  const codes: unknown[] = [];
  const send = async (message: CreateSessionMessage, signature: string) =>
    codes.push((await world.post('/payment/session/create', { message, signature })).body['code']);
  for (const change of changes) {
    const { message, signature } = await creationBody(world, newPayer(), linkId);
    await send({ ...message, ...change }, signature);
  }
  const chosen = await creationBody(world, newPayer(), custom, { amount: '10020000' });
  await send({ ...chosen.message, amount: '10020001' }, chosen.signature);
  const byOther = await creationBody(world, newPayer(), linkId, { payer: newPayer().address });
  await send(byOther.message, byOther.signature);
  assert.deepEqual(codes, Array(5).fill(100601));
  assert.deepEqual(await world.rows(), rows);
});

// proves W8.7
test('the same request returns the same session after the link or chain has changed', async () => {
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
  const digest = cryptographyOf(secp256k1).digest('aipay.pay.example.com', {
    purpose: 'create_payment_session',
    message,
  });
  const signature = otherSignature(digest, first.payer.privateKey as `0x${string}`);
  assert.notEqual(signature, first.body.signature);
  const replay = viewOf<CreatedSessionView>(
    await world.post('/payment/session/create', { message, signature }),
  );
  assert.deepEqual([replay.sessionId, replay.replayed], [first.view.sessionId, true]);
});

test('a smart account authorizes by its own code, and its retry is answered after it changed its keys', async () => {
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

// proves S5.8
test('a known nonce with any other request is refused with 100604', async () => {
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

test('a nonce belongs to its payer: another payer may use the same one', async () => {
  const nonce = { authorizationNonce: newNonce() };
  const codes: unknown[] = [];
  for (const payer of [newPayer(), newPayer()]) {
    const body = await creationBody(world, payer, linkId, nonce);
    codes.push((await world.post('/payment/session/create', body)).body['code']);
  }
  assert.deepEqual(codes, [0, 0]);
});

// proves W8.7
test('100 identical concurrent creations make one session, and all get it', async () => {
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

test('100 different concurrent messages with one nonce make one session and 99 refusals', async () => {
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

// proves W1.28
test('a payer may have 20 open sessions at a time', async () => {
  const payer = newPayer();
  const bodies = await Promise.all(Array.from({ length: 25 }, () => creationBody(world, payer, linkId)));
  const all = await Promise.all(bodies.map((body) => world.post('/payment/session/create', body)));
  const statuses = all.map((reply) => `${reply.httpStatus} ${reply.body['code']}`).sort();
  assert.deepEqual(statuses, [...Array(20).fill('200 0'), ...Array(5).fill('429 900101')]);
});

// proves W8.11
test('a custom link accepts the total that the payer signs, and no price of its own', async () => {
  const custom = await world.addCustomLink();
  const view = viewOf<LinkView>(await world.get(`/payment/link/${custom}`));
  assert.deepEqual(view.aiView.pricingModel, {
    type: 'custom',
    minAmountInUSD: '0.000002',
    // In the token with the highest fee; each token has its own bounds.
    maxAmountInUSD: '10060000.00',
  });
  assert.deepEqual(
    view.aiView.supportedPaymentTokens.map(({ maxAmountInUSD }) => maxAmountInUSD),
    ['10020000.00', '10030000.00', '10060000.00'],
  );
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
  // One Micro-USD above a price and its fee: no merchant price gives this total.
  const body = await creationBody(world, payer, custom, { amount: '10020001' });
  const created = viewOf<CreatedSessionView>(await world.post('/payment/session/create', body));
  const { view: prepared } = await prepare({ payer, body, view: created });
  const { args } = decodeFunctionData({ abi: paymentGatewayAbi, data: prepared.calldata as `0x${string}` });
  const [order] = args as unknown as [Record<string, unknown>];
  assert.deepEqual([order['total'], order['payment'], order['fee']], [10_020_001n, 10_000_000n, 20_001n]);
});
