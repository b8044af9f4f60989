import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildPages } from '@florin/dashboard/build';
import type { MemberRole } from '@florin/protocol/member-role.ts';
import { findFreePort } from '@florin/world';
import { Wallet } from 'ethers';
import type { Browser, Page } from 'playwright-core';
import { hashMessage, recoverAddress } from 'viem';
import { dashboardPagesDoor } from '#http/dashboard/pages.ts';
import { renewRecoveryCodes } from '#members/recovery-code.ts';
import { indexSessions } from '#sessions/search-index.ts';
import { addPerson, DashboardWorld, password, walletDelayMs } from '../harness/dashboard-world.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { totpCode } from '../harness/totp.ts';
import { openChromium, openPage } from './chromium.ts';
import { focusOf, press, tabTo } from './keyboard.ts';
import { TestWallet } from './test-wallet.ts';

/** In production, where a password alone opens no shop. */

let world: DashboardWorld;
let browser: Browser;
let dashboard: string;
let shop: Shop;
/** An owner, with a browser whose device holds passkeys. */
let ada: { userId: string; email: string; page: Page };
/** Another owner's page, in a browser with a wallet. */
let bob: Page;
/** An owner who uses no mouse, and the present code of the second factor. */
let kay: { page: Page; code: () => string };

before(async () => {
  await buildPages();
  const port = await findFreePort();
  const origin = `http://localhost:${port}`;
  dashboard = `${origin}/dashboard`;
  // Plain wallets only.
  world = await DashboardWorld.open(
    async ({ address, message, signature }) =>
      (await recoverAddress({ hash: hashMessage(message), signature })) === address,
    origin,
  );
  const server = await world.serve('production', undefined, [dashboardPagesDoor(), world.previews()]);
  await server.listen({ host: 'localhost', port });
  browser = await openChromium();
  shop = await openShop(world.merchants);
  ada = { ...(await join('Ada', 'owner')), page: await visitor() };
  await addAuthenticator(ada.page);
});
after(async () => {
  await browser.close();
  await world.close();
});

/** Adds a member of the shop, with a password. */
function join(name: string, role: MemberRole): Promise<{ userId: string; email: string }> {
  const memberships = [[shop.merchantId, role]] as const;
  return addPerson(world.merchants.database.db, world.options, { name, memberships });
}

/** A page in a browser of its own. */
async function visitor(): Promise<Page> {
  return (await openPage(browser, { isApart: true })).page;
}

/** Gives the page's device passkeys, whose holder it has checked. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal' },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      automaticPresenceSimulation: true,
    },
  });
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Password', { exact: true }).press('Enter');
}

const home = (page: Page) => page.getByRole('heading', { name: 'Home' }).waitFor();
/** Every proof until now is older than five minutes. */
const letProofsAge = () => {
  world.merchants.clock.time += 6 * 60_000;
};

