import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { WalletPurpose } from '@florin/protocol/dashboard-sign-in.ts';
import type { FastifyInstance } from 'fastify';
import { hashMessage } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { recoverAddress } from 'viem/utils';
import { Browser, DashboardWorld, dashboardOrigin, password } from '../../../test/harness/dashboard-world.ts';

let world: DashboardWorld;
let production: FastifyInstance;
before(async () => {
  // Chain 1 is configured here, and has plain wallets only.
  world = await DashboardWorld.open(
    async ({ chainId, address, message, signature }) =>
      chainId === 1 && (await recoverAddress({ hash: hashMessage(message), signature })) === address,
  );
  production = await world.serve('production');
});
after(() => world.close());

/** The message of EIP-4361 that a wallet signs for this site. */
async function signedMessage(
  browser: Browser,
  wallet: ReturnType<typeof privateKeyToAccount>,
  purpose: WalletPurpose,
  changes: Partial<Parameters<typeof createSiweMessage>[0]> = {},
): Promise<{ message: string; signature: string }> {
  const { nonce, statement, issuedAt } = (await browser.post('/sign-in/wallet/start', { purpose })).data;
  const message = createSiweMessage({
    ...{ domain: 'pay.example.com', uri: dashboardOrigin, address: wallet.address, version: '1', chainId: 1 },
    ...{ nonce, statement, issuedAt: new Date(issuedAt) },
    ...changes,
  });
  return { message, signature: await wallet.signMessage({ message }) };
}

/** A person with a wallet to sign in with, and the browser in which it was added. */
async function withWallet() {
  const { email } = await world.addPerson();
  const wallet = privateKeyToAccount(generatePrivateKey());
  const owner = await Browser.signedIn(production, email);
  const signed = await signedMessage(owner, wallet, 'add_wallet');
  assert.equal((await owner.post('/me/wallet/add', signed)).code, 0);
  return { wallet, owner };
}

test('a password does not add a second way in where the person has a stronger one', async () => {
  const { email } = await world.addPerson();
  const wallet = privateKeyToAccount(generatePrivateKey());
  const browser = await Browser.signedIn(production, email);
  const added = await browser.post('/me/wallet/add', await signedMessage(browser, wallet, 'add_wallet'));
  assert.deepEqual(added.data, { address: wallet.address });
  // Another sign-in with the password alone, as a thief of the password would have.
  const thief = await Browser.signedIn(production, email);
  for (const [path, body] of [
    ['/me/second-factor/start', { password }],
    ['/me/passkey/start', undefined],
    ['/me/password/change', { currentPassword: password, newPassword: 'another long password' }],
    ['/me/wallet/add', await signedMessage(thief, privateKeyToAccount(generatePrivateKey()), 'add_wallet')],
    ['/me/recovery-codes/renew', undefined],
  ] as const)
    assert.deepEqual([path, (await thief.post(path, body)).code], [path, 200203]);
});

test('a wallet signs in with a message for this site, once', async () => {
  const { wallet } = await withWallet();
  const browser = new Browser(production);
  const request = { ...(await signedMessage(browser, wallet, 'sign_in')), purpose: 'sign_in' };
  assert.equal((await browser.post('/sign-in/wallet', request)).code, 0);
  const me = (await browser.get('/me')).data;
  assert.deepEqual([me.proof, me.isStrong, me.wallets], ['wallet', true, [wallet.address]]);
  const now = world.merchants.clock.time;
  const refused = async (changes: object, given?: { message: string; signature: string }) => {
    const other = new Browser(production);
    const signed = given ?? (await signedMessage(other, wallet, 'sign_in', changes));
    const reply = await other.post('/sign-in/wallet', { ...signed, purpose: 'sign_in' });
    assert.deepEqual([changes, reply.code], [changes, 200202]);
    assert.equal((await other.get('/me')).code, 200201);
  };
  await refused({ again: true }, request);
  const unknown = privateKeyToAccount(generatePrivateKey());
  const strange = await browser.post('/sign-in/wallet', {
    ...(await signedMessage(browser, unknown, 'sign_in')),
    purpose: 'sign_in',
  });
  assert.deepEqual([strange.code, strange.message.includes('no account signs in')], [200202, true]);
  for (const changes of [
    { domain: 'evil.example' },
    { scheme: 'http' },
    { uri: 'https://evil.example' },
    { uri: `${dashboardOrigin}/elsewhere` },
    { uri: 'https://pay.example.com@evil.example' },
    { nonce: '0123456789abcdef' },
    { chainId: 2 },
    { statement: 'Win a prize.' },
    { statement: undefined },
    { issuedAt: new Date(now + 60_000) },
    { issuedAt: new Date(now - 600_000) },
    { expirationTime: new Date(now - 1) },
    { expirationTime: new Date(now) },
    { notBefore: new Date(now + 60_000) },
  ])
    await refused(changes);
  const taken = {
    scheme: 'https',
    notBefore: new Date(now),
    expirationTime: new Date(now + 1),
    requestId: 'a',
  };
  const full = await signedMessage(browser, wallet, 'sign_in', taken);
  assert.equal((await browser.post('/sign-in/wallet', { ...full, purpose: 'sign_in' })).code, 0);
});

