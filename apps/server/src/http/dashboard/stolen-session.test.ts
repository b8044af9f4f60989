import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { provenAtTimes } from '@florin/protocol/member-role.ts';
import type { Route } from '@florin/protocol/route.ts';
import type { FastifyInstance } from 'fastify';
import { takeEffect } from '#merchants/account-change.ts';
import { Passkey } from '../../../test/harness/authenticator.ts';
import {
  Browser,
  DashboardWorld,
  dashboardOrigin,
  password,
  walletDelayMs,
} from '../../../test/harness/dashboard-world.ts';
import {
  entries,
  linkFields,
  requestOf,
  type Things,
  webhookFields,
} from '../../../test/harness/merchant-routes.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';

/** What a thief can do who has the cookie of an owner's session, and whatever that session reads, but no way to prove who acts. */

let world: DashboardWorld;
let server: FastifyInstance;
let shop: Shop;
let victim: Browser;
let coOwner: { userId: string; email: string };

before(async () => {
  world = await DashboardWorld.open();
  server = await world.serve('production');
  shop = await openShop(world.merchants);
  const { email } = await world.addPerson([[shop.merchantId, 'owner']]);
  coOwner = await world.addPerson([[shop.merchantId, 'owner']]);
  await new Browser(server).post('/sign-in/password', { email, password });
  victim = await signedInWithPasskey(email, shop.merchantId);
});
after(() => world.close());

async function signedInWithPasskey(email: string, merchantId: string): Promise<Browser> {
  const browser = new Browser(server);
  browser.merchantId = merchantId;
  await browser.post('/sign-in/password', { email, password });
  const passkey = new Passkey({ origin: dashboardOrigin, rpId: 'pay.example.com', isVerified: true });
  const registration = (await browser.post('/me/passkey/start')).data;
  const response = passkey.register(registration.challenge);
  assert.equal((await browser.post('/me/passkey/add', { name: 'Laptop', response })).code, 0);
  const { challenge } = (await browser.post('/sign-in/passkey/start')).data;
  assert.equal((await browser.post('/sign-in/passkey', { response: passkey.signIn(challenge) })).code, 0);
  return browser;
}

/** The victim's browser as a thief of its cookies has it. */
function stolen(): Browser {
  const thief = new Browser(server);
  thief.merchantId = shop.merchantId;
  for (const [name, value] of victim.cookies) thief.cookies.set(name, value);
  return thief;
}

// Where money goes, and who gets in: every row that decides one of them.
const crown = statement({
  name: 'stolen_session_crown',
  columns: { state: 'text' },
  text: `select jsonb_build_object(
     'wallets', (select jsonb_agg(to_jsonb(t) order by t.account_id) from accounts t),
     'changes', (select jsonb_agg(to_jsonb(t) order by t.change_id) from account_changes t),
     'refunds', (select jsonb_agg(to_jsonb(t) order by t.refund_id) from refunds t),
     'exceptions', (select jsonb_agg(to_jsonb(t) order by t.exception_id) from exceptions t),
     'keys', (select jsonb_agg(to_jsonb(t) - 'last_used_at' order by t.key_id) from api_keys t),
     'secrets', (select jsonb_agg(jsonb_build_array(webhook_id, sealed_key, previous_sealed_key) order by webhook_id) from webhooks),
     'members', (select jsonb_agg(to_jsonb(t) order by t.merchant_id, t.user_id) from memberships t),
     'staff', (select jsonb_agg(to_jsonb(t) order by t.user_id) from staff t),
     'invitations', (select jsonb_agg(to_jsonb(t) order by t.invitation_id) from invitations t),
     'recoveries', (select jsonb_agg(to_jsonb(t) - 'status' order by t.recovery_id) from recoveries t),
     'merchants', (select jsonb_agg(to_jsonb(t) order by t.merchant_id) from merchants t),
     'stops', (select jsonb_agg(to_jsonb(t)) from token_stops t),
     'people', (select jsonb_agg(to_jsonb(t) - 'updatedAt' order by t.id) from sign_in."user" t),
     'passwords', (select jsonb_agg(to_jsonb(t) - 'updatedAt' order by t.id) from sign_in.account t),
     'passkeys', (select jsonb_agg(to_jsonb(t) - 'counter' order by t.id) from sign_in.passkey t),
     'factors', (select jsonb_agg(to_jsonb(t) order by t.id) from sign_in."twoFactor" t),
     'returns', (select jsonb_agg(jsonb_build_array(link_id, success_url, cancel_url) order by link_id)
       from links where success_url <> '' or cancel_url <> ''),
     'own wallets', (select jsonb_agg(to_jsonb(t) order by t.id) from sign_in.wallet t),
     'codes', (select jsonb_agg(to_jsonb(t) order by t.id) from sign_in."recoveryCode" t)
   )::text as state`,
});

