import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withSystemScope } from '@florin/pg';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { newId } from '@florin/protocol/id.ts';
import type { Route } from '@florin/protocol/route.ts';
import pg from 'pg';
import { createSiweMessage } from 'viem/siwe';
import { schema } from '#db/schema.ts';
import { operator } from '#members/audit.ts';
import { invite } from '#members/invitation.ts';
import { recoverByOperator } from '#members/recovery.ts';
import { Passkey } from '../../../test/harness/authenticator.ts';
import {
  Browser,
  DashboardWorld,
  dashboardOrigin,
  password,
  walletDelayMs,
} from '../../../test/harness/dashboard-world.ts';
import { entries, requestOf } from '../../../test/harness/merchant-routes.ts';
import { addPaidSession } from '../../../test/harness/payment-fixture.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { totpCodeOf } from '../../../test/harness/totp.ts';

/** Operations that need no entry: they begin something, sign in or out, prove who acts, or read. */
const changesNothing = [
  ...['signInWithPassword', 'signInWithCode', 'signInWithPasskey', 'signInWithWallet', 'showInvitation'],
  ...['startPasskeySignIn', 'startWalletSignIn', 'startPasskey', 'startSecondFactor', 'prove', 'signOut'],
  // What it uses up is recorded as a sign-in (audit.test.ts).
  'signInWithRecoveryCode',
  // The statement of the dashboard orders one at each look at it.
  'createReport',
];
/** They need a transaction of settlement that waits, or a refund to sign. They go through the same recorders. */
const elsewhere = ['releaseSettlement', 'startRefundSigning', 'reportRefundSigning', 'endRefundSigning'];

let world: DashboardWorld;
let shop: Shop;
let browser: Browser;
let client: pg.Client;
let hashes = '';
const people: { userId: string; email: string }[] = [];

before(async () => {
  world = await DashboardWorld.open(async () => true);
  shop = await openShop(world.merchants);
  const { merchantId } = shop;
  const roles = ['owner', 'owner', 'viewer', 'viewer'] as const;
  // Owners recover a member once they have been owners for the delay.
  world.merchants.clock.time -= walletDelayMs;
  for (const role of roles) people.push(await world.addPerson([[merchantId, role]]));
  people.push(await world.addPerson());
  world.merchants.clock.time += walletDelayMs;
  client = new pg.Client(withSystemScope(world.options.databaseUrl, schema));
  await client.connect();
  await client.query(`insert into staff (user_id, created_at) values ('${person(0).userId}', now());
    insert into mail_bounces (address, reason, bounced_at)
      select email, '550', now() from sign_in."user" where id in ('${person(0).userId}', '${person(1).userId}');
    create function close_log() returns trigger language plpgsql as $$ begin raise 'the log is closed'; end $$;
    create trigger log_closed before insert on audit_entries for each row execute function close_log();`);
  hashes = await hashesOfTables();
  browser = await signedIn(person(0).email);
  await signedIn(person(0).email);
});
after(async () => {
  await client.end();
  await world.close();
});

const person = (index: number) => people[index] ?? { userId: '', email: '' };

async function signedIn(email: string): Promise<Browser> {
  await client.query('alter table audit_entries disable trigger log_closed');
  const made = new Browser(await world.serve('local'));
  assert.equal((await made.post('/sign-in/password', { email, password })).code, 0);
  made.merchantId = shop.merchantId;
  return made;
}

/** Asks for a hash of each table's rows. */
async function hashesOfTables(): Promise<string> {
  const { rows } = await client.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
  );
  return rows
    .map(
      ({ name }) =>
        `select '${name}' as name, md5(string_agg(t::text, ',' order by t::text)) as hash from ${name} t`,
    )
    .join(' union all ');
}

async function everything(): Promise<Record<string, string>> {
  const { rows } = await client.query(hashes);
  return Object.fromEntries(rows.map(({ name, hash }) => [name, hash]));
}

interface Attempt {
  readonly path: string;
  readonly body: object;
  readonly by?: Browser;
}
type Requests = Record<string, (route: Route) => Promise<Attempt> | Attempt>;

/** A request that succeeds for each operation of the merchant API. */
function sharedRequests(): Requests {
  // The exception that `resolveException` names is resolved: see `memberRequests`.
  const others = ['resolveException', ...changesNothing];
  const changing = entries.filter(({ name, route }) => route.effect !== 'query' && !others.includes(name));
  return Object.fromEntries(
    changing.map((entry) => [
      entry.name,
      () => {
        const { path, body = {} } = requestOf(entry, shop.things);
        return { path, body };
      },
    ]),
  );
}

