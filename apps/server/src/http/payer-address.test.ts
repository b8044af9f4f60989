import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { type Hex, zeroAddress } from 'viem';
import { ChangeJournal } from '../../test/fuzz/change-journal.ts';
import { everyDoor } from '../../test/harness/every-door.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';

let world: MerchantWorld;
let server: FastifyInstance;
let journal: ChangeJournal;
let key: string;
let accountId: string;
let linkId: string;
before(async () => {
  world = await MerchantWorld.open();
  server = await everyDoor(world, world.deps.chains);
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
  const link = { ...terms(), linkType: 'custom', linkName: 'Tips', lineItems: [{ itemType: 'user_priced' }] };
  linkId = (await world.send('POST', '/payment/link/create', { key, body: link })).data.linkId;
  journal = await ChangeJournal.install(world.database.url);
});
after(async () => {
  await journal.close();
  await server.close();
  await world.close();
});

const terms = () => ({ accountId, settlementToken: 'ethereum::usdc', feeModel: 2 });

async function newSession(): Promise<string> {
  const body = {
    ...{ ...terms(), expirationTime: Math.floor(world.clock.time / 1_000) + 3_600 },
    lineItems: [
      { itemType: 'one_time', quantity: 1, unitPrice: 10_000_000, productData: { productName: 'Tea' } },
    ],
  };
  return (await world.send('POST', '/session/checkout/create', { key, body })).data.sessionId;
}

async function codeOf(url: string, payload?: object): Promise<number> {
  const answer = await server.inject({
    method: payload === undefined ? 'GET' : 'POST',
    url,
    ...(payload === undefined ? {} : { payload }),
  });
  // An offer has status 402 and no envelope.
  return answer.json().code ?? answer.statusCode;
}

type Asking = (payer: Hex, sessionId: string) => Promise<number>;

/** The doors where a payer names an address without proof, and the code for a good address. */
const doors: readonly (readonly [name: string, asked: Asking, accepted: number])[] = [
  ['x402, a session', (payer, sessionId) => codeOf(`/aipay/x402/session/${sessionId}?payer=${payer}`), 402],
  ['x402, a link', (payer) => codeOf(`/aipay/x402/link/${linkId}?amountInUSD=3&payer=${payer}`), 402],
  [
    'the hosted page',
    (payer, sessionId) =>
      codeOf('/checkout/api/prepare', { sessionId, payer, tokenId: 'ethereum::usdc', payerEmail: '' }),
    0,
  ],
];

for (const [name, asked, accepted] of doors)
  test(`${name}: the zero address and 0x…dEaD cannot be payers, and the request changes nothing`, async () => {
    const sessionId = await newSession();
    await journal.take();
    assert.equal(await asked(zeroAddress, sessionId), 100611);
    assert.equal(await asked(`0x${'0'.repeat(36)}dEaD`, sessionId), 100611);
    assert.deepEqual(await journal.take(), []);
    assert.equal(await asked(`0x${'11'.repeat(20)}`, sessionId), accepted);
  });

test('the form without script: the zero address gets no deposit address', async () => {
  const sessionId = await newSession();
  const sent = (payer: Hex) =>
    server.inject({
      method: 'POST',
      url: `/checkout/${sessionId}/deposit`,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
      },
      payload: new URLSearchParams({ payer, tokenId: 'ethereum::usdc' }).toString(),
    });
  await journal.take();
  await sent(zeroAddress);
  assert.deepEqual(await journal.take(), []);
  await sent(`0x${'22'.repeat(20)}`);
  assert.notDeepEqual(await journal.take(), []);
});
