import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MemberRole, mayAssign, memberRoles, needsFreshProof, rolePermissions } from './member-role.ts';
import { merchantApi } from './merchant-api.ts';
import { type MemberPermission, memberPermissions } from './permission.ts';
import type { Route } from './route.ts';

const writes = (role: keyof typeof rolePermissions): MemberPermission[] =>
  [...rolePermissions[role]].filter((permission) => permission.endsWith(':write')).sort();

test('a role changes what it is named for', () => {
  assert.deepEqual([...rolePermissions.owner], [...memberPermissions]);
  assert.deepEqual([...rolePermissions.admin], [...memberPermissions]);
  assert.deepEqual(writes('developer'), [
    'checkout_sessions:write',
    'keys:write',
    'payment_links:write',
    'products:write',
    'webhooks:write',
  ]);
  assert.deepEqual(writes('finance'), ['checkout_sessions:write', 'refunds:write']);
  assert.deepEqual(writes('support'), ['checkout_sessions:write', 'refunds:write']);
  assert.deepEqual(writes('viewer'), []);
  assert.deepEqual(writes('staff'), ['installation:write']);
});

test('payers, secrets and the audit log are shown to the roles that need them', () => {
  const rolesWith = (permission: MemberPermission) =>
    Object.entries(rolePermissions)
      .filter(([, held]) => held.has(permission))
      .map(([role]) => role);
  assert.deepEqual(rolesWith('payer_pii:read'), ['owner', 'admin', 'finance', 'support']);
  assert.deepEqual(rolesWith('webhook_secrets:read'), ['owner', 'admin', 'developer']);
  assert.deepEqual(rolesWith('keys:read'), ['owner', 'admin', 'developer']);
  assert.deepEqual(rolesWith('audit:read'), ['owner', 'admin', 'finance', 'staff']);
});

test('refunds, decisions about exceptions and webhook secrets need a fresh proof', () => {
  const routes: [string, Route][] = Object.entries(merchantApi.routes);
  assert.deepEqual(
    routes
      .filter(([, route]) => needsFreshProof(route))
      .map(([name]) => name)
      .sort(),
    [
      'acceptException',
      'cancelRefund',
      'createRefund',
      'createWebhook',
      'refreshWebhookKey',
      'refundException',
      'resolveException',
    ],
  );
});

test('owners assign every role, admins every role but owner, others none', () => {
  const assigned = (actor: MemberRole | 'staff') => memberRoles.filter((role) => mayAssign(actor, role));
  assert.deepEqual(assigned('owner'), [...memberRoles]);
  assert.deepEqual(assigned('admin'), ['admin', 'developer', 'finance', 'support', 'viewer']);
  for (const actor of ['developer', 'finance', 'support', 'viewer', 'staff'] as const)
    assert.deepEqual(assigned(actor), []);
});