async function readCrown(): Promise<Record<string, unknown>> {
  const [row] = await world.merchants.database.db.query(crown);
  return JSON.parse(row?.state ?? '{}');
}

const hex = (digit: string, length: number) => `0x${digit.repeat(length)}`;
const proof = { message: 'x', signature: hex('1', 130) };
const response = { id: 'x', rawId: 'x', type: 'public-key', response: {}, clientExtensionResults: {} };

/** A request for each operation that is not the merchant API's: as good as a thief can make it. */
function ownBodies({ things }: Shop, own: { changeId: string; signingId: string; sessionId: string }) {
  const { accountId, refundId, linkId } = things;
  const { userId, email } = coOwner;
  const token = 'A'.repeat(43);
  const mine = { accountAddress: `0x${'7e'.repeat(20)}` };
  const signing = { refundId, signingId: own.signingId };
  const bodies: Readonly<Record<string, object>> = {
    signInWithPassword: { email, password: 'a guess of the thief' },
    signInWithCode: { code: '000000' },
    startPasskeySignIn: {},
    signInWithPasskey: { response },
    startWalletSignIn: { purpose: 'sign_in' },
    signInWithWallet: { ...proof, purpose: 'sign_in' },
    signInWithRecoveryCode: { email, code: 'a guess' },
    completeRecovery: { token, password: 'a password of the thief' },
    showInvitation: { token },
    acceptInvitationAsNew: { token, name: 'Eve', email: 'eve@example.com', password },
    prove: { password: 'a guess of the thief' },
    acceptInvitation: { token },
    cancelMyRecovery: {},
    changeMyNotification: { merchantId: shop.merchantId, kind: 'wallet_changed', isWanted: false },
    retryMyMail: {},
    saveMyView: { merchantId: shop.merchantId, name: 'Mine', filters: {} },
    removeMyView: { merchantId: shop.merchantId, name: 'Mine' },
    changePassword: { currentPassword: password, newPassword: 'a password of the thief' },
    startPasskey: {},
    addPasskey: { response, name: 'Mine' },
    removePasskey: { passkeyId: 'x' },
    startSecondFactor: { password },
    confirmSecondFactor: { code: '000000' },
    removeSecondFactor: { password },
    addWallet: proof,
    removeWallet: { address: mine.accountAddress },
    renewRecoveryCodes: {},
    renameMerchant: { merchantName: 'Eve & Co' },
    addWalletAccount: { accountName: 'Mine', ...mine, settlementCurrencies: ['ethereum::usdc'] },
    cancelAccountChange: { changeId: own.changeId },
    updateAccount: { accountId, settlementMode: 'direct' },
    changeAccountAddress: { accountId, ...mine },
    removeAccount: { accountId },
    changeMemberRole: { userId, role: 'viewer' },
    removeMember: { userId },
    recoverMember: { userId },
    cancelMemberRecovery: { userId },
    inviteMember: { role: 'owner' },
    revokeInvitation: { invitationId: 'inv_none' },
    createApiKey: { kind: 'secret' },
    renameApiKey: { keyId: 'key_none', name: 'Mine' },
    disableApiKey: { keyId: 'key_none' },
    startRefundSigning: { ...signing, account: hex('1', 40) },
    reportRefundSigning: { ...signing, txHash: hex('1', 64) },
    endRefundSigning: signing,
    withdrawSignedRefund: signing,
    sendReceiptAgain: { sessionId: 'sess_none' },
    recordExport: { what: 'list of payments', format: 'csv', filters: '' },
    getPeriodSums: { times: [0, 86_400] },
    getAccountSums: { times: [0, 86_400] },
    deleteLink: { linkId },
    createMerchant: { merchantName: 'Eve & Co' },
    inviteToMerchant: { merchantId: shop.merchantId, role: 'owner' },
    suspendMerchant: { merchantId: shop.merchantId, reason: 'x' },
    resumeMerchant: { merchantId: shop.merchantId },
    stopToken: { token: 'ethereum::usdc', reason: 'x' },
    resumeToken: { token: 'ethereum::usdc' },
    resumeHaltedChain: { chain: 'ethereum', reason: 'x' },
    releaseSettlement: { orderId: hex('0', 64), reason: 'x' },
    releaseMailAddress: { address: 'eve@example.com', reason: 'x' },
    // They end sessions, so they are last.
    revokeMySession: { sessionId: own.sessionId },
    signOut: {},
  };
  return bodies;
}

