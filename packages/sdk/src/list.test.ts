import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestService, type SeenRequest, success, type TestService } from './service.fixture.ts';

const entry = (sessionId: string) => ({ session: { sessionId } });

/** Entries as pages of two, by cursor. */
function pagesOf(...ids: readonly string[]) {
  return Array.from({ length: Math.ceil(ids.length / 2) }, (_none, index) => {
    const [first = '', second] = ids.slice(index * 2);
    const sessions = [first, ...(second === undefined ? [] : [second])].map(entry);
    const hasMore = ids.length > index * 2 + 2;
    return success({ sessions, hasMore, nextCursor: hasMore ? `after-${second}` : '' });
  });
}

function requestsOf(service: TestService): string[] {
  return service.seen.map(({ path, body }: SeenRequest) =>
    body === undefined ? path.slice('/payment/v1'.length) : JSON.stringify(body),
  );
}

test('a list is read by cursor, page by page, only as far as it is used', async () => {
  await using service = await openTestService(...pagesOf('a', 'b', 'c', 'd', 'e'));
  const found: string[] = [];
  for await (const { session } of service.florin.sessions.list({ status: 'settlement_pending', size: 2 })) {
    found.push(session.sessionId);
    if (found.length === 3) break;
  }
  assert.deepEqual(found, ['a', 'b', 'c']);
  assert.deepEqual(requestsOf(service), [
    '/session/list/settlement/pending/1/2',
    '/session/list/settlement/pending/1/2?after=after-b',
  ]);
});

test('a list can begin behind a cursor, be read as pages, and be gathered up to a limit', async () => {
  await using service = await openTestService(
    ...pagesOf('c', 'd', 'e'),
    ...pagesOf('a', 'b'),
    ...pagesOf('a', 'b'),
  );
  const { sessions } = service.florin;
  const pages = [];
  for await (const page of sessions.list({ after: 'after-b' }).pages()) pages.push(page);
  assert.deepEqual(
    pages.map(({ items, hasMore, nextCursor }) => [items.length, hasMore, nextCursor]),
    [
      [2, true, 'after-d'],
      [1, false, ''],
    ],
  );
  assert.deepEqual(await sessions.list().toArray({ limit: 1 }), [entry('a')]);
  assert.deepEqual(await sessions.list().toArray({ limit: 10 }), [entry('a'), entry('b')]);
  assert.deepEqual(await sessions.list().toArray({ limit: 0 }), []);
  assert.equal(requestsOf(service)[0], '/session/list/all/1/100?after=after-b');
  assert.equal(service.seen.length, 4);
});

test('a search goes on where a page was short, and sends its conditions each time', async () => {
  const [empty, rest] = [
    success({ sessions: [], hasMore: true, nextCursor: 'further' }),
    success({ sessions: [entry('a')], hasMore: false, nextCursor: '' }),
  ];
  await using service = await openTestService(empty, rest);
  assert.deepEqual(
    await service.florin.sessions.search({ metadata: { order: 'A-1' } }).toArray({ limit: 100 }),
    [entry('a')],
  );
  assert.deepEqual(requestsOf(service), [
    '{"metadata":{"order":"A-1"},"size":100}',
    '{"metadata":{"order":"A-1"},"size":100,"after":"further"}',
  ]);
});

test('a list is gathered only up to a limit that is a whole number', async () => {
  await using service = await openTestService(...pagesOf('a'));
  const list = service.florin.sessions.list();
  for (const options of [undefined, {}, { limit: Number.NaN }, { limit: -1 }, { limit: '5' }])
    await assert.rejects(list.toArray(options as { limit: number }), {
      name: 'FlorinError',
      slug: 'argument_invalid',
      param: 'limit',
    });
  assert.deepEqual(service.seen, []);
});

test('a list ends with an error where the next page would be the same', async () => {
  for (const nextCursor of ['', 'same']) {
    await using service = await openTestService(
      success({ sessions: [entry('a')], hasMore: true, nextCursor }),
    );
    await assert.rejects(service.florin.sessions.list({ after: 'same' }).toArray({ limit: 100 }), {
      slug: 'answer_invalid',
    });
  }
});

const event = (id: string, type = 'session.created') => ({ id, type, data: {} });

test('events come newest first by page, and one that new events have moved appears once', async () => {
  await using service = await openTestService(
    success({ events: [event('4'), event('3')], hasMore: true }),
    success({ events: [event('3'), event('2')], hasMore: false }),
  );
  const events = await service.florin.events.list({ type: 'session.*', size: 2 }).toArray({ limit: 100 });
  assert.deepEqual(
    events.map(({ id }) => id),
    ['4', '3', '2'],
  );
  assert.deepEqual(requestsOf(service), ['/event/list/1/2?type=session.*', '/event/list/2/2?type=session.*']);
});

test('events after another come oldest first, each page behind the last event of the one before', async () => {
  await using service = await openTestService(
    success({ events: [event('2'), event('3')], hasMore: true }),
    success({ events: [event('4')], hasMore: false }),
  );
  const events = await service.florin.events.list({ after: '1', size: 2 }).toArray({ limit: 100 });
  assert.deepEqual(
    events.map(({ id }) => id),
    ['2', '3', '4'],
  );
  assert.deepEqual(requestsOf(service), ['/event/list/1/2?after=1', '/event/list/1/2?after=3']);
});

test('an event of a type that is newer than this version keeps its type beside', async () => {
  await using service = await openTestService(success(event('1', 'session.frozen')));
  const { type, ...others } = await service.florin.events.retrieve('1');
  assert.deepEqual([type, others], ['unknown', { id: '1', data: {}, unknownType: 'session.frozen' }]);
});