test('a wallet’s message is refused with another signature, or with lines that the standard does not know', async () => {
  const { wallet } = await withWallet();
  const stranger = privateKeyToAccount(generatePrivateKey());
  const send = async (
    signer: typeof wallet,
    sign: (message: string) => Promise<{ message: string; signature: string }>,
  ) => {
    const browser = new Browser(production);
    const { message } = await signedMessage(browser, signer, 'sign_in');
    return (await browser.post('/sign-in/wallet', { ...(await sign(message)), purpose: 'sign_in' })).code;
  };
  const signedBy = (signer: typeof wallet) => async (message: string) => ({
    message,
    signature: await signer.signMessage({ message }),
  });
  assert.equal(await send(stranger, signedBy(stranger)), 200202);
  assert.equal(await send(wallet, signedBy(stranger)), 200202);
  assert.equal(await send(wallet, (message) => signedBy(wallet)(`${message}\nand pay`)), 200202);
  assert.equal(await send(wallet, (message) => signedBy(wallet)(message.replace(/\.\d{3}Z/, 'Z'))), 200202);
  const badDay = (message: string) => message.replace(/Issued At: \d{4}-\d\d/, 'Issued At: 2026-99');
  assert.equal(await send(wallet, (message) => signedBy(wallet)(badDay(message))), 200202);
  assert.equal(await send(wallet, signedBy(wallet)), 0);
});

test('a wallet’s message is for the browser that asked, and for its purpose', async () => {
  const { wallet, owner } = await withWallet();
  const other = new Browser(production);
  const send = async (browser: Browser, signed: object, purpose: string) =>
    (await browser.post('/sign-in/wallet', { ...signed, purpose })).code;
  const ofOther = await signedMessage(owner, wallet, 'sign_in');
  assert.equal(await send(other, ofOther, 'sign_in'), 200202);
  // A wrong attempt uses the nonce up.
  assert.equal(await send(owner, ofOther, 'sign_in'), 200202);
  // A browser that has asked for another message is another one as well.
  await signedMessage(other, wallet, 'sign_in');
  assert.equal(await send(other, await signedMessage(owner, wallet, 'sign_in'), 'sign_in'), 200202);
  for (const [asked, used] of [
    ['sign_in', 'prove'],
    ['prove', 'sign_in'],
    ['add_wallet', 'sign_in'],
    ['add_wallet', 'prove'],
  ] as const)
    assert.equal(
      await send(owner, await signedMessage(owner, wallet, asked), used),
      200202,
      `${asked} ${used}`,
    );
  assert.equal(await send(owner, await signedMessage(owner, wallet, 'prove'), 'prove'), 0);
  const fresh = privateKeyToAccount(generatePrivateKey());
  for (const asked of ['sign_in', 'prove'] as const)
    assert.equal((await owner.post('/me/wallet/add', await signedMessage(owner, fresh, asked))).code, 200202);
  // A proof is of the person who is signed in.
  assert.equal(await send(other, await signedMessage(other, wallet, 'prove'), 'prove'), 200202);
  const stranger = await withWallet();
  assert.equal(await send(owner, await signedMessage(owner, stranger.wallet, 'prove'), 'prove'), 200202);
  // Two tabs of a browser ask at the same time.
  const tabs = [await signedMessage(owner, wallet, 'prove'), await signedMessage(owner, wallet, 'prove')];
  for (const signed of tabs) assert.equal(await send(owner, signed, 'prove'), 0);
});
