import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerFailure } from '@florin/signing';
import { reportFailure } from './failure.ts';

function told(error: unknown): readonly [string, number, string, string] {
  const { failure, cause } = reportFailure(error, 'update');
  return [failure.slug, failure.entry.code, failure.message, cause];
}

test('a signer that does not answer is a retryable outage, and its message is not shown', () => {
  assert.deepEqual(told(new SignerFailure('https://kms.internal/key/7 answers with 500')), [
    'chain_unavailable',
    900401,
    'Chain temporarily unavailable: orders cannot be signed at the moment, try again',
    'outage',
  ]);
});

test('a database that dropped a statement is an outage', () => {
  assert.deepEqual(told(new Error('Query read timeout')), [
    'update_failed',
    900202,
    'Updating the record failed: try again',
    'outage',
  ]);
});

test('an unexpected error is a bug, and its answer reveals none of its text', () => {
  assert.deepEqual(told(new Error('secret')), ['internal', 999999, 'Internal error', 'bug']);
});