const send = (body: object | (() => Promise<object>)) => async (route: Route) => ({
  path: route.path,
  body: typeof body === 'function' ? await body() : body,
});
const newest = async (path: string, list: string) => (await browser.get(path)).data[list][0];

/** The same for what members do for their merchant, and the staff for the installation. */
function memberRequests(): Requests {
  const { merchantId, things } = shop;
  const { accountId } = things;
  const { userId } = person(2);
  const wallet = { accountName: 'Till', settlementCurrencies: ['ethereum::usdc'] };
  const change = async () => ({
    changeId: (await newest('/account/change/list', 'changes')).changeId as string,
  });
  return {
    resolveException: send({ exceptionId: things.lateExceptionId }),
    renameMerchant: send({ merchantName: 'Tea & Co' }),
    sendReceiptAgain: send(async () => {
      const paid = { key: shop.key, accountId, payerEmail: 'kim@example.com' };
      return { sessionId: (await addPaidSession(world.merchants, paid)).sessionId };
    }),
    addWalletAccount: send({ ...wallet, accountAddress: `0x${'5'.repeat(40)}` }),
    cancelAccountChange: send(change),
    updateAccount: send({ accountId, settlementMode: 'direct' }),
    changeAccountAddress: send({ accountId, accountAddress: `0x${'6'.repeat(40)}` }),
    deleteLink: send({ linkId: things.linkId }),
    removeAccount: send({ accountId }),
    recordExport: send({ what: 'report of fees', format: 'csv', filters: 'until 2026-01-31' }),
    createApiKey: send({ kind: 'secret' }),
    renameApiKey: send(async () => ({ keyId: (await newest('/key/list', 'keys')).keyId, name: 'Till' })),
    disableApiKey: send(async () => ({ keyId: (await newest('/key/list', 'keys')).keyId })),
    inviteMember: send({ role: 'viewer' }),
    revokeInvitation: send(async () => ({
      invitationId: (await newest('/invitation/list', 'invitations')).invitationId,
    })),
    changeMemberRole: send({ userId, role: 'support' }),
    recoverMember: send({ userId }),
    cancelMemberRecovery: send({ userId }),
    removeMember: send({ userId }),
    withdrawSignedRefund: send({
      refundId: things.waitingRefundId,
      signingId: '00000000-0000-4000-8000-000000000000',
    }),
    createMerchant: send({ merchantName: 'Cups' }),
    inviteToMerchant: send(async () => ({
      merchantId: await world.merchants.addMerchant(),
      role: 'owner',
    })),
    suspendMerchant: send({ merchantId, reason: 'x' }),
    resumeMerchant: send({ merchantId }),
    stopToken: send({ token: 'ethereum::usdc', reason: 'x' }),
    resumeToken: send({ token: 'ethereum::usdc' }),
    resumeHaltedChain: send({ chain: 'ethereum', reason: 'x' }),
    releaseMailAddress: send({ address: person(1).email, reason: 'x' }),
  };
}

