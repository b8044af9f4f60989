import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestOf } from './call.ts';
import { ApiFailure, fieldError, sayFailure } from './failure.ts';
import { setProver, withProof } from './prover.ts';

const invalid = new ApiFailure({
  slug: 'field_invalid',
  message: 'Invalid field: lineItems[0].unitPrice must be at least 1',
  param: 'lineItems[0].unitPrice',
});

test('a refusal is said at its field, in words of what to change', () => {
  assert.equal(fieldError(invalid, 'lineItems'), 'Must be at least 1');
  assert.equal(fieldError(invalid, 'line'), undefined);
  assert.equal(fieldError(undefined, 'lineItems'), undefined);
  const message = 'Invalid field: termsUrl must be "" or an https URL without credentials';
  const address = new ApiFailure({ slug: 'field_invalid', message, param: 'termsUrl' });
  const plain = 'Write a whole address that begins with https://, without a name or password in it.';
  assert.equal(fieldError(address, 'termsUrl'), plain);
  const refused = new ApiFailure({ slug: 'last_owner', message: 'The last owner cannot go' });
  assert.equal(sayFailure(refused), 'The last owner cannot go.');
  const missing = new ApiFailure({ slug: 'webhook_not_found', message: 'Webhook not found: wkid_1' });
  assert.equal(sayFailure(missing), 'Webhook not found.');
});

test('a limit says when to try again', () => {
  const limit = (retryAfterSeconds: number) =>
    sayFailure(new ApiFailure({ slug: 'rate_limited', message: 'Too many requests', retryAfterSeconds }));
  assert.equal(limit(0), 'Too many requests. Wait a moment, then try again.');
  assert.equal(limit(45), 'Too many attempts. Try again in 45 seconds.');
  assert.equal(limit(60), 'Too many attempts. Try again in 1 minute.');
  assert.equal(limit(850), 'Too many attempts. Try again in 15 minutes.');
  assert.equal(limit(86_400), 'Too many attempts. Try again in 24 hours.');
});

test('a call fills its path and leaves out empty query parameters', () => {
  const input = { params: { page: 1, size: 20, id: 'a/b' }, query: { after: undefined, format: 'csv' } };
  assert.deepEqual(requestOf('GET /list/:page/:size/:id', input), {
    method: 'GET',
    url: '/dashboard/api/list/1/20/a%2Fb?format=csv',
  });
});

test('an act that needs a proof is done again after it, and not when the person declines', async () => {
  const stale = new ApiFailure({ slug: 'fresh_proof_required', message: 'Sign in again to confirm' });
  let isProven = false;
  const act = async () => {
    if (!isProven) throw stale;
    return 'done';
  };
  setProver(async () => false);
  await assert.rejects(withProof(act), { slug: 'proof_declined' });
  setProver(async (reason, call) => {
    assert.deepEqual([reason, call], ['prove', 'POST /key/create']);
    isProven = true;
    return true;
  });
  assert.equal(await withProof(act, 'POST /key/create'), 'done');
  await assert.rejects(
    withProof(async () => {
      throw invalid;
    }),
    invalid,
  );
});
