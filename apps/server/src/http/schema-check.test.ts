import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import { httpsUrl, imageUrl } from '@florin/protocol/schema.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import { compileCheck, patternTexts } from './schema-check.ts';

const isTaken = (check: ReturnType<typeof compileCheck>) => (url: string) => check(url) === undefined;
const link = isTaken(compileCheck(httpsUrl(1000), 'successUrl'));
const image = isTaken(compileCheck(imageUrl, 'imageUrl'));
const localLink = isTaken(compileCheck(httpsUrl(1000), 'successUrl', { allowPlainLoopback: true }));

const flawed = [
  'https:///thanks',
  'https:thanks',
  'https:/thanks',
  'https:\\\\shop.example.com/',
  'https://?id=1',
  'https://',
  'https://user:secret@shop.example.com/',
  ...['\r\nSet-Cookie: a=b', ' ', '\t', '\u00a0', '\u2028', '\u0085', '\u007f'].flatMap((text) => [
    `https://shop.example.com/${text}`,
    `${text}https://shop.example.com/`,
    `https://shop.example.com/a${text}b`,
  ]),
];

test('no URL is accepted without a host, or with white space or control characters', () => {
  assert.deepEqual(flawed.filter(link), []);
  assert.deepEqual(flawed.filter(image), []);
  assert.deepEqual(flawed.filter(localLink), []);
});

test('an https URL is accepted unchanged, with a placeholder and letters of every script', () => {
  const urls = [
    'https://shop.example.com/?id={SESSION_ID}#日本',
    'HTTPS://shop.example.com',
    'https://[2606:4700::1]/',
  ];
  assert.deepEqual(urls.filter(link), urls);
  assert.deepEqual(urls.filter(image), urls);
});

test('plain http is accepted only for loopback in the local environment', () => {
  const loopback = ['http://localhost:3000/thanks', 'http://127.0.0.1/', 'http://[::1]:8080/?s={SESSION_ID}'];
  const others = [
    'http://shop.example.com/',
    'http://10.0.0.1/',
    'http://user:x@localhost/',
    'ftp://localhost/',
  ];
  assert.deepEqual(loopback.filter(localLink), loopback);
  assert.deepEqual(others.filter(localLink), []);
  assert.deepEqual([...loopback, ...others].filter(link), []);
});

test('a text of another form is refused in words, not by its regular expression', () => {
  const { body } = merchantApi.routes.updateBranding;
  const refusal = compileCheck(body, 'body')({ color: 'red' });
  assert.equal(refusal?.message, 'Invalid field: color must be # and six hexadecimal digits, or empty');
  const message = compileCheck(
    agentApi.routes.preparePayment.body.properties.message.properties.payerEmail,
    'e',
  );
  assert.equal(message('a\0@b.c')?.message, 'Invalid field: e must be "" or an e-mail address');
});

const tables = [agentApi, checkoutApi, dashboardApi, merchantApi, x402Api];
const routes = tables.flatMap(({ routes }): Route[] => Object.values(routes));

test('the schema of every request can be compiled', () => {
  const schemas = routes.flatMap(({ params, query, body }) => [params, query, body]);
  const known = schemas.filter((schema) => schema !== undefined);
  assert.ok(known.length > 100);
  for (const schema of known) compileCheck(schema, 'value')({});
});

test('every pattern of a request has its words', () => {
  const patterns = routes.flatMap(({ params, query, body }) =>
    [...JSON.stringify({ params, query, body }).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text = '']) => String(JSON.parse(text)),
    ),
  );
  assert.ok(patterns.length > 5);
  assert.deepEqual(
    patterns.filter((pattern) => !(pattern in patternTexts)),
    [],
  );
});
