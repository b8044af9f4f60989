import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiFailure } from './failure.ts';
import { readInTurn } from './read-in-turn.ts';

test('a page that is refused for the rate of requests is read again, and another failure ends the export', async () => {
  const replies = [new ApiFailure({ slug: 'rate_limited', message: 'Too many requests' }), 'a page'];
  const read = async () => {
    const reply = replies.shift();
    if (typeof reply === 'string') return reply;
    throw reply;
  };
  assert.equal(await readInTurn(read), 'a page');
  let reads = 0;
  const fail = (slug: 'rate_limited' | 'internal') => () => {
    reads += 1;
    return Promise.reject(new ApiFailure({ slug, message: 'refused' }));
  };
  await assert.rejects(readInTurn(fail('internal')), ApiFailure);
  await assert.rejects(
    readInTurn(fail('rate_limited'), () => false),
    ApiFailure,
  );
  assert.equal(reads, 2);
});
