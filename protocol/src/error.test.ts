import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentApi } from './agent-api.ts';
import { checkoutApi } from './checkout-api.ts';
import { type ErrorName, errorCatalogue, fieldRefusal, Refusal } from './error.ts';
import { merchantApi } from './merchant-api.ts';
import type { Route } from './route.ts';
import { x402Api } from './x402-api.ts';

// proves W7.3
test('every code stands once and none is zero', () => {
  const codes = Object.values(errorCatalogue).map((entry) => entry.code);
  assert.equal(new Set(codes).size, codes.length);
  assert.ok(codes.every((code) => Number.isInteger(code) && code > 0));
});

// proves S7.2, S7.3, W7.3
test('business errors answer 200; the others use the statuses of the wire contract', () => {
  const statuses = new Map<number, ErrorName[]>();
  for (const [name, entry] of Object.entries(errorCatalogue)) {
    statuses.set(entry.http, [...(statuses.get(entry.http) ?? []), name as ErrorName]);
  }
  assert.deepEqual(statuses.get(401), ['authorization_header_malformed', 'api_key_invalid']);
  assert.deepEqual(
    [...statuses.keys()].sort(),
    [200, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503],
  );
});

// proves W7.4
test('a refusal reads `Text: detail`', () => {
  assert.equal(new Refusal('session_not_found').message, 'Session not found');
  assert.equal(new Refusal('session_not_found', 'sess_x').message, 'Session not found: sess_x');
  const refusal = fieldRefusal('lineItems[0].unitPrice', 'must be at least 1');
  assert.equal(refusal.message, 'Invalid field: lineItems[0].unitPrice must be at least 1');
  assert.equal(refusal.details.param, 'lineItems[0].unitPrice');
});

// proves W7.2
test('400301 is kept for statistics, and no operation gives any', () => {
  assert.deepEqual(errorCatalogue.stat_not_found, {
    code: 400301,
    http: 200,
    text: 'Statistic not found',
    retryable: false,
    reserved: true,
  });
  const routes: Route[] = [merchantApi, agentApi, checkoutApi, x402Api].flatMap((table) =>
    Object.values(table.routes),
  );
  assert.deepEqual(
    routes.filter(
      ({ path, errors }) => /stat(s|istics?)?(\/|$)/.test(path) || errors.includes('stat_not_found'),
    ),
    [],
  );
});
