import { rolePermissions } from '@florin/protocol/member-role.ts';
import { auditScreen } from '../audit/screen.ts';
import { homeScreen } from '../home/screen.ts';
import { keysScreen } from '../keys/screen.ts';
import { settingsScreen } from '../settings/screen.ts';
import { teamScreen } from '../team/screen.ts';
import type { Screen } from './screen.ts';

/** All screens of a merchant, in the order of the navigation. A new screen is a folder and a line here. */
export const screens: readonly Screen[] = [homeScreen, keysScreen, teamScreen, auditScreen, settingsScreen];

/** Whether a role sees a screen. The service decides again at every call. */
export function isOpenTo(role: string, { permission }: Pick<Screen, 'permission'>): boolean {
  return permission === undefined || mayDo(role, permission);
}

/** Whether a role has a permission. Buttons of acts that a role may not do are left out. */
export function mayDo(role: string, permission: NonNullable<Screen['permission']>): boolean {
  const held = Object.entries(rolePermissions).find(([name]) => name === role)?.[1];
  return held?.has(permission) ?? false;
}
