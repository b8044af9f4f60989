import { createContext, useContext } from 'react';
import type { CurrentMerchant } from './merchant.ts';
import { mayDo } from './permission.ts';
import type { Screen } from './screen.ts';

/** A part of the dashboard: a merchant's, or the operator's. */
export interface Area {
  /** The first part of its addresses: the merchant's id, or `operator`. */
  readonly base: string;
  /** The screens that are open to the person. */
  readonly screens: readonly Screen[];
}

export const operatorBase = 'operator';

/** From the shell: a screen that imported the registry would import itself. Undefined outside of both. */
export const AreaContext = createContext<Area | undefined>(undefined);

/** The merchant's area with what the role opens. */
export function merchantArea({ merchantId, role }: CurrentMerchant, all: readonly Screen[]): Area {
  const screens = all.filter(({ permission }) => permission === undefined || mayDo(role, permission));
  return { base: merchantId, screens };
}

/** The merchant's screen in an address that the role does not open; undefined where it opens it, or where there is none. */
export function closedScreen(
  { merchantId, role }: CurrentMerchant,
  all: readonly Screen[],
  address: string,
): Screen | undefined {
  const [, below] = address.split(`/${merchantId}`);
  const [, path = ''] = below?.split('/') ?? [];
  const screen = below === undefined ? undefined : all.find((each) => each.path === path);
  return screen?.permission === undefined || mayDo(role, screen.permission) ? undefined : screen;
}

/** The screens that are open in this area; none outside of one. */
export function useScreens(): readonly Screen[] {
  return useContext(AreaContext)?.screens ?? [];
}

/** Tells whether a screen is there and open to the role, so that links to it lead somewhere. */
export function useHasScreen(): (path: string) => boolean {
  const screens = useScreens();
  return (path) => screens.some((screen) => screen.path === path);
}