/** Operations that change something without a proof. None of them says where money goes or who gets in. */
const open = [
  ...['createProduct', 'updateProduct', 'archiveProduct', 'unarchiveProduct', 'removeProduct'],
  ...['createLink', 'updateLink', 'disableLink', 'enableLink', 'deleteLink', 'updateBranding'],
  ...['createCheckoutSession', 'cancelCheckoutSession', 'createReport', 'recordExport'],
  ...['updateWebhook', 'disableWebhook', 'enableWebhook', 'testWebhook', 'removeWebhook'],
  ...['resendDeliveries', 'resendDelivery', 'endRefundSigning'],
  ...[
    'startPasskeySignIn',
    'startWalletSignIn',
    'cancelMyRecovery',
    'retryMyMail',
    'saveMyView',
    'removeMyView',
    'revokeMySession',
    'signOut',
  ],
];

test('a stolen session sends payers to no other place, and nothing slows down work on the shop’s own', async () => {
  const fields = linkFields(shop.things);
  const home = { successUrl: 'https://shop.example.com/thanks', cancelUrl: 'https://shop.example.com/back' };
  const { linkId: returning } = (await victim.post('/payment/link/create', { ...fields, ...home })).data;
  const pages = { legalName: 'Tea Ltd', supportUrl: 'https://chat.example.net/tea' };
  assert.equal((await victim.post('/branding/update', pages)).code, 0);
  world.merchants.clock.time += 5 * 60_000;
  const thief = stolen();
  // Other pages of the shop itself slow no work down.
  const elsewhere = { linkId: returning, ...fields, successUrl: `${home.cancelUrl}/other` };
  assert.equal((await thief.post('/payment/link/update', elsewhere)).code, 0);
  const evil = 'https://evil.example.com';
  const { accountId, linkId } = shop.things;
  const session = { accountId, settlementToken: 'ethereum::usdc', lineItems: fields.lineItems };
  const redirections: readonly (readonly [path: string, body: object])[] = [
    ['/payment/link/create', { ...fields, successUrl: `${evil}/?https://shop.example.com/` }],
    ['/payment/link/update', { linkId, ...fields, successUrl: evil }],
    [
      '/payment/link/update',
      { linkId, ...fields, ...home, cancelUrl: `https://shop.example.com.evil.example` },
    ],
    ['/session/checkout/create', { ...session, successUrl: evil }],
    ['/session/checkout/create', { ...session, cancelUrl: `https://shop.example.com:8443/` }],
    ['/branding/update', { ...pages, supportUrl: 'https://chat.example.net/evil' }],
    ['/branding/update', { ...pages, refundUrl: evil }],
    // A link may return to a service on which others have pages, too.
    ['/branding/update', { ...pages, termsUrl: home.cancelUrl }],
    ['/branding/update', { ...pages, legalName: 'Eve Ltd' }],
    ['/branding/update', { ...pages, embedOrigins: [evil] }],
    // The origin of a page of the merchant's may be a service that others use, too.
    ['/branding/update', { ...pages, embedOrigins: ['https://chat.example.net'] }],
  ];
  for (const [path, body] of redirections)
    assert.equal((await thief.post(path, body)).code, 200204, `${path} ${JSON.stringify(body)}`);
  assert.deepEqual(
    [...new Set([...redirections.map(([path]) => path), '/webhook/update'])].toSorted(),
    Object.keys(provenAtTimes).toSorted(),
  );
  const both = { ...pages, legalName: '', termsUrl: evil };
  assert.match(
    (await thief.post('/branding/update', both)).message,
    / https:\/\/evil\.example\.com, no legal name$/,
  );
  assert.equal((await thief.post('/branding/update', { ...pages, termsUrl: pages.supportUrl })).code, 0);
  assert.equal(
    (await thief.post('/branding/update', { ...pages, embedOrigins: [home.cancelUrl.slice(0, 24)] })).code,
    0,
  );
  world.merchants.clock.time -= 5 * 60_000;
  assert.equal((await victim.post('/branding/update', {})).code, 0);
});

