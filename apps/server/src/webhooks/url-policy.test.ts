import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import { webhookUrlOf } from './url-policy.ts';
import { urlWithoutValues } from './webhook.ts';

/** The error's name, or undefined for a URL that is taken. */
function verdict(url: string, allowLoopback = false, allowPlainLoopback = false): string | undefined {
  try {
    webhookUrlOf(url, { allowLoopback, allowPlainLoopback });
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.slug;
    throw error;
  }
}

/** A corpus, one entry per word. */
function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

const privateHosts = words(`
  127.0.0.1 127.1 127.255.255.254 2130706433 017700000001 0x7f000001 0x7f.1 0177.0.0.1 127.0.0.1.
  １２７.０.０.１ 127。0。0。1 %31%32%37.0.0.1 0 0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 012.1.2.3 100.64.0.1
  100.127.255.255 169.254.169.254 2852039166 0xa9fea9fe 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1
  192.31.196.1 192.52.193.1 192.175.48.1 [2620:4f:8000::1] 192.88.99.1 192.168.0.1 192.168.257 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1
  239.255.255.255 240.0.0.1 255.255.255.255 4294967295 [::] [::1] [0:0:0:0:0:0:0:1] [::127.0.0.1]
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:8.8.8.8] [::ffff:0:127.0.0.1] [64:ff9b::7f00:1]
  [64:ff9b::8.8.8.8] [64:ff9b:1::1] [100::1] [2001::1] [2001:20::1] [2001:db8::1] [2002:7f00:1::]
  [2002:808:808::1] [3fff::1] [5f00::1] [fc00::1] [fd12:3456::1] [fe80::1] [febf::1] [fec0::1]
  [ff02::1] [4000::1] localhost LOCALHOST localhost. a.localhost metadata.google.internal
  metadata.google.internal. internal printer.local PRINTER.LOCAL ＬＯＣＡＬＨＯＳＴ x.ｌｏｃａｌ
`);

// proves W6.16
test('every spelling of a private, special or local host is refused', () => {
  const taken = privateHosts.filter((host) => verdict(`https://${host}/hook`) !== 'webhook_url_not_allowed');
  assert.deepEqual(taken, []);
});

test('public hosts are accepted, however similar they are to a special range or name', () => {
  const hosts = words(`
  1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 134744072
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255
  198.20.0.0 223.255.255.255 [2606:4700::1111] [2001:4860:4860::8888] [2a00:1450::1] example.com
  example.com. local.example.com internal.example mylocalhost notinternal localhost.example.com
`);
  const refused = hosts.filter((host) => verdict(`https://${host}:8443/hook?a=b`) !== undefined);
  assert.deepEqual(refused, []);
});

// proves S8.3
test('only https without credentials is accepted', () => {
  const urls = [
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'gopher://127.0.0.1:70/',
    'wss://example.com/',
    'https://user@example.com/',
    'https://user:secret@example.com/',
    'https://:secret@example.com/',
    'https://example.com@127.0.0.1/',
  ];
  const taken = urls.filter((url) => verdict(url) !== 'webhook_url_not_allowed');
  assert.deepEqual(taken, []);
});

test('text that is not a URL is an invalid field', () => {
  const texts = [
    '',
    'shop',
    '/hook',
    'https://',
    'https://[::1',
    'https://256.1.1.1/',
    'https://1.2.3.4.5/',
    'https://a b/',
  ];
  const others = texts.filter((url) => verdict(url) !== 'field_invalid');
  assert.deepEqual(others, []);
});

test('the local world allows 127.0.0.0/8, ::1 and localhost, and nothing else', () => {
  const loopback = ['127.0.0.1', '127.1', '127.200.0.1', '[::1]', 'localhost', 'localhost.'];
  const allowed = privateHosts.filter((host) => verdict(`https://${host}/`, true) === undefined);
  assert.deepEqual(
    loopback.filter((host) => verdict(`https://${host}/`, true) !== undefined),
    [],
  );
  const others = allowed.filter(
    (host) => !/^(127|localhost$)/.test(new URL(`https://${host}/`).hostname.replace(/\.$/, '')),
  );
  assert.deepEqual(others, ['[::1]', '[0:0:0:0:0:0:0:1]']);
  assert.equal(verdict('http://127.0.0.1/', true), 'webhook_url_not_allowed');
});

test('a URL without a host, or with white space or control characters in it, is an invalid field', () => {
  const texts = [
    'https:///hook',
    'https:hook',
    'https:/hook',
    'https:\\\\example.com/hook',
    'https://?a=b',
    'HTTPS:///example.com/',
    ...[
      '\r\nX-Injected: 1',
      '\n',
      '\t',
      ' ',
      '\u0000',
      '\u0085',
      '\u00a0',
      '\u2028',
      '\ufeff',
      '\u007f',
    ].flatMap((text) => [
      `https://example.com/${text}`,
      `${text}https://example.com/`,
      `https://exam${text}ple.com/`,
    ]),
  ];
  const others = texts.filter((url) => verdict(url) !== 'field_invalid');
  assert.deepEqual(others, []);
});

test('a URL that was read without the values of its query is not stored in place of the whole one', () => {
  const queries = ['?token=s3cret', '?s3cret', '?a=1&token=s3cret', '?token=s3cret&b=', '?token=a=b'];
  const urls = queries.map((query) => `https://example.com/hook${query}`);
  assert.deepEqual(
    urls.map((url) => verdict(urlWithoutValues(url))),
    urls.map(() => 'field_invalid'),
  );
  assert.deepEqual(
    ['https://example.com/****', 'https://example.com/?a=*****&b=x****'].map((url) => verdict(url)),
    [undefined, undefined],
  );
});

test('a URL is kept in its normal form', () => {
  const policy = { allowLoopback: false };
  assert.equal(
    webhookUrlOf('HTTPS://Shop.Example.COM:443/a/../hook?x={y}', policy),
    'https://shop.example.com/hook?x={y}',
  );
  assert.equal(webhookUrlOf('https://日本.example/ü', policy), 'https://xn--wgv71a.example/%C3%BC');
  // The limit holds for what is stored, too.
  assert.throws(() => webhookUrlOf(`https://example.com/${'ü'.repeat(900)}`, policy), {
    slug: 'field_invalid',
  });
});

test('plain http is accepted only for loopback, and only where the policy allows it', () => {
  const loopback = words('127.0.0.1:8080 localhost:3000 [::1]:80 127.1');
  const others = words('example.com 10.0.0.1 0.0.0.0 a.localhost localhost.example.com 169.254.169.254');
  assert.deepEqual(
    loopback.filter((host) => verdict(`http://${host}/hook`, true, true) !== undefined),
    [],
  );
  assert.deepEqual(
    others.filter((host) => verdict(`http://${host}/hook`, true, true) !== 'webhook_url_not_allowed'),
    [],
  );
  assert.deepEqual(
    loopback.filter((host) => verdict(`http://${host}/hook`) !== 'webhook_url_not_allowed'),
    [],
  );
});
