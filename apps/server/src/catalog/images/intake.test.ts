import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createEgress } from '#outside/egress.ts';
import type { ImageSource } from '../../../test/harness/image-source.ts';
import { ImageWorld } from '../../../test/harness/image-world.ts';
import { sampleImage } from '../../../test/harness/sample-image.ts';
import { hostedImageUrl, imageUrlOfSize } from './image-name.ts';
import { type ImageIntake, imageIntake } from './intake.ts';

let world: ImageWorld;
let intake: ImageIntake;
let merchantId: string;
let png: Buffer;
before(async () => {
  world = await ImageWorld.open();
  intake = imageIntake(world.deps);
  merchantId = await world.addMerchant();
  png = await sampleImage('png', 20, 10);
});
after(() => world.close());

const take = (url: string, by = merchantId) => intake.take(world.database.db, { merchantId: by, url });
const pending = (path: string, reason: string) => ({
  status: 'pending',
  sourceUrl: world.source.origin + path,
  reason,
});

test('an image is stored in every size under one name, which belongs to one merchant', async () => {
  world.source.serve('/tea.png', png);
  const image = await take(`${world.source.origin}/tea.png`);
  assert.ok(image.status === 'hosted');
  const { name } = image;
  assert.deepEqual(image, { status: 'hosted', name, url: hostedImageUrl(world.origin, name) });
  assert.deepEqual(
    await world.files(),
    ['1280', '320', '640', '96'].map((size) => `${name}-${size}.webp`),
  );
  assert.deepEqual(await take(`${world.source.origin}/tea.png`), image);
  const other = await take(`${world.source.origin}/tea.png`, await world.addMerchant());
  assert.ok(other.status === 'hosted' && other.name !== name);
});

test('a hosted URL of any size keeps the image without a request to the network', async () => {
  const image = await take(`${world.source.origin}/tea.png`);
  assert.ok(image.status === 'hosted');
  const count = world.source.asked.length;
  assert.deepEqual(await take(image.url), image);
  assert.deepEqual(await take(imageUrlOfSize(image.url, 96)), image);
  const none = { status: 'failed', reason: 'no such hosted image' };
  assert.deepEqual(await take(image.url, await world.addMerchant()), none);
  assert.deepEqual(await take(`${world.origin}/images/${'x'.repeat(22)}-96.webp`), none);
  assert.deepEqual(await take(`${world.origin}/images/../link/lnk_1`), none);
  assert.equal(world.source.asked.length, count);
});

