import { rolePermissions } from '@florin/protocol/member-role.ts';
import type { MemberPermission } from '@florin/protocol/permission.ts';

/** Whether a role has a permission. Leave out the buttons of acts that the role lacks. The service decides again. */
export function mayDo(role: string, permission: MemberPermission): boolean {
  const held = Object.entries(rolePermissions).find(([name]) => name === role)?.[1];
  return held?.has(permission) ?? false;
}
