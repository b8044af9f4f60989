import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageOfId } from './page-of-id.ts';

const body = 'A1b2C3d4E5f6G7h8I9j0K1';

test('an id leads to the page of its thing', () => {
  const pathOf = (id: string) => pageOfId(id)?.path;
  assert.equal(pathOf(`lnk_${body}`), `links/lnk_${body}`);
  assert.equal(pathOf(`acc_${body}`), `wallets/acc_${body}`);
  assert.equal(pathOf(`sess_${body}`), `payments/sess_${body}`);
});

test('exceptions and events open in their lists, which have no pages of single ones', () => {
  assert.deepEqual(pageOfId(`exc_${body}`), {
    screen: 'exceptions',
    path: 'exceptions',
    search: { exception: `exc_${body}` },
  });
  assert.deepEqual(pageOfId(`evt_${body}`)?.search, { event: `evt_${body}` });
});

test('a part of an id, and an id without a page, lead nowhere', () => {
  for (const id of ['lnk_A1b2', `usr_${body}`, `constructor_${body}`, '', 'a tea'])
    assert.equal(pageOfId(id), undefined, id);
});
