import { createContext, useContext } from 'react';
import { MerchantContext } from './merchant.ts';
import { mayDo } from './permission.ts';
import type { Screen } from './screen.ts';

/** All screens, from the shell: a screen that imported the registry would import itself. */
export const ScreensContext = createContext<readonly Screen[]>([]);

/** The screens that the member's role opens; none outside a merchant. */
export function useScreens(): readonly Screen[] {
  const merchant = useContext(MerchantContext);
  const screens = useContext(ScreensContext);
  if (merchant === undefined) return [];
  return screens.filter(({ permission }) => permission === undefined || mayDo(merchant.role, permission));
}

/** Tells whether a screen is there and open to the role, so that links to it lead somewhere. */
export function useHasScreen(): (path: string) => boolean {
  const screens = useScreens();
  return (path) => screens.some((screen) => screen.path === path);
}
