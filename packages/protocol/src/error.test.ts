import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentApi } from './agent-api.ts';
import { checkoutApi } from './checkout-api.ts';
import { errorCatalogue, fieldRefusal, Refusal } from './error.ts';
import { merchantApi } from './merchant-api.ts';
import type { Route, RouteTable } from './route.ts';
import { x402Api } from './x402-api.ts';

// proves W7.3
test('every code is unique and none is zero', () => {
  const codes = Object.values(errorCatalogue).map((entry) => entry.code);
  assert.equal(new Set(codes).size, codes.length);
  assert.ok(codes.every((code) => Number.isInteger(code) && code > 0));
});

// proves S7.2, S7.3, W7.3
test('business errors answer 200; the others use the statuses of the wire contract', () => {
  const entries = Object.values(errorCatalogue);
  const table: RouteTable = merchantApi;
  assert.equal(table.statuses, undefined);
  const others = entries.filter(({ http }) => http !== 200).map(({ code, http }) => [code, http]);
  assert.deepEqual(Object.fromEntries(others), {
    ...{ 200101: 401, 200102: 401, 200103: 403 },
    ...{ 200201: 401, 200202: 401, 200203: 403, 200204: 403, 200205: 403, 200206: 403 },
    ...{ 400100: 400, 400110: 413, 400111: 415, 400401: 422, 400402: 409 },
    ...{ 404000: 404, 405000: 405 },
    ...{ 900101: 429, 900401: 503, 999999: 500 },
  });
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
test('400301 is reserved for statistics, and no operation answers it', () => {
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
