import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { after, before, test } from 'node:test';
import { makeCertificate, type TestCertificate } from '../../test/harness/certificate.ts';
import { type Receiver, startReceiver } from '../../test/harness/receiver.ts';
import { isHostAllowed } from './address.ts';
import { createEgress, type Egress, EgressFailure, type Lookup } from './egress.ts';

let certificate: TestCertificate;
let receiver: Receiver;
const opened: Egress[] = [];

before(async () => {
  certificate = makeCertificate({ now: new Date(), hosts: ['localhost', '127.0.0.1', 'shop.example'] });
  receiver = await startReceiver({ certificate });
});
after(async () => {
  await Promise.all(opened.map((egress) => egress.close()));
  await receiver.close();
});

/** First, last and well-known addresses of every range outside the public internet. */
const privateV4 = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200'],
  ...['127.0.0.1', '127.255.255.254', '169.254.169.254', '169.254.170.2', '172.16.0.1', '172.31.255.255'],
  ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.255', '198.18.0.1'],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255'],
];

const privateV6 = [
  ...['::', '::1', '0:0:0:0:0:0:0:1', '0000:0000:0000:0000:0000:0000:0000:0001', 'fc00::1', 'fd00:ec2::254'],
  ...[
    'fdff:ffff::1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'ff02::1',
    'ff0e::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
  ],
  ...['2001::1', '2001:10::1', '2001:20::1', '4000::1', '5f00::1'],
];

/** Every URL spelling of an IPv4 address, and every IPv6 address that embeds one. */
function spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const octal = (value: number) => `0${value.toString(8)}`;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const two = (value: number) => value.toString(16).padStart(2, '0');
  const [high, low] = [`${two(a)}${two(b)}`, `${two(c)}${two(d)}`];
  const fullWidth = address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  return [
    address,
    `${address}.`,
    String(number),
    hex(number),
    hex(number).toUpperCase().replace('X', 'x'),
    octal(number),
    [a, b, c, d].map(octal).join('.'),
    [a, b, c, d].map(hex).join('.'),
    `${hex(a)}.${octal(b)}.${c}.${d}`,
    `000${octal(a)}.${b}.${c}.${d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    fullWidth,
    address.replaceAll('.', '。'),
    address.replaceAll('.', '%2e'),
    [...address].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''),
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:FFFF:${high}:${low}]`,
    `[::ffff:0:${high}:${low}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:${high}:${low}::1]`,
    `[fe80::5efe:${address}]`,
  ];
}

const names = [
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'x.localhost',
    'metadata.google.internal',
    'metadata.internal.',
  ],
  ...['printer.local', 'printer.local.', 'a.b.internal', 'ｌocalhost', 'local', 'internal'],
];

const hosts = [
  ...privateV4.flatMap(spellings),
  ...privateV6.flatMap((address) => [`[${address}]`, `[${address.toUpperCase()}]`]),
  ...names,
];

function lookupOf(answers: readonly string[]): Lookup {
  return (_hostname, _options, callback) => {
    const addresses: LookupAddress[] = answers.map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    callback(null, addresses);
  };
}

function open(lookup: Lookup, allowLoopback = false): Egress {
  const egress = createEgress({ addresses: { allowLoopback }, ca: certificate.ca, lookup });
  opened.push(egress);
  return egress;
}

/** Whether no request was sent for the URL: refused, or not a URL. */
async function isRefused(egress: Egress, url: string): Promise<boolean> {
  try {
    await egress.post(url, { headers: {}, body: '{}', timeoutMs: 15_000 });
    return false;
  } catch (error) {
    return error instanceof EgressFailure && error.reason === 'address not allowed';
  }
}

async function tryAll(
  t: { diagnostic(text: string): void },
  what: string,
  tries: readonly [Egress, string][],
) {
  const before = receiver.connectionCount();
  const refused = await Promise.all(tries.map(([egress, url]) => isRefused(egress, url)));
  const reached = receiver.connectionCount() - before;
  t.diagnostic(`${what}: ${tries.length} URLs tried, ${reached} reached`);
  assert.deepEqual(
    tries.filter((_, index) => refused[index] !== true).map(([, url]) => url),
    [],
  );
  assert.equal(reached, 0);
}

// proves W6.28
test('no spelling of a private target is ever connected to, at any port, with or without credentials', async (t) => {
  const egress = open(lookupOf(['127.0.0.1']));
  await tryAll(
    t,
    'spellings',
    hosts.flatMap((host): [Egress, string][] =>
      [
        `https://${host}:${receiver.port}/hook`,
        `https://${host}/`,
        `https://user:key@${host}:${receiver.port}/`,
      ].map((url) => [egress, url]),
    ),
  );
});

// proves W6.28
test('no name that resolves to a private address, alone or with a public one, is ever connected to', async (t) => {
  const embedded = (address: string) =>
    spellings(address)
      .filter((text) => text.startsWith('['))
      .map((text) => text.slice(1, -1));
  const addresses = [...privateV4, ...privateV6, ...privateV4.flatMap(embedded)];
  const url = `https://shop.example:${receiver.port}/`;
  const tries = addresses.flatMap((address): [Egress, string][] => [
    [open(lookupOf([address])), url],
    [open(lookupOf(['8.8.8.8', address])), url],
    [open(lookupOf([address, '2606:4700::1111']), true), url],
  ]);
  await tryAll(t, 'names', tries);
});

test('every connection uses https', async (t) => {
  const egress = open(lookupOf(['127.0.0.1']), true);
  const schemes = ['http', 'ftp', 'file', 'gopher', 'ws', 'wss', 'data', 'javascript', 'blob', 'HTTP'];
  const urls = schemes.map((scheme) => `${scheme}://127.0.0.1:${receiver.port}/`);
  const odd = ['', 'https:', 'https://', '//127.0.0.1/', 'https:// 127.0.0.1/', `127.0.0.1:${receiver.port}`];
  await tryAll(
    t,
    'schemes and texts that are no URL',
    [...urls, ...odd].map((url) => [egress, url]),
  );
});

// proves W6.28
test('a redirect to a private target is an answer, and is not followed', async (t) => {
  const target = await startReceiver({ certificate });
  const egress = open(lookupOf(['127.0.0.1']), true);
  let count = 0;
  for (const status of [300, 301, 302, 303, 305, 307, 308]) {
    for (const location of [
      target.url,
      '//127.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
    ]) {
      receiver.behave({ kind: 'redirect', location, status });
      const response = await egress.post(receiver.url, { headers: {}, body: '{}' });
      assert.equal(response.status, status);
      count += 1;
    }
  }
  t.diagnostic(`redirects: ${count} answered, ${target.connectionCount()} followed`);
  assert.equal(target.connectionCount(), 0);
  await target.close();
});

test('public addresses are not refused', () => {
  const publicHosts = [
    '8.8.8.8',
    '1.1.1.1',
    '192.0.1.1',
    '100.128.0.1',
    '172.32.0.1',
    '[2606:4700::1111]',
    'shop.example',
  ];
  const policy = { allowLoopback: false };
  assert.deepEqual(
    publicHosts.filter((host) => !isHostAllowed(new URL(`https://${host}/`).hostname, policy)),
    [],
  );
});
