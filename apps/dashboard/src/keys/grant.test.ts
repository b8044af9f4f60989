import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permissionPresets, permissions } from '@florin/protocol/permission.ts';
import { grantOf, linesOf, permissionsOf } from './grant.ts';

test('the form of a key can grant every permission, and every preset as it is', () => {
  for (const preset of [permissions, ...Object.values(permissionPresets)]) {
    assert.deepEqual(permissionsOf(grantOf(preset)).sort(), [...preset].sort());
  }
  assert.deepEqual(permissionsOf(grantOf([])), []);
});

test('lists are read line by line', () => {
  assert.deepEqual(linesOf(' 203.0.113.7,\n\n2001:db8::/32 '), ['203.0.113.7', '2001:db8::/32']);
});
