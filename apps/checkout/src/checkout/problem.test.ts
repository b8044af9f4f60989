import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages } from '../text/languages.ts';
import { Lost, Refused } from './api.ts';
import { initialModel } from './model.ts';
import { problemOf } from './problem.ts';

const [english] = languages;
const model = initialModel({ options: [], texts: english?.texts } as unknown as Parameters<
  typeof initialModel
>[0]);

test('a page whose secret is refused says the words of the server, and goes on without the secret', () => {
  assert.deepEqual(problemOf(model, new Refused(100202, 'Open the link again.', false)), {
    problem: 'Open the link again.',
    clientCode: '',
  });
  assert.deepEqual(problemOf(model, new Refused(900401, 'Try again later.', true)), {
    problem: 'Try again later.',
  });
});

test('what a wallet fails with is told in the reader’s words, and its own words stand behind a failure of its own', () => {
  const problemAfter = (error: unknown) => problemOf(model, error).problem;
  const { texts } = model.data;
  assert.equal(
    problemAfter(Object.assign(new Error('Internal error'), { code: -32_603 })),
    `${texts.failed} (Internal error)`,
  );
  assert.equal(problemAfter({ code: 4001 }), texts.rejected);
  assert.equal(problemAfter({ code: 4100 }), texts.disconnected);
});

test('a service that is not reached is told in the reader’s words, not in the browser’s', () => {
  const cause = new TypeError('Failed to fetch');
  assert.deepEqual(problemOf(model, new Lost('', { cause })), { problem: english?.texts.noRoute });
});
