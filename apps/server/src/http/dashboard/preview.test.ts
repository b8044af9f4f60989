import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { plainLook } from '@florin/protocol/brand-look.ts';
import type { HostedPreview } from '@florin/protocol/hosted-preview.ts';
import { DashboardWorld, dashboardOrigin, password } from '../../../test/harness/dashboard-world.ts';
import { styleOfScheme } from '../checkout/preview.ts';
import { style } from '../checkout/style.ts';

let world: DashboardWorld;
let merchantId: string;
let open: (draft: unknown, headers?: Record<string, string>) => Promise<Preview>;

interface Preview {
  readonly status: number;
  readonly policy: string;
  readonly text: string;
}

const frame = { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-origin' };
const look = { ...plainLook, color: '#0b6b4d', hasLogo: false, hasDarkLogo: false, hasIcon: false };
const draftOf = (change: Partial<HostedPreview> = {}): HostedPreview => ({
  ...{ merchantId, look, scheme: 'light', title: 'Spring <order>' },
  ...{ amount: '25000000', isFeeOnTop: false, isEmailRequired: false },
  items: [{ productId: '', name: 'Mug', quantity: 1, value: '25000000' }],
  ...change,
});

before(async () => {
  world = await DashboardWorld.open();
  merchantId = await world.merchants.addMerchant();
  const server = await world.serve('local', undefined, [world.previews()]);
  const { email } = await world.addPerson([[merchantId, 'viewer']]);
  const signedIn = await server.inject({
    method: 'POST',
    url: '/dashboard/api/sign-in/password',
    headers: { origin: dashboardOrigin },
    payload: { email, password },
  });
  const cookie = signedIn.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  open = async (draft, headers = {}) => {
    const text = typeof draft === 'string' ? draft : JSON.stringify(draft);
    const reply = await server.inject({
      url: `/dashboard/preview?draft=${encodeURIComponent(text)}`,
      headers: { cookie, ...frame, ...headers },
    });
    return {
      status: reply.statusCode,
      policy: String(reply.headers['content-security-policy']),
      text: reply.body,
    };
  };
});
after(() => world.close());

test('a member sees the page in a frame that runs nothing', async () => {
  const { status, policy, text } = await open(draftOf());
  assert.equal(status, 200);
  assert.match(policy, /frame-ancestors 'self'; sandbox$/);
  assert.doesNotMatch(policy, /script-src|connect-src|unsafe/);
  assert.match(text, /Spring &lt;order&gt;/);
  assert.doesNotMatch(text, /<script|<a |<form/);
});

test('items show the merchant’s stored products, and fields that the payer fills stand there', async () => {
  const product = {
    ...{ name: 'Teapot', description: 'Holds a litre', commonPrices: [30_000_000], imageUrl: '' },
    attributes: [{ name: 'Colour', value: 'Blue' }],
  };
  const create = async (id: string) =>
    (
      await world.merchants.send('POST', '/product/create', {
        key: await world.merchants.addKey(id),
        body: product,
      })
    ).data.productId as string;
  const item = (productId: string) => ({ productId, name: 'Unnamed', quantity: 2, value: '60000000' });
  const own = await open(
    draftOf({ items: [item(await create(merchantId))], isEmailRequired: true, amount: '' }),
  );
  for (const part of ['Teapot × 2', 'Holds a litre', 'Colour: Blue', 'id="email-input"', 'id="amount-input"'])
    assert.ok(own.text.includes(part), part);
  // Another merchant's product is as unknown as one that does not exist.
  const foreign = await open(draftOf({ items: [item(await create(await world.merchants.addMerchant()))] }));
  assert.match(foreign.text, /Unnamed × 2/);
  assert.doesNotMatch(foreign.text, /Teapot|email-input|amount-input/);
});

test('the preview has the whole look of the draft, and its links lead nowhere', async () => {
  const { text } = await open(
    draftOf({
      look: {
        ...{ ...look, color: '#ffe600', background: '#102030', cornerRadius: 4, font: 'serif' },
        ...{ legalName: 'Mugs & Co. KG', termsUrl: 'https://shop.example/terms' },
      },
    }),
  );
  // Yellow as it is, with black text; the dark ground has light text; a link in yellow would be hard to read on white.
  for (const part of [
    '--accent: #ffe600; --on-accent: #000000;',
    '.page { background: #102030; }',
    '--round: 0.25rem;',
    '--font: Charter',
    'Mugs &amp; Co. KG',
    '<span>Terms</span>',
  ])
    assert.ok(text.includes(part), part);
  assert.doesNotMatch(text, /--link: #ffe600|shop\.example/);
});

test('the preview opens in a frame of the dashboard alone', async () => {
  for (const headers of [
    { 'sec-fetch-dest': 'document' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const { status, text, policy } = await open(draftOf(), headers);
    assert.equal(status, 403, text);
    assert.match(text, /200206/);
    assert.match(policy, /frame-ancestors 'none'/);
  }
});

test('the preview needs a session, and a merchant of the member', async () => {
  assert.match((await open(draftOf(), { cookie: '' })).text, /200201/);
  const foreign = await world.merchants.addMerchant();
  assert.match((await open(draftOf({ merchantId: foreign }))).text, /200205/);
});

test('a bad draft is refused by the field that is wrong', async () => {
  const bad: readonly (readonly [unknown, RegExp])[] = [
    ['', /draft must be JSON/],
    ['{', /draft must be JSON/],
    [{}, /merchantId/],
    [draftOf({ look: { ...look, color: 'red; } body { display: none' } }), /color/],
    [draftOf({ amount: '1e9' }), /amount/],
    [{ ...draftOf(), scheme: 'sepia' }, /scheme/],
    [{ ...draftOf(), css: 'x' }, /css/],
    [
      draftOf({
        items: Array.from({ length: 21 }, () => ({ productId: '', name: 'x', quantity: 1, value: '' })),
      }),
      /items/,
    ],
  ];
  for (const [draft, reason] of bad) {
    const { text } = await open(draft);
    assert.match(text, /"code":400101/);
    assert.match(text, reason);
  }
});

test('the style shows the chosen scheme, whatever the device prefers', () => {
  const light = styleOfScheme(style, 'light');
  const dark = styleOfScheme(style, 'dark');
  for (const css of [light, dark]) assert.doesNotMatch(css, /prefers-color-scheme/);
  assert.match(light, /color-scheme: light;/);
  assert.match(dark, /color-scheme: dark;/);
  assert.equal(light.includes('--ground: #101512'), false);
  assert.equal(dark.includes('--ground: #101512'), true);
});
