import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, toyServer } from '../../test/harness/toy-server.ts';

const post = (payload: string | Buffer, headers: Record<string, string> = json) =>
  ({ method: 'POST', url: '/v1/toy/echo', headers, payload }) as const;

const refusals: {
  rule: string;
  request: object;
  status: number;
  code: number;
  message: RegExp;
  param?: string;
}[] = [
  {
    rule: 'an unknown path',
    request: { url: '/v1/nothing' },
    status: 404,
    code: 404000,
    message: /Unknown route: GET \/v1\/nothing/,
  },
  {
    rule: 'an unknown path with any body',
    request: { method: 'POST', url: '/nothing', payload: 'x', headers: { 'content-type': 'text/plain' } },
    status: 404,
    code: 404000,
    message: /Unknown route/,
  },
  {
    rule: 'an unknown path that cannot be decoded',
    request: { url: '/v1/nothing/%zz' },
    status: 404,
    code: 404000,
    message: /Unknown route/,
  },
  {
    rule: 'another method on a known path',
    request: { method: 'GET', url: '/v1/toy/echo' },
    status: 405,
    code: 405000,
    message: /GET; allowed: POST/,
  },
  {
    rule: 'another method with any body',
    request: { method: 'PUT', url: '/v1/toy/abc', payload: 'x', headers: { 'content-type': 'text/plain' } },
    status: 405,
    code: 405000,
    message: /PUT; allowed: GET, HEAD/,
  },
  {
    // proves W1.35
    rule: 'a POST without a body',
    request: { method: 'POST', url: '/v1/toy/echo' },
    status: 400,
    code: 400100,
    message: /the body is empty/,
  },
  {
    rule: 'an empty JSON body',
    request: { method: 'POST', url: '/v1/toy/echo', headers: json },
    status: 400,
    code: 400100,
    message: /the body is empty/,
  },
  {
    // proves W1.35
    rule: 'a body without a content type',
    request: post('{"name":"a"}', { 'content-type': '' }),
    status: 415,
    code: 400111,
    message: /Unsupported media type/,
  },
  {
    // proves W1.22, W1.35
    rule: 'a body of another type',
    request: post('name=a', { 'content-type': 'application/x-www-form-urlencoded' }),
    status: 415,
    code: 400111,
    message: /Unsupported media type/,
  },
  {
    rule: 'a compressed body',
    request: post('{"name":"a"}', { ...json, 'content-encoding': 'gzip' }),
    status: 415,
    code: 400111,
    message: /Content-Encoding/,
  },
  {
    // proves W1.22
    rule: 'a body that is not JSON',
    request: post('{"name":'),
    status: 400,
    code: 400100,
    message: /the body is not JSON/,
  },
  {
    // proves W2.15
    rule: 'invalid UTF-8',
    request: post(Buffer.from([0x7b, 0xff, 0x7d])),
    status: 400,
    code: 400100,
    message: /not valid UTF-8/,
  },
  {
    // proves W2.15
    rule: 'nesting beyond 16',
    request: post(`{"extra":${'['.repeat(16)}${']'.repeat(16)}}`),
    status: 400,
    code: 400100,
    message: /nested deeper than 16/,
  },
  {
    // proves W2.15
    rule: 'an array for an object, nested to 16',
    request: post(`{"name":"a","extra":${'['.repeat(15)}${']'.repeat(15)}}`),
    status: 200,
    code: 400101,
    message: /^Invalid field: extra must be an object$/,
    param: 'extra',
  },
  {
    // proves W1.22
    rule: 'a body over 256 KiB',
    request: post(JSON.stringify({ name: 'x'.repeat(256 * 1024) })),
    status: 413,
    code: 400110,
    message: /at most 262144 bytes/,
  },
  {
    rule: 'a body that is no object',
    request: post('[]'),
    status: 200,
    code: 400101,
    message: /^Invalid field: body must be an object$/,
    param: 'body',
  },
  {
    rule: 'a missing field',
    request: post('{}'),
    status: 200,
    code: 400101,
    message: /^Invalid field: name is required$/,
    param: 'name',
  },
  {
    // proves W1.30
    rule: 'an unknown field',
    request: post('{"name":"a","nme":1}'),
    status: 200,
    code: 400101,
    message: /^Invalid field: nme is not a known field$/,
    param: 'nme',
  },
  {
    // proves W1.24, W1.30
    rule: 'an unknown nested field',
    request: post('{"name":"a","lines":[{"price":1,"cost":2}]}'),
    status: 200,
    code: 400101,
    message: /lines\[0\]\.cost is not a known field/,
    param: 'lines[0].cost',
  },
  {
    rule: '__proto__ as a field',
    request: post('{"name":"a","__proto__":{"site":"x"}}'),
    status: 200,
    code: 400101,
    message: /__proto__ is not a known field/,
    param: '__proto__',
  },
  {
    rule: 'an inherited name for a required field',
    request: post('{"__proto__":{"name":"a"}}'),
    status: 200,
    code: 400101,
    message: /name is required/,
    param: 'name',
  },
  {
    rule: 'a number out of range',
    request: post('{"name":"a","lines":[{"price":0}]}'),
    status: 200,
    code: 400101,
    message: /^Invalid field: lines\[0\]\.price must be at least 1$/,
    param: 'lines[0].price',
  },
  {
    rule: 'a fraction for an integer',
    request: post('{"name":"a","lines":[{"price":1.5}]}'),
    status: 200,
    code: 400101,
    message: /must be an integer/,
    param: 'lines[0].price',
  },
  {
    rule: 'a text that is too long in code points',
    request: post('{"name":"😀😀😀😀😀😀"}'),
    status: 200,
    code: 400101,
    message: /name must have at most 5 characters/,
    param: 'name',
  },
  {
    // proves W2.16
    rule: 'NUL in a text',
    request: post('{"name":"a\\u0000"}'),
    status: 200,
    code: 400101,
    message: /name must be text without NUL/,
    param: 'name',
  },
  {
    // proves W2.16
    rule: 'a lone surrogate',
    request: post('{"name":"\\ud800"}'),
    status: 200,
    code: 400101,
    message: /unpaired surrogates/,
    param: 'name',
  },
  {
    rule: 'a URL with credentials',
    request: post('{"name":"a","site":"https://u:p@x.com"}'),
    status: 200,
    code: 400101,
    message: /site must be "" or an https URL/,
    param: 'site',
  },
  {
    rule: 'a choice outside the list',
    request: post('{"name":"a","model":3}'),
    status: 200,
    code: 400101,
    message: /model must be 1 or 2/,
    param: 'model',
  },
  {
    // proves S8.6
    rule: 'page 0',
    request: { url: '/v1/toy/list/0/10' },
    status: 200,
    code: 400101,
    message: /page must be at least 1/,
    param: 'page',
  },
  {
    // proves S8.6
    rule: 'size 101',
    request: { url: '/v1/toy/list/1/101' },
    status: 200,
    code: 400101,
    message: /size must be at most 100/,
    param: 'size',
  },
  {
    rule: 'a page that is not plain digits',
    request: { url: '/v1/toy/list/1e3/10' },
    status: 200,
    code: 400101,
    message: /page must be an integer/,
    param: 'page',
  },
  {
    rule: 'a missing permission',
    request: { method: 'POST', url: '/v1/toy/guarded' },
    status: 403,
    code: 200103,
    message: /products:read/,
  },
];

for (const { rule, request, status, code, message, param = '' } of refusals) {
  test(`${rule} is refused with ${code}`, async () => {
    const server = await toyServer();
    const reply = await server.inject(request);
    const answer = reply.json();
    assert.deepEqual(
      { status: reply.statusCode, code: answer.code, data: answer.data, param: answer.error.param },
      { status, code, data: null, param },
    );
    assert.match(answer.message, message);
    assert.equal(answer.error.requestId, reply.headers['request-id']);
    assert.equal(reply.headers['cache-control'], 'no-store');
    if (status === 405) assert.ok(String(reply.headers['allow']).length > 0);
  });
}

// proves S8.5
test('five astral characters fit a text of five', async () => {
  const server = await toyServer();
  const reply = await server.inject(post('{"name":"😀😀😀😀😀"}'));
  assert.equal(reply.json().code, 0);
});
