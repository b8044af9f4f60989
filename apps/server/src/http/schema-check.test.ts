import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { eventTypes } from '@florin/protocol/event.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import { httpsUrl, imageUrl } from '@florin/protocol/schema.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import Type, { type TSchema } from 'typebox';
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

test('a member of another name is named together with the one that is missing', () => {
  const { body } = merchantApi.routes.createProduct;
  const check = compileCheck(body, 'body');
  assert.match(
    check({ name: 'Tea', price: 4_500_000 })?.message ?? '',
    /commonPrices is required, and price is not a known field$/,
  );
  assert.match(check({ name: 'Tea' })?.message ?? '', /commonPrices is required$/);
});

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

test('a value outside a choice is refused with the choice, unless that is long', () => {
  const ofFormat = compileCheck(merchantApi.routes.createReport.body.properties.format, 'format');
  assert.equal(ofFormat('xml')?.message, 'Invalid field: format must be "csv" or "json"');
  const ofType = compileCheck(Type.Enum(eventTypes), 'eventType');
  assert.equal(ofType('paid')?.message, 'Invalid field: eventType must be one of the documented values');
});

/** Names that show nothing, another order than they have, or more lines than one. */
const badNames = [
  ' ',
  'Tea\nCup',
  'Tea\r\nBcc: a@b.c',
  'Tea\u2028Cup',
  'Tea\u0085',
  'Tea\t',
  'Tea\u0000',
  'Tea\u001b[31m',
  'Tea\u202egnp',
  '\u2066Tea\u2069',
  'Tea\u200f',
  'T\u200bea',
  '\u200b',
  '\u200d',
  '\ufe0f',
  '\u2800',
  '\u3164',
  '\u00ad',
  'T\ufeffea',
  'Tea\u{e0041}',
  'Tea\ud800',
];
const goodNames = [
  'Café №1',
  'cafe\u0301',
  'می\u200cخواهم',
  'مقهى',
  '日本語',
  '👩\u200d👧 ❤\ufe0f',
  '=?utf-8?Q?a?=',
  '"',
];

/** Texts called names that are none, or that are stored nowhere. */
const noNames = [
  // Compared with a name as it is stored, whatever that is.
  'renameMerchant.ifMerchantName',
  // One from before the rule can be removed as well.
  'removeMyView.name',
];

interface NameSchema {
  readonly type?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly properties?: Readonly<Record<string, NameSchema>>;
  readonly items?: NameSchema;
  readonly anyOf?: readonly NameSchema[];
}

/** The texts in a schema whose field is a name, by path. */
function namesIn(schema: NameSchema, path: string): [path: string, schema: NameSchema][] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
    const isNamed = member.type === 'string' && /^(.*N|n)ame$/.test(key);
    return isNamed ? [[`${path}.${key}`, member] as [string, NameSchema]] : namesIn(member, `${path}.${key}`);
  });
  const parts = [schema.items, ...(schema.anyOf ?? [])].filter((part) => part !== undefined);
  return [...members, ...parts.flatMap((part) => namesIn(part, path))];
}

test('every name in every request is one line of visible characters, and loses the spaces around it', () => {
  const names = tables.flatMap(({ routes }) =>
    Object.entries<Route>(routes).flatMap(([name, { body = {} }]) => namesIn(body as NameSchema, name)),
  );
  const walked = names.filter(([path]) => !noNames.includes(path));
  assert.ok(walked.length > 20);
  for (const [path, schema] of walked) {
    const check = compileCheck(Type.Object({ name: schema as TSchema }), 'body');
    const taken = badNames.filter((name) => check({ name }) === undefined);
    assert.deepEqual([path, taken], [path, []]);
    const refusal =
      'Invalid field: name must be one line of visible characters, with at most six combining marks in a row';
    assert.equal(check({ name: 'Tea\nCup' })?.message, refusal);
    for (const name of goodNames) {
      const body = { name: ` ${name} ` };
      assert.equal(check(body), undefined, `${path}: ${name}`);
      assert.deepEqual(body, { name });
    }
    assert.equal(check({ name: '' }) === undefined, schema.minLength === 0, path);
  }
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

test('a refused URL hears of plain http only where that is taken', () => {
  const textOf = (allowPlainLoopback: boolean) =>
    compileCheck(httpsUrl(1000), 'successUrl', { allowPlainLoopback })('http://shop.example')?.message;
  assert.match(textOf(false) ?? '', /successUrl must be an https URL without credentials$/);
  assert.match(textOf(true) ?? '', /without credentials, or an http URL of this machine$/);
});