test('a password alone opens no shop: the owner adds a passkey, and then signs in and confirms with it', async () => {
  const { page, email } = ada;
  await page.goto(dashboard);
  await signIn(page, email);
  await page.getByText('A password alone opens neither a shop').waitFor();
  await page.getByRole('link', { name: 'Secure the account' }).click();
  // The proof is too old to add a passkey. Where a password proves too little, people sign in again.
  letProofsAge();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByLabel('Password', { exact: true }).fill(password);
  await proof.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('The passkey was added').first().waitFor();
  await page.getByRole('button', { name: 'Sign in with the passkey' }).click();
  await page.getByText('One step is left').waitFor({ state: 'detached' });

  await page.getByRole('button', { name: /^Ada/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
  const [first] = await page.locator('main').locator('button, input').allTextContents();
  assert.equal(first, 'Use a passkey', 'the passkey stands before the password');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await home(page);

  letProofsAge();
  await page.goto(`${dashboard}/${shop.merchantId}/keys`);
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByRole('button', { name: 'Create the key' }).click();
  // The password would not be enough, so the dialog does not ask for it.
  await proof.getByRole('button', { name: 'Use the passkey' }).waitFor();
  assert.equal(await proof.getByLabel('Password', { exact: true }).count(), 0);
  await proof.getByRole('button', { name: 'Use the passkey' }).click();
  assert.match(await page.getByRole('textbox', { name: 'API key' }).inputValue(), /^rk_live_/);
  await page.getByRole('button', { name: 'Done' }).click();
});

test('a recovery code on a new device opens the account alone; the owner sees the device and ends its session', async () => {
  const { page, email, userId } = ada;
  const [code = ''] = await world.merchants.database.db.transaction((transaction) =>
    renewRecoveryCodes(transaction, world.options, userId),
  );
  const other = await visitor();
  for (const outcome of ['A recovery code does not open a shop', 'the code is used up']) {
    await other.goto(`${dashboard}/my-account`);
    await other.getByRole('button', { name: 'Use a recovery code' }).click();
    await other.getByLabel('E-mail').fill(email);
    await other.getByLabel('Recovery code').fill(code);
    await other.getByLabel('Recovery code').press('Enter');
    await other.getByText(outcome).waitFor();
    if (outcome.startsWith('A recovery')) {
      await page.goto(`${dashboard}/${shop.merchantId}`);
      await page.getByRole('button', { name: /Look at My account$/ }).click();
      await page.getByRole('menuitem', { name: 'My account' }).click();
      await page.getByText('There was a sign-in from a new device').waitFor();
      const row = page.getByRole('row', { name: /New device.*Recovery code/ });
      await row.getByRole('button', { name: 'End' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
      await page.getByText('There was a sign-in from a new device').waitFor({ state: 'detached' });
      // The session of the code is over, in the page that is still open too.
      await other.getByRole('button', { name: 'Make new codes' }).click();
      await other.getByRole('dialog').getByRole('button', { name: 'Make new codes' }).click();
      await other.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    }
  }
  await other.context().close();
});

test('a wallet is added and then signs in, and a wallet of a stranger does not', async () => {
  const { email } = await join('Bob', 'owner');
  bob = await visitor();
  await new TestWallet([]).inject(bob);
  await bob.goto(`${dashboard}/my-account`);
  await signIn(bob, email);
  await bob.getByRole('button', { name: 'Add a wallet' }).click();
  await bob.getByText('The wallet was added').first().waitFor();
  await bob.context().clearCookies();
  const stranger = await visitor();
  await new TestWallet([]).inject(stranger);
  for (const page of [bob, stranger]) {
    await page.goto(dashboard);
    await page.getByRole('button', { name: 'Use an Ethereum wallet' }).click();
  }
  await home(bob);
  await stranger.getByText('No account signs in with this wallet').waitFor();
  await stranger.context().close();
});

test('who has the cookie of a session, but no proof of who they are, moves no money and lets no one in', async () => {
  letProofsAge();
  const thief = await visitor();
  await thief.context().addCookies(await ada.page.context().cookies());
  const shopUrl = `${dashboard}/${shop.merchantId}`;
  const proof = thief.getByRole('dialog', { name: 'Confirm that it is you' });
  const isRefused = async () => {
    await proof.getByRole('button', { name: 'Use the passkey' }).waitFor();
    await proof.getByRole('button', { name: 'Close' }).click();
  };
  await thief.goto(`${shopUrl}/wallets/${shop.things.accountId}`);
  await thief.getByRole('button', { name: 'New address' }).click();
  await thief.getByRole('textbox', { name: 'Address' }).fill(Wallet.createRandom().address);
  await thief.getByLabel('Go on without a proof').check();
  await thief.getByRole('dialog').locator('button[type=submit]').click();
  await isRefused();
  await thief.goto(`${shopUrl}/team`);
  await thief.getByRole('button', { name: 'Invite a member' }).first().click();
  await thief.getByRole('button', { name: 'Make the link' }).click();
  await isRefused();
  await thief.goto(`${dashboard}/my-account`);
  await thief.getByRole('button', { name: 'Make new codes' }).click();
  await thief.getByRole('dialog').getByRole('button', { name: 'Make new codes' }).click();
  await isRefused();
  await thief.context().close();
  await ada.page.goto(`${shopUrl}/wallets`);
  await ada.page.getByText('No changes yet').waitFor();
  await ada.page.goto(`${shopUrl}/team`);
  await ada.page.getByText('No open invitations').waitFor();
});

test('two owners recover a member, who is told on every screen and cancels it', async () => {
  const { email } = await join('Kim', 'support');
  // Owners recover others once they are owners for the delay.
  world.merchants.clock.time += walletDelayMs;
  const recover = async (page: Page, act: string, way: 'passkey' | 'wallet') => {
    await page.goto(`${dashboard}/${shop.merchantId}/team`);
    await page.getByRole('button', { name: 'Acts for Kim' }).click();
    await page.getByRole('menuitem', { name: 'Recover the account' }).click();
    await page.getByRole('button', { name: act }).click();
    await page.getByRole('button', { name: `Use the ${way}` }).click();
  };
  await recover(ada.page, 'Ask for the recovery', 'passkey');
  await ada.page.getByText('Recovery asked for').waitFor();
  await recover(bob, 'Agree', 'wallet');
  const link = await bob.getByLabel('Link of the recovery').inputValue();
  assert.match(link, /\/dashboard\/recovery#[\w-]{43}$/);
  await bob.getByRole('button', { name: 'Done' }).click();
  await bob.getByText('Recovery waits').waitFor();

  const kim = await visitor();
  await kim.goto(dashboard);
  await signIn(kim, email);
  await kim.getByText('Your account is being recovered').waitFor();
  await kim.getByRole('link', { name: 'Look at it' }).click();
  await kim.getByRole('button', { name: 'Cancel the recovery' }).click();
  await kim.getByRole('dialog').getByRole('button', { name: 'Cancel the recovery' }).click();
  await kim.getByText('Your account is being recovered').waitFor({ state: 'detached' });
  await kim.context().close();
  await bob.reload();
  await bob.getByRole('button', { name: 'Acts for Kim' }).waitFor();
  assert.equal(await bob.getByText('Recovery waits').count(), 0);
});

test('an owner turns a second factor on, and signs in with the keyboard alone', async () => {
  const { email } = await join('Kay', 'owner');
  const page = await visitor();
  kay = { page, code: () => '' };
  await page.goto(`${dashboard}/my-account`);
  await signIn(page, email);
  await page.getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
  const secret = (await page.getByText(/^[A-Z2-7]{20,}=*$/).textContent()) ?? '';
  // Each code is taken once: the sign-in below has the next one.
  let later = 1;
  kay.code = () => {
    later += 1;
    return totpCode(secret, Date.now() + 30_000 * (later % 2));
  };
  await page.getByLabel('Code of the authenticator').fill(kay.code());
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByText('The second factor is on').first().waitFor();
  await page.context().clearCookies();

  await page.goto(dashboard);
  await page.getByLabel('E-mail').waitFor();
  await tabTo(page, 'E-mail');
  await page.keyboard.type(email);
  await tabTo(page, 'Password');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await focusOf(page, 'Code of the authenticator');
  await page.keyboard.type('000000');
  await page.keyboard.press('Enter');
  await page.getByText('The code is wrong or has expired.').waitFor();
  await focusOf(page, 'Code of the authenticator');
  await press(page, 'Control+a');
  await page.keyboard.type(kay.code());
  await page.keyboard.press('Enter');
  await home(page);
});

test('with the keyboard alone an owner finds a payment by words and by its id, and refunds it', async () => {
  const { page, code } = kay;
  await world.merchants.database.db.transaction(indexSessions);
  await press(page, '/');
  await page.keyboard.type('Tea');
  // Names that are found arrive later, so that its place is not known before.
  const isChosen = page.getByRole('option', { name: 'Payments with', selected: true });
  while ((await isChosen.count()) === 0) await press(page, 'ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/payments\?text=Tea$/);
  await page.getByRole('row', { name: /Tea/ }).first().waitFor();
  await focusOf(page);
  await press(page, '/');
  await page.keyboard.type(shop.things.paidSessionId);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Refund', exact: true }).waitFor();
  await focusOf(page);

  await tabTo(page, 'Refund');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  for (let step = 0; step < 8; step += 1) await press(page, 'Tab');
  await page.keyboard.press('Escape');
  await focusOf(page, 'Refund');
  await page.keyboard.press('Enter');
  letProofsAge();
  await tabTo(page, /^Reason/);
  await page.keyboard.type('Returned');
  await page.keyboard.press('Enter');
  await focusOf(page, 'Password');
  await page.keyboard.type(password);
  await tabTo(page, 'Code of the authenticator');
  await page.keyboard.type(code());
  await page.keyboard.press('Enter');
  await page.getByText('Florin returns the payment').waitFor();
  await focusOf(page);
});

test('with the keyboard alone an owner makes a link and opens a menu, and dialogs give the focus back', async () => {
  const { page } = kay;
  await press(page, 'Control+k');
  await page.keyboard.type('links');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Create a link' }).waitFor();
  await tabTo(page, 'Create a link');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Create the link' }).waitFor();
  await page.keyboard.press('Escape');
  await focusOf(page, 'Create a link');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Create the link' }).waitFor();
  await tabTo(page, 'Product');
  await press(page, 'ArrowDown');
  await tabTo(page, 'You receive');
  await press(page, 'ArrowDown');
  await tabTo(page, 'Create the link');
  await page.keyboard.press('Enter');
  await page.getByLabel('Address of the link').waitFor();
  await focusOf(page);

  await press(page, '/');
  await page.keyboard.type('team');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Acts for Ada' }).waitFor();
  await tabTo(page, 'Acts for Ada');
  await press(page, 'Enter');
  await press(page, 'Enter');
  await page.getByRole('dialog', { name: 'Role of Ada' }).waitFor();
  // A dialog listens for Escape once it has taken the focus.
  await focusOf(page, 'OwnerDoes everything, and makes other owners.');
  await press(page, 'Escape');
  await focusOf(page, 'Acts for Ada');
  await page.context().close();
});