/** The same for what people do about themselves. */
function personalRequests(): Requests {
  const { merchantId } = shop;
  const { db } = world.merchants.database;
  const deps = { ...world.merchants.deps, recoveryDelayMs: 0 };
  const recover = ({ userId }: { userId: string }) =>
    db.transaction((transaction) => recoverByOperator(transaction, deps, { userId, actor: operator }));
  const invited = async () => {
    const request = { merchantId, role: 'viewer', email: '', invitedBy: '' } as const;
    return (await db.transaction((transaction) => invite(transaction, deps, request))).token;
  };
  const passkey = new Passkey({ origin: dashboardOrigin, rpId: 'pay.example.com', isVerified: true });
  const address = '0x52908400098527886E0F7030069857D2E4169EE7';
  const site = { domain: 'pay.example.com', uri: dashboardOrigin, version: '1', chainId: 1 } as const;
  return {
    changeMyNotification: send({ merchantId, kind: 'payment', isWanted: true }),
    saveMyView: send({ merchantId, name: 'Mine', filters: {} }),
    removeMyView: send({ merchantId, name: 'Mine' }),
    retryMyMail: send({}),
    addPasskey: send(async () => {
      const { challenge } = (await browser.post('/me/passkey/start')).data;
      return { name: 'Laptop', response: passkey.register(challenge) };
    }),
    removePasskey: send(async () => ({
      passkeyId: (await newest('/me/passkey/list', 'passkeys')).passkeyId,
    })),
    addWallet: send(async () => {
      const terms = (await browser.post('/sign-in/wallet/start', { purpose: 'add_wallet' })).data;
      const { nonce, statement } = terms;
      const issuedAt = new Date(terms.issuedAt);
      const message = createSiweMessage({ ...site, address, nonce, statement, issuedAt });
      return { message, signature: `0x${'1'.repeat(130)}` };
    }),
    removeWallet: send({ address }),
    confirmSecondFactor: send(async () => {
      const { totpUri } = (await browser.post('/me/second-factor/start', { password })).data;
      return { code: totpCodeOf(totpUri) };
    }),
    removeSecondFactor: send({ password }),
    renewRecoveryCodes: send({}),
    revokeMySession: send(async () => {
      await signedIn(person(0).email);
      const { sessions } = (await browser.get('/me/session/list')).data;
      return { sessionId: sessions.find(({ isThis }: { isThis: boolean }) => !isThis).sessionId };
    }),
    changePassword: send({ currentPassword: password, newPassword: 'another correct battery' }),
    cancelMyRecovery: send(async () => {
      await recover(person(0));
      return {};
    }),
    completeRecovery: async ({ path }) => {
      const { token } = await recover(person(3));
      return { path, body: { token, password: 'a password after the loss' } };
    },
    acceptInvitation: async ({ path }) => {
      const token = await invited();
      return { path, body: { token }, by: await signedIn(person(4).email) };
    },
    acceptInvitationAsNew: async ({ path }) => {
      const email = `${newId('user', world.options.random.bytes)}@example.com`;
      const body = { token: await invited(), name: 'Lee', email, password };
      return { path, body, by: new Browser(await world.serve('local')) };
    },
  };
}

test('every change writes one entry in its own transaction: while none can be written, nothing changes', async () => {
  const requests = { ...sharedRequests(), ...memberRequests(), ...personalRequests() };
  const routes = Object.entries<Route>(dashboardApi.routes).filter(([, { effect }]) => effect !== 'query');
  assert.deepEqual(
    [...Object.keys(requests), ...changesNothing, ...elsewhere].toSorted(),
    routes.map(([name]) => name).toSorted(),
    'every operation is walked or named',
  );
  const wrong: unknown[] = [];
  for (const [name, requestFor] of Object.entries(requests)) {
    const route = routes.find(([each]) => each === name)?.[1];
    assert.ok(route !== undefined, name);
    const { path, body, by = browser } = await requestFor(route);
    const earlier = await everything();
    await client.query('alter table audit_entries enable trigger log_closed');
    const closed = await by.post(path, body);
    await client.query('alter table audit_entries disable trigger log_closed');
    const later = await everything();
    const changed = Object.keys(later).filter((table) => later[table] !== earlier[table]);
    const open = await by.post(path, body);
    const { rows } = await client.query(
      // A new member also signs in.
      `select merchant_id as place, count(*)::int from audit_entries
       where request_id = $1 and action <> 'signInOnNewDevice' group by 1`,
      [open.headers['request-id']],
    );
    const counts = rows.map(({ count }) => count);
    const isOnePerPlace = counts.length > 0 && counts.every((count) => count === 1);
    if (closed.code === 0 || changed.length > 0 || open.code !== 0 || !isOnePerPlace)
      wrong.push({ name, closed: closed.code, changed, open: open.message, rows });
  }
  assert.deepEqual(wrong, []);
});

test('a decision about an exception names the payment and the money', async () => {
  const { entries: found } = (await browser.get('/audit/list?action=acceptException')).data;
  const { before, after } = found[0];
  const { sessionId, amount, decision, tokenId } = JSON.parse(after);
  assert.match(sessionId, /^sess_/);
  assert.ok(amount > 0);
  assert.deepEqual([before, decision, tokenId], ['', 'accept', 'ethereum::usdc']);
});

test('an act that finds nothing to change succeeds and writes no entry', async () => {
  const { exceptionId, waitingRefundId: refundId, lateExceptionId } = shop.things;
  const acts = {
    '/exception/resolve': { exceptionId },
    '/exception/accept': { exceptionId: lateExceptionId },
    '/refund/signing/end': { refundId, signingId: '00000000-0000-4000-8000-000000000000' },
    '/me/session/revoke': { sessionId: 'a session of somebody else' },
    '/me/wallet/remove': { address: `0x${'9'.repeat(40)}` },
  };
  const before = await everything();
  for (const [path, body] of Object.entries(acts))
    assert.equal((await browser.post(path, body)).code, 0, path);
  const after = await everything();
  for (const table of ['public.audit_entries', 'public.exceptions', 'public.refund_signings'])
    assert.equal(after[table], before[table], table);
});
