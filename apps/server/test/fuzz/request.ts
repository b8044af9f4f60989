import fc from 'fast-check';
import { mutated, mutationArbitrary } from './mutation.ts';
import { bodyOf, type Operation, paramsOf, pathOf, queryOf } from './operation.ts';

/** A request whose ids are filled in when it is sent. */
export interface FuzzRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base path. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string | Uint8Array | undefined;
}

const json = { 'content-type': 'application/json' };

/** Requests that follow the schema; most are accepted. */
export function validRequest(operation: Operation): fc.Arbitrary<FuzzRequest> {
  const { route } = operation;
  const body = bodyOf(operation) ?? fc.constant(undefined);
  const key = fc.option(fc.constantFrom('key-1', 'key-2', 'k'.repeat(255)), { nil: undefined, freq: 2 });
  return fc
    .tuple(paramsOf(operation), queryOf(operation), body, key)
    .map(([params, query, value, idempotencyKey]) => ({
      method: route.method,
      path: pathOf(route, params, query),
      headers: {
        ...(value === undefined ? {} : json),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      payload: value === undefined ? undefined : JSON.stringify(value),
    }));
}

const oddParams = [
  '0',
  '-1',
  '+1',
  '01',
  '1e3',
  '1.0',
  '101',
  '1000000000',
  '1000000001',
  '9007199254740993',
  '99999999999999999999',
  'NaN',
  'undefined',
  '１',
  '٣',
  ' 1',
  '1 ',
  '..',
  '.',
  'list',
  "' or 1=1 --",
  '\0',
  '\u202e',
  'x'.repeat(65),
  'x'.repeat(499),
  'x'.repeat(600),
  '%',
  '__proto__',
];

/** Requests with exactly one error: in a field of the body, or in a parameter of the path. */
export function nearValidRequest(operation: Operation): fc.Arbitrary<FuzzRequest> {
  const { route } = operation;
  const body = bodyOf(operation);
  if (body !== undefined) {
    return fc.tuple(validRequest(operation), body, mutationArbitrary).map(([request, value, mutation]) => ({
      ...request,
      payload: mutated(value, mutation),
    }));
  }
  const names = [
    ...Object.keys(route.params?.properties ?? {}),
    ...Object.keys(route.query?.properties ?? {}),
  ];
  if (names.length === 0) return validRequest(operation);
  return fc
    .tuple(paramsOf(operation), queryOf(operation), fc.constantFrom(...names), fc.constantFrom(...oddParams))
    .map(([params, query, name, value]) => {
      const isParam = route.params?.properties[name] !== undefined;
      return {
        method: route.method,
        path: isParam
          ? pathOf(route, { ...params, [name]: value }, query)
          : pathOf(route, params, { ...query, [name]: value }),
        headers: {},
        payload: undefined,
      };
    });
}

const brokenBodies: readonly (string | Uint8Array)[] = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '"text"',
  '[]',
  '[{}]',
  '{}',
  '{',
  '}',
  '{"a":1,}',
  "{'a':1}",
  '{"a":NaN}',
  '{"a":0x10}',
  '{"a":01}',
  '{"a":"\n"}',
  '\ufeff{}',
  '{}{}',
  '{}//',
  '['.repeat(100_000),
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  '{"__proto__":{"polluted":1}}',
  `{${'"a":1,'.repeat(2_000)}"a":1}`,
  Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d),
  Uint8Array.of(0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d),
  Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00),
  Uint8Array.of(0x1f, 0x8b, 0x08, 0x00),
];

const oddHeaders: readonly Readonly<Record<string, string>>[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': 'application/json, text/plain' },
  { 'content-type': '' },
  { ...json, 'content-encoding': 'gzip' },
  { ...json, 'content-encoding': 'br, identity' },
  { ...json, 'idempotency-key': 'k'.repeat(256) },
  { ...json, 'idempotency-key': '' },
  { ...json, 'idempotency-key': "'; drop table sessions; --" },
  { ...json, 'x-http-method-override': 'DELETE' },
  { ...json, host: 'evil.example.com', 'x-forwarded-host': 'evil.example.com' },
  { ...json, 'x-forwarded-for': "127.0.0.1' or '1'='1" },
  { ...json, cookie: 'a=b'.repeat(500) },
  { ...json, origin: 'null', 'sec-fetch-site': 'cross-site' },
];

const oddPaths: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => `${path}?page=1&page=2&__proto__[x]=1`,
  (path) => `${path}?${'a=1&'.repeat(300)}`,
  (path) => `${path}#x`,
  (path) => `${path};x=1`,
  (path) => `${path}%2f..%2f..`,
  (path) => `${path}%00`,
  (path) => `${path}%ff`,
  (path) => `${path}%`,
  (path) => `${path}%ED%A0%80`,
  (path) => path.replace('/', '/./'),
  (path) => path.replace('/', '/%2e%2e/payment/'),
  (path) => path.replaceAll(/@@\w+:\d+@@|(?<=\/)\d+/g, '%00'),
  (path) => path.replaceAll(/@@\w+:\d+@@|(?<=\/)\d+/g, '__proto__'),
];

/** Hostile requests, which no client sends by mistake. */
export function hostileRequest(operation: Operation): fc.Arbitrary<FuzzRequest> {
  const valid = validRequest(operation);
  return fc.oneof(
    fc
      .tuple(valid, fc.constantFrom(...brokenBodies))
      .map(([request, payload]) => ({ ...request, headers: { ...request.headers, ...json }, payload })),
    fc
      .tuple(valid, fc.uint8Array({ maxLength: 200 }))
      .map(([request, payload]) => ({ ...request, headers: { ...request.headers, ...json }, payload })),
    fc
      .tuple(valid, fc.constantFrom(...oddHeaders))
      .map(([request, headers]) => ({ ...request, headers: { ...request.headers, ...headers } })),
    fc
      .tuple(valid, fc.constantFrom(...oddPaths))
      .map(([request, change]) => ({ ...request, path: change(request.path) })),
    fc
      .tuple(valid, fc.constantFrom('1e400', '-0', '1.0', '1e0', '00', '1E+2', '9'.repeat(400)))
      .map(([request, number]) => ({
        ...request,
        payload:
          typeof request.payload === 'string'
            ? request.payload.replace(/(?<=:)\d+/, number)
            : request.payload,
      })),
  );
}