test('a stolen session changes neither where money goes nor who gets in, by any operation', async () => {
  const { sessions } = (await victim.get('/me/session/list')).data;
  const changing = { ...{ accountName: 'Safe', settlementCurrencies: ['ethereum::usdc'] } };
  const planned = await victim.post('/account/create', { ...changing, accountAddress: hex('5', 40) });
  const own = {
    changeId: planned.data.changeId,
    signingId: '00000000-0000-4000-8000-000000000000',
    sessionId: sessions.find(({ isThis }: { isThis: boolean }) => !isThis).sessionId,
  };
  const signing = { refundId: shop.things.waitingRefundId, account: hex('1', 40) };
  assert.equal(
    (await victim.post('/refund/signing/start', { ...signing, signingId: own.signingId })).code,
    0,
  );
  world.merchants.clock.time += 5 * 60_000;
  const bodies = ownBodies(shop, own);
  const thief = stolen();
  const earlier = await readCrown();
  const done: string[] = [];
  const codes: Record<string, number> = {};
  const attempt = async (name: string, path: string, body: object | undefined) => {
    const reply = await thief.send('POST', path, body === undefined ? {} : { body });
    codes[name] = reply.code;
    if (reply.code === 0) done.push(name);
    assert.notEqual(reply.code, 999_999, name);
  };
  for (const entry of entries.filter(({ route }) => route.effect !== 'query')) {
    const { path, body } = requestOf(entry, shop.things);
    await attempt(entry.name, path, body);
  }
  const { webhookId } = shop.things;
  for (const change of [{ webhookUrl: 'https://evil.example.com/hook' }, { subscribedEvents: ['session.*'] }])
    assert.equal(
      (await thief.post('/webhook/update', { webhookId, ...webhookFields, ...change })).code,
      200204,
    );
  const routes: Record<string, Route> = dashboardApi.routes;
  const another = { ...signing, signingId: own.signingId.replaceAll('0', '1'), insteadOf: own.signingId };
  assert.equal((await thief.post('/refund/signing/start', another)).code, 200204);
  const { data } = await victim.get(`/refund/signing/${signing.refundId}`);
  assert.equal(data.signing.signingId, own.signingId);
  for (const [name, body] of Object.entries(bodies)) {
    const route = routes[name];
    assert.ok(route !== undefined, name);
    if (route.effect !== 'query')
      await attempt(name, route.path, Object.keys(body).length === 0 ? undefined : body);
  }
  const tried = Object.keys(codes);
  const writes = Object.entries(routes).filter(([, { effect }]) => effect !== 'query');
  assert.deepEqual(
    writes.map(([name]) => name).filter((name) => !tried.includes(name)),
    [],
    'every operation is tried',
  );
  assert.deepEqual(done.toSorted(), open.toSorted());
  assert.deepEqual(await readCrown(), earlier);
  // Refused by the missing proof itself, not by a fault of the request.
  const isRefused = (name: string) => codes[name] === 200_204 || codes[name] === 200_205;
  const others = tried.filter((name) => !open.includes(name) && !isRefused(name));
  assert.deepEqual(
    others.toSorted(),
    [
      ...['acceptInvitation', 'acceptInvitationAsNew', 'changeMyNotification', 'completeRecovery', 'prove'],
      ...['showInvitation', 'signInWithCode', 'signInWithPasskey', 'signInWithPassword'],
      ...['reportRefundSigning', 'signInWithRecoveryCode', 'signInWithWallet', 'sendReceiptAgain'],
    ].toSorted(),
  );
});

test('even with a fresh proof a thief’s wallets wait, are told, and another owner ends them for good', async () => {
  const merchantId = await world.merchants.addMerchant();
  const accountId = await world.merchants.addAccount(merchantId);
  const [robbed, partner] = [
    await world.addPerson([[merchantId, 'owner']]),
    await world.addPerson([[merchantId, 'owner']]),
  ];
  const thief = await signedInWithPasskey(robbed.email, merchantId);
  const wallet = (digit: string) => ({ accountAddress: hex(digit, 40) });
  const fields = { accountName: 'Mine', settlementCurrencies: ['ethereum::usdc'] };
  const changes = [
    await thief.post('/account/create', { ...fields, ...wallet('a') }),
    await thief.post('/account/address', { accountId, ...wallet('b') }),
  ];
  assert.equal((await thief.post('/account/remove', { accountId })).code, 0);
  // A merchant without any wallet has still had its first one.
  changes.push(await thief.post('/account/create', { ...fields, ...wallet('c') }));
  for (const { data } of changes) {
    assert.equal(data.status, 'waiting');
    assert.equal((await world.merchants.eventsOf(data.changeId))[0]?.type, 'account.change_planned');
  }
  const { productId } = (await thief.post('/product/create', { name: 'Tea', commonPrices: [1] })).data;
  for (const { data } of changes) {
    const named = { accountId: data.changeId, productId } as Things;
    assert.equal((await thief.post('/payment/link/create', linkFields(named))).code, 100401);
  }
  const turnOff = { merchantId, kind: 'wallet_changed', isWanted: false };
  assert.equal((await thief.post('/me/notification/change', turnOff)).code, 400101);

  const owner = await signedInWithPasskey(partner.email, merchantId);
  for (const { data } of changes)
    assert.equal((await owner.post('/account/change/cancel', { changeId: data.changeId })).code, 0);
  world.merchants.clock.time += walletDelayMs;
  const { deps, database } = world.merchants;
  while (await database.db.transaction((transaction) => takeEffect(transaction, deps)));
  assert.deepEqual((await owner.get('/account/list')).data, []);
});
