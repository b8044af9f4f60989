import { Slot } from 'radix-ui';
import { lazy, type ReactNode, Suspense, startTransition, useContext, useState } from 'react';
import { loadPatiently } from '../app/lazy-screen.ts';
import { type MenuCheckProps, type MenuItemProps, MenuPartsContext, type MenuProps } from './menu-parts.ts';

const loadParts = loadPatiently(() => import('./opened-menu.tsx'));
const OpenedMenu = lazy(loadParts);

/** A menu at its trigger, which is one button. What menus are made of is read when a person comes near one. */
export function Menu(props: MenuProps) {
  const [openedBy, setOpenedBy] = useState<'key' | 'pointer'>();
  const open = (by: 'key' | 'pointer') => startTransition(() => setOpenedBy(by));
  const closed = (
    <Slot.Root
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={loadParts}
      onFocus={loadParts}
      onClick={({ detail }) => open(detail === 0 ? 'key' : 'pointer')}
      onKeyDown={({ key }) => key === 'ArrowDown' && open('key')}
    >
      {props.trigger}
    </Slot.Root>
  );
  return (
    <Suspense fallback={closed}>
      {openedBy === undefined ? closed : <OpenedMenu {...props} isByKey={openedBy === 'key'} />}
    </Suspense>
  );
}

export function MenuItem(props: MenuItemProps) {
  const parts = useContext(MenuPartsContext);
  return parts !== undefined && <parts.Item {...props} />;
}

/** A tick in a menu, which stays open. */
export function MenuCheck(props: MenuCheckProps) {
  const parts = useContext(MenuPartsContext);
  return parts !== undefined && <parts.Check {...props} />;
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  const parts = useContext(MenuPartsContext);
  return parts !== undefined && <parts.Label>{children}</parts.Label>;
}

export function MenuLine() {
  const parts = useContext(MenuPartsContext);
  return parts !== undefined && <parts.Line />;
}
