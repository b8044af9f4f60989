import type { Page } from 'playwright-core';
import { extremeStates } from './extreme-states.ts';
import { connect, deep, type PageState, session, withQuery } from './page-state.ts';
import { injectStub, type PageWorld } from './page-world.ts';
import { makePhone } from './wallet-app.ts';

const settled = (
  name: string,
  words: readonly string[],
  status: 'settling' | 'settlement_pending' | 'completed',
) =>
  session(name, words, async (world, linkId) => {
    const begun = await world.addPaid(linkId);
    await world.putStatus(begun.sessionId, status);
    return begun;
  });

const wallet = (
  name: string,
  words: readonly string[],
  act: (page: Page) => Promise<void>,
  stub: { rejects?: boolean; stays?: boolean } = {},
): PageState => ({
  name,
  words,
  async reach(world, page, query) {
    await injectStub(page, stub);
    await world.visit(page, `/link/${await world.addLink()}${query}`);
    await act(page);
  },
});

const pay = async (page: Page, until: string) => {
  await connect(page);
  await page.locator('#pay-button').click();
  await page.locator(until).filter({ hasText: /\S/ }).waitFor();
};

/** Chooses a token in the sheet, which closes. */
export async function chooseWay(page: Page, symbol: string, network: string): Promise<void> {
  await page.locator('#change-way').click();
  const networks = page.getByRole('dialog').getByRole('group', { name: network });
  await networks.getByRole('radio', { name: new RegExp(`^${symbol}`) }).check();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

const showDeposit = async (page: Page) => {
  await page.locator('#by-address').check();
  await page.locator('#refund-input').fill(`0x${'d4'.repeat(20)}`);
  await page.locator('#show-deposit').click();
  await page.locator('#deposit').waitFor();
};

/** A completed session that received more money than its price. */
const tooMuch = (name: string, kind: 'overpaid' | 'duplicate', why: string) =>
  session(name, ['Paid and received', `2.50 USDC ${why} and went back.`], async (world, linkId) => {
    const begun = await world.addPaid(linkId);
    await world.putException(begun.sessionId, kind, 'resolved');
    await world.putStatus(begun.sessionId, 'completed');
    return begun;
  });

/** The page about money to return, of a session that something has happened to. */
const claim = (
  name: string,
  words: readonly string[],
  happen: (world: PageWorld, sessionId: string) => Promise<void>,
) =>
  session(name, words, async (world, linkId) => {
    const { path, sessionId } = await world.begin(linkId);
    await happen(world, sessionId);
    return { path: path.replace('#', '/claim#') };
  });

/** Expires a session that received too little. */
async function expireWith(world: PageWorld, sessionId: string, amount?: bigint): Promise<void> {
  await world.putUnderpaid(sessionId, amount);
  await world.putStatus(sessionId, 'expired');
}

/** Every state that a payer can see, by the name of its picture. */
export const pageStates: readonly PageState[] = [
  wallet('link', ['$25.00', 'Tea shop', 'Green tea × 2', 'Choose a wallet'], async (page) => {
    await page.locator('.wallet').waitFor();
  }),
  {
    name: 'custom-link',
    words: [
      'You choose the amount',
      'Amount in US dollars',
      'Your e-mail address, for the merchant',
      'Your receipt goes there, too.',
    ],
    async reach(world, page, query) {
      const lineItems = [{ itemType: 'user_priced' }];
      const linkId = await world.addLink({ linkType: 'custom', lineItems, payerEmailRequired: 1 });
      await world.visit(page, `/link/${linkId}${query}`);
    },
  },
  {
    name: 'disabled-link',
    isDeep: true,
    words: ['Not available', 'Back in spring'],
    async reach(world, page, query) {
      const linkId = await world.addLink({ customDisabledText: 'Back in spring' });
      await world.disableLink(linkId);
      await world.visit(page, `/link/${linkId}${query}`);
    },
  },
  {
    name: 'not-found',
    isDeep: true,
    words: ['Not found'],
    reach: (world, page, query) => world.visit(page, `/link/lnk_none${query}`),
  },
  wallet('connected', ['0xd4d4…d4d4', 'You have 100.00 USDC', 'USDC on Ethereum', 'Pay 25.05 USDC'], connect),
  wallet('asking', ['Confirm in your wallet: allow exactly 25.05 USDC'], async (page) => {
    await pay(page, '#step');
    await page.locator('#step').filter({ hasText: '25' }).waitFor();
  }),
  wallet('declined', ['You declined in your wallet. Nothing was paid.'], (page) => pay(page, '#problem'), {
    rejects: true,
  }),
  wallet(
    'insufficient',
    [
      'You need 25.15 USDC more on Base.',
      'Pay 25.05 USDC on Ethereum',
      'Send from an exchange or another wallet',
    ],
    async (page) => {
      await connect(page);
      await chooseWay(page, 'USDC', 'Base');
      await page.locator('#short').waitFor();
    },
  ),
  wallet(
    'wrong-network',
    ['Switch your wallet to Ethereum, then try again.'],
    (page) => pay(page, '#problem'),
    { stays: true },
  ),
  {
    name: 'top-up',
    words: ['If your exchange deducts a fee, send that much more.'],
    async reach(world, page, query) {
      const { path, sessionId } = await world.begin(await world.addLink());
      await world.visit(page, withQuery(path, query));
      await showDeposit(page);
      await world.putArrived(sessionId, 10_000_000n);
      const rest = '10.00 USDC has arrived. Send 15.05 USDC more to the same address.';
      await page.getByRole('heading', { name: rest }).waitFor();
      await page.getByText('Send it once').waitFor({ state: 'detached' });
    },
  },
  {
    name: 'deposit',
    words: ['Send exactly 25.05 USDC', 'Only on the Ethereum network'],
    async reach(world, page, query) {
      const { path } = await world.begin(await world.addLink());
      await world.visit(page, withQuery(path, query));
      await showDeposit(page);
    },
  },
  {
    name: 'waiting',
    words: ['Ethereum: USDC, USDT', 'Base: USDC'],
    async reach(world, page, query) {
      const { path } = await world.begin(await world.addLink());
      await world.visit(page, withQuery(path, query));
      // The browser's stopped clock is shared, so the page counts the time since the first of its pages.
      await page.getByRole('timer', { name: /^Time left to pay: (30:00|2\d:\d\d)$/ }).waitFor();
      await page.waitForFunction(`document.title === 'Waiting for payment · Tea shop'`);
    },
  },
  {
    name: 'apps',
    isDeep: true,
    words: ['Open this page in your wallet app:', 'MetaMask', 'Ethereum: USDC, USDT'],
    async reach(world, page, query) {
      await makePhone(page);
      const { path } = await world.begin(await world.addLink());
      await world.visit(page, withQuery(path, query));
      await page.locator('#apps a').first().waitFor();
    },
  },
  wallet(
    'ways',
    ['Pay with', 'Base', 'You have 0.00 USDC', '25.15 USDC', 'Includes a fee of $0.15'],
    async (page) => {
      await connect(page);
      await page.locator('#change-way').click();
      await page.getByRole('dialog').waitFor();
    },
  ),
  session(
    'detected',
    ['Payment seen', 'confirmation 3 of about 8', 'It is safe to close this page.'],
    (world, linkId) => world.addPaid(linkId, { isFinal: false }),
  ),
  session(
    'paid',
    [
      'You paid 25.05 USDC to Test merchant',
      'Paid',
      'Thank you! Your tea leaves tomorrow.',
      'Continue to shop.example',
    ],
    (world, linkId) => world.addPaid(linkId),
  ),
  deep(settled('settling', ['Paid, on its way to the merchant'], 'settling')),
  deep(settled('delayed', ['Paid, on its way to the merchant', 'will be tried again'], 'settlement_pending')),
  session('in-doubt', ['Payment being checked', 'Do not pay again'], (world, linkId) =>
    world.addDoubted(linkId),
  ),
  settled(
    'completed',
    ['Paid and received', 'Receipt number', 'Settlement transaction', 'Download proof (JSON)'],
    'completed',
  ),
  session(
    'expired',
    ['Expired', 'Nothing was paid in time', 'Start a new payment'],
    async (world, linkId) => {
      const begun = await world.begin(linkId);
      await world.putStatus(begun.sessionId, 'expired');
      return begun;
    },
  ),
  {
    name: 'expired-arrived',
    words: ['Expired', '10.00 USDC was too little. It goes back to the refund address automatically.'],
    async reach(world, page, query) {
      const { path, sessionId } = await world.begin(await world.addLink());
      await world.visit(page, withQuery(path, query));
      await showDeposit(page);
      await world.putArrived(sessionId, 10_000_000n);
      await page.locator('#deposit').getByText('15.05 USDC more').waitFor();
      await world.putStatus(sessionId, 'expired');
      await page.locator('[data-status=expired]').filter({ hasText: '10.00 USDC' }).waitFor();
      await page.getByText('Nothing was paid').waitFor({ state: 'detached' });
    },
  },
  session('cancelled', ['Cancelled', 'Do not send anything.'], async (world, linkId) => {
    const begun = await world.begin(linkId);
    await world.putStatus(begun.sessionId, 'cancelled');
    return begun;
  }),
  session('underpaid', ['2.50 USDC was too little. It goes back'], async (world, linkId) => {
    const begun = await world.begin(linkId);
    await world.putUnderpaid(begun.sessionId);
    await world.putStatus(begun.sessionId, 'expired');
    return begun;
  }),
  deep(
    session(
      'underpaid-little',
      ['0.50 USDC was too little. So small an amount does not go back automatically.'],
      async (world, linkId) => {
        const begun = await world.begin(linkId);
        await world.putUnderpaid(begun.sessionId, 500_000n);
        await world.putStatus(begun.sessionId, 'expired');
        return begun;
      },
    ),
  ),
  tooMuch('overpaid', 'overpaid', 'was too much'),
  deep(tooMuch('duplicate', 'duplicate', 'was not needed for the payment')),
  deep(
    session('late', ['Expired', '2.50 USDC came too late and went back.'], async (world, linkId) => {
      const begun = await world.begin(linkId);
      await world.addUnpaidOrder(begun.sessionId);
      await world.putException(begun.sessionId, 'late', 'resolved');
      await world.putStatus(begun.sessionId, 'expired');
      return begun;
    }),
  ),
  claim(
    'claim',
    ['Money at the deposit address', '2.50 USDC was too little. It goes back', 'Show what is there'],
    (world, sessionId) => expireWith(world, sessionId),
  ),
  deep(
    claim(
      'claim-arrived',
      ['10.00 USDC has arrived. It counts towards this payment if the missing 15.05 USDC arrives here by'],
      async (world, sessionId) => {
        await world.addUnpaidOrder(sessionId);
        await world.putArrived(sessionId, 10_000_000n);
      },
    ),
  ),
  deep(
    claim(
      'claim-little',
      [
        'Less than $1.00 does not go back automatically.',
        '0.50 USDC was too little. So small an amount does not go back automatically.',
      ],
      (world, sessionId) => expireWith(world, sessionId, 500_000n),
    ),
  ),
  {
    name: 'branded',
    words: ['Test merchant', 'Green tea × 2', 'Pay 25.05 USDC'],
    async reach(world, page, query) {
      // Text in this colour, or on it, is unreadable on paper.
      await world.brand({ color: '#ffe600', background: '#12343b', cornerRadius: 2, font: 'serif' });
      await injectStub(page);
      const productId = await world.addPicturedProduct();
      const lineItems = [{ itemType: 'product', productId, quantity: 2, unitPrice: 12_500_000 }];
      await world.visit(page, `/link/${await world.addLink({ lineItems })}${query}`);
      await page.locator('.wallet').first().waitFor();
      await imagesShown(page, 2);
      await connect(page);
      await world.brand();
    },
  },
  {
    name: 'branded-receipt',
    isDeep: true,
    words: ['Paid and received', 'Receipt', 'Tea & Leaves GmbH', 'Terms', 'Download proof (JSON)'],
    async reach(world, page, query) {
      // The receipt keeps the legal name of its payment.
      await world.brand({
        color: '#7a1fa2',
        legalName: 'Tea & Leaves GmbH',
        termsUrl: 'https://shop.example/terms',
      });
      const { path, sessionId } = await world.addPaid(await world.addLink());
      await world.putStatus(sessionId, 'completed');
      await world.visit(page, withQuery(path, query));
      await imagesShown(page, 1);
      await world.brand();
    },
  },
  ...extremeStates,
];

/** Waits until this many images have loaded. */
async function imagesShown(page: Page, count: number): Promise<void> {
  await page.waitForFunction(
    `(() => { const all = [...document.querySelectorAll('main img')].filter(({ className }) => !['wallet-icon', 'coin'].includes(className));
      return all.length === ${count} && all.every((image) => image.complete && image.naturalWidth > 0); })()`,
  );
}
