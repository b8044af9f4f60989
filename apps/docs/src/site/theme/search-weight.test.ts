import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchWeight } from './search-weight.ts';

/** apps/server/test/browser/docs.deep.test.ts searches the built site. */
test('a heading that is the word comes before headings that have it, and those before texts that do', () => {
  const weigh = (title: string) => searchWeight('/docs/limits#x', 'refund', { title, titles: ['Limits'] });
  assert.ok(weigh('Refund') > weigh('5. Refund a payment'));
  assert.ok(weigh('5. Refund a payment') > weigh('Give money back'));
  const ofCode = (path: string, title: string) => searchWeight(path, '100201', { title, titles: [] });
  assert.ok(
    ofCode('/docs/errors/100201', '100201: Session not found') > 2 * ofCode('/docs/errors', 'Errors'),
  );
});

test('guides and operations come before pages of single errors, contracts and conformance', () => {
  const weigh = (path: string) =>
    searchWeight(`/docs/${path}`, 'refund', { title: 'Money', titles: ['Page'] });
  const order = [
    'guide/sdk#x',
    'api/refunds#x',
    'webhooks#x',
    'errors/100701#x',
    'contracts/a#x',
    'conformance#x',
  ];
  assert.deepEqual(
    order.toSorted((one, other) => weigh(other) - weigh(one)),
    order,
  );
});

test('the heading of a page counts more than those below it, and repeated headings count little', () => {
  const weigh = (title: string, titles: readonly string[] = []) =>
    searchWeight('/docs/errors/100701', 'refund', { title, titles });
  assert.ok(weigh('Refunds') > weigh('Refunds', ['Page']));
  assert.ok(weigh('Why', ['Page']) > weigh('What to do', ['Page']));
});
