import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { base62Of, type IdKind, idPrefixes, isId, newId } from './id.ts';

// proves W2.11
test('prefixes are those that clients rely on', () => {
  assert.deepEqual(idPrefixes, {
    product: 'prd_',
    account: 'acc_',
    accountVersion: 'acv_',
    link: 'lnk_',
    linkVersion: 'ver_',
    session: 'sess_',
    lineItem: 'li_',
    webhook: 'wkid_',
    event: 'evt_',
    delivery: 'dlv_',
    receipt: 'rcpt_',
    refund: 'rfd_',
    exception: 'exc_',
    report: 'rpt_',
    request: 'req_',
    merchant: 'mer_',
    apiKey: 'key_',
    user: 'usr_',
    invitation: 'inv_',
    accountChange: 'acg_',
    audit: 'aud_',
    recovery: 'rec_',
  });
});

// proves W2.11
test('every kind of id is its prefix and 22 base62 characters', () => {
  for (const kind of Object.keys(idPrefixes) as IdKind[]) {
    const id = newId(kind, randomBytes);
    assert.ok(isId(kind, id), id);
    assert.equal(id.length, idPrefixes[kind].length + 22);
  }
});

test('bytes that would favour some characters are discarded', () => {
  let calls = 0;
  const mostlyTooHigh = (size: number) => {
    calls += 1;
    return new Uint8Array(size).fill(calls < 3 ? 255 : 61);
  };
  assert.equal(newId('session', mostlyTooHigh), `sess_${'z'.repeat(22)}`);
});

test('ten thousand ids are all different', () => {
  assert.equal(new Set(Array.from({ length: 10_000 }, () => newId('session', randomBytes))).size, 10_000);
});

test('text that is not an id of the kind is recognized', () => {
  const id = newId('product', randomBytes);
  for (const text of [
    '',
    'prd_',
    `${id}x`,
    id.slice(0, -1),
    id.replace('prd_', 'acc_'),
    `prd_${'-'.repeat(22)}`,
  ]) {
    assert.equal(isId('product', text), false, text);
  }
});

test('a digest has one base62 spelling', () => {
  assert.equal(base62Of(new Uint8Array(32)), '0'.repeat(22));
  assert.notEqual(base62Of(new Uint8Array(32).fill(1)), base62Of(new Uint8Array(32).fill(2)));
});
