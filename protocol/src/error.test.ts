import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorName, errorCatalogue, fieldRefusal, Refusal } from './error.ts';

test('every code stands once and none is zero', () => {
  const codes = Object.values(errorCatalogue).map((entry) => entry.code);
  assert.equal(new Set(codes).size, codes.length);
  assert.ok(codes.every((code) => Number.isInteger(code) && code > 0));
});

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

test('a refusal reads `Text: detail`', () => {
  assert.equal(new Refusal('session_not_found').message, 'Session not found');
  assert.equal(new Refusal('session_not_found', 'sess_x').message, 'Session not found: sess_x');
  const refusal = fieldRefusal('lineItems[0].unitPrice', 'must be at least 1');
  assert.equal(refusal.message, 'Invalid field: lineItems[0].unitPrice must be at least 1');
  assert.equal(refusal.details.param, 'lineItems[0].unitPrice');
});
