import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { checkoutOptionsOf } from '../../../test/harness/checkout-fixture.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { addSession } from '../../../test/harness/payment-fixture.ts';
import { streamLimits } from '../rate-limit.ts';
import { buildServer } from '../server.ts';
import { checkoutDoor } from './checkout-door.ts';

let world: MerchantWorld;
let server: Awaited<ReturnType<typeof buildServer>>;
let sessionId = '';
before(async () => {
  world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  const shop = { key: await world.addKey(merchantId), accountId: await world.addAccount(merchantId) };
  sessionId = await addSession(world, shop);
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: 'https://pay.example.com',
    ready: async () => ({ ready: true, checks: {} }),
    // Real time passes between two heartbeats, so that streams stay open.
    doors: [
      checkoutDoor({ ...checkoutOptionsOf(world), clock: { ...world.clock, sleep: systemClock.sleep } }),
    ],
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
});
after(async () => {
  await server.close();
  await world.close();
});

interface Stream {
  readonly request: ClientRequest;
  readonly answer: IncomingMessage;
}

/** Opens a stream from a loopback address. */
async function open(localAddress: string): Promise<Stream> {
  const { port } = server.server.address() as AddressInfo;
  const path = `/checkout/api/session/${sessionId}/events`;
  const request = httpRequest({ host: '127.0.0.1', port, path, localAddress, agent: false }).end();
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return { request, answer };
}

test('a client network has a share of the event streams; further pages must poll, and a closed stream frees a place', async () => {
  const streams = await Promise.all(Array.from({ length: streamLimits.ofNetwork }, () => open('127.0.0.1')));
  assert.deepEqual(new Set(streams.map(({ answer }) => answer.statusCode)), new Set([200]));
  const refused = await open('127.0.0.1');
  assert.deepEqual([refused.answer.statusCode, refused.answer.headers['retry-after']], [429, '5']);
  refused.answer.resume();
  const other = await open('127.0.0.2');
  assert.equal(other.answer.statusCode, 200);
  const [first, ...others] = streams;
  first?.request.destroy();
  let again = await open('127.0.0.1');
  // The server learns of the end asynchronously.
  while (again.answer.statusCode === 429) {
    again.answer.resume();
    await once(again.answer, 'close');
    again = await open('127.0.0.1');
  }
  assert.equal(again.answer.statusCode, 200);
  for (const { request } of [...others, other, again]) request.destroy();
});