/** Serves every kind of answer that is not an image. */
function serveBroken(source: ImageSource): void {
  source.serve('/redirect', (response) => response.writeHead(302, { location: '/tea.png' }).end());
  source.serve('/broken', (response) => response.writeHead(500).end());
  source.serve('/partial', (response) => response.writeHead(206).end(png));
  source.serve('/empty', (response) => response.writeHead(200).end());
  source.serve('/page', (response) => response.writeHead(200).end('<html>'));
  source.serve('/svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
  source.serve('/cut', (response) => {
    response.writeHead(200, { 'content-length': png.length }).write(png.subarray(0, 50));
    setImmediate(() => response.destroy());
  });
  source.serve('/huge', (response) =>
    response.writeHead(200, { 'content-length': 5_242_881 }).flushHeaders(),
  );
  source.serve('/endless', (response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', more);
    more();
  });
  source.serve('/packed', (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(png)),
  );
}

describe('a source that fails is requested once, and again later', () => {
  const slow: NodeJS.Timeout[] = [];
  after(() => slow.forEach(clearInterval));

  // proves W6.32
  test('the refusal states the reason', async () => {
    const { source } = world;
    serveBroken(source);
    const reasons: [string, string][] = [
      ['/none', 'answered 404'],
      ['/redirect', 'answered 302'],
      ['/broken', 'answered 500'],
      ['/partial', 'answered 206'],
      ['/empty', 'not a jpeg, png or webp image'],
      ['/page', 'not a jpeg, png or webp image'],
      ['/svg', 'not a jpeg, png or webp image'],
      ['/cut', 'connection reset'],
      ['/huge', 'too large'],
      ['/endless', 'too large'],
      ['/packed', 'came compressed'],
    ];
    const before = source.asked.length;
    for (const [path, reason] of reasons) {
      assert.deepEqual(await take(source.origin + path), pending(path, reason));
    }
    assert.deepEqual(
      source.asked.slice(before),
      reasons.map(([path]) => path),
    );
  });

  test('the content type does not decide what the content is', async () => {
    world.source.serve('/lie', (response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(png),
    );
    assert.equal((await take(`${world.source.origin}/lie`)).status, 'hosted');
  });

  // proves W6.32
  test('a source that is silent or slow is given up when its time is over', async () => {
    world.source.serve('/silent', () => {});
    world.source.serve('/drip', (response) => {
      response.writeHead(200);
      slow.push(setInterval(() => response.write('.'), 20));
    });
    const { downloader } = world;
    const impatient = imageIntake({
      ...world.deps,
      downloader: {
        download: (url, options) => {
          assert.deepEqual([options.timeoutMs, options.maxBytes], [10_000, 5_242_880]);
          return downloader.download(url, { ...options, timeoutMs: 200 });
        },
        close: async () => {},
      },
    });
    for (const path of ['/silent', '/drip']) {
      const url = world.source.origin + path;
      assert.deepEqual(
        await impatient.take(world.database.db, { merchantId, url }),
        pending(path, 'timed out'),
      );
    }
  });

  test('a merchant may have four downloads at once: a fifth is refused, and other merchants are unaffected', async () => {
    const held: (() => void)[] = [];
    world.source.serve('/held', (response) => held.push(() => response.end()));
    const url = `${world.source.origin}/held`;
    const four = Array.from({ length: 4 }, () => take(url));
    assert.deepEqual(await take(url), {
      status: 'pending',
      sourceUrl: url,
      reason: 'too many images at once',
    });
    assert.equal((await take(`${world.source.origin}/tea.png`, await world.addMerchant())).status, 'hosted');
    while (held.length < 4) await world.clock.sleep(5);
    for (const answer of held) answer();
    await Promise.all(four);
    assert.equal((await take(`${world.source.origin}/tea.png`)).status, 'hosted');
  });
});

test('an unavailable store is 900301, and the next image is stored as usual', async () => {
  world.isStoreAway = true;
  await assert.rejects(take(`${world.source.origin}/tea.png`), { slug: 'image_store_unavailable' });
  world.isStoreAway = false;
  assert.equal((await take(`${world.source.origin}/tea.png`)).status, 'hosted');
});

// proves W6.32
test('no image is downloaded from a machine outside the public internet', async (t) => {
  const { port } = new URL(world.source.origin);
  const inside = [
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
  ];
  const public1: LookupAddress = { address: '93.184.216.34', family: 4 };
  const names = new Map<string, LookupAddress[]>([
    ...inside.map((address, index): [string, LookupAddress[]] => [
      `inside-${index}.example.com`,
      [{ address, family: address.includes(':') ? 6 : 4 }],
    ]),
    ['beside.example.com', [public1, { address: '127.0.0.1', family: 4 }]],
  ]);
  const guarded = createEgress({
    addresses: { allowLoopback: false },
    ca: world.source.ca,
    lookup: (name, _options, callback) =>
      callback(null, names.get(name) ?? [{ address: '127.0.0.1', family: 4 }]),
  });
  const strict = imageIntake({ ...world.deps, downloader: guarded });
  const hosts = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0', '0.0.0.0', '１２７.0.0.1'],
    ...[
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '[fe80::1]',
    ],
    ...['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '198.18.0.1', '224.0.0.1'],
    ...['localhost', 'localhost.', 'LOCALHOST', 'a.localhost', 'metadata.google.internal', 'printer.local'],
    ...names.keys(),
  ];
  const before = world.source.connectionCount();
  const urls = [
    ...hosts.map((host) => `https://${host}:${port}/tea.png`),
    `http://localhost:${port}/tea.png`,
  ];
  for (const url of urls) {
    assert.deepEqual(
      await strict.take(world.database.db, { merchantId, url }),
      { status: 'failed', reason: 'address not allowed' },
      url,
    );
  }
  await guarded.close();
  const reached = world.source.connectionCount() - before;
  t.diagnostic(`${urls.length} addresses tried, ${reached} reached`);
  assert.equal(reached, 0);
});
