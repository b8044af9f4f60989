import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { BookOpen, LogOut, Monitor, Moon, ShieldHalf, Store, Sun, UserRound } from 'lucide-react';
import { useWrite } from '../api/use-call.ts';
import { classNames } from '../ui/class-names.ts';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../ui/menu.tsx';
import { firstMerchant, type Me } from './merchant.ts';
import { operatorBase } from './open-screens.ts';
import { chooseTheme, type Theme, useTheme } from './theme.ts';

const themes = [
  { theme: 'system', title: 'As the system', icon: <Monitor /> },
  { theme: 'light', title: 'Light', icon: <Sun /> },
  { theme: 'dark', title: 'Dark', icon: <Moon /> },
] as const satisfies readonly { theme: Theme; title: string; icon: unknown }[];

/** The person: own account, the way between shops and the operator's screens, theme, documentation, sign-out. */
export function PersonMenu({ me, isOperator }: { readonly me: Me; readonly isOperator: boolean }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const chosen = useTheme();
  // Reads that were asked again would find no session, and ask to sign in.
  const signOut = useWrite('POST /me/sign-out', { keepsReads: true });
  const ownMerchant = firstMerchant(me);
  const isWarned = me.newDevices > 0 || me.recovery !== null;
  const leave = async () => {
    if ((await signOut.run()) === undefined) return;
    await navigate({ to: '/sign-in' });
    queries.clear();
  };
  return (
    <Menu
      align="start"
      className="w-60"
      trigger={
        <button
          type="button"
          className="flex h-11 w-full min-w-0 items-center gap-2.5 rounded-lg px-1.5 text-left hover:bg-line/60"
        >
          <span
            aria-hidden
            className="relative flex size-8 shrink-0 items-center justify-center rounded-full bg-line text-sm font-semibold text-soft"
          >
            {me.name.charAt(0).toUpperCase()}
            {isWarned && <Dot className="absolute top-0 right-0 ring-2 ring-sunken" />}
          </span>
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{me.name}</span>
            <span className="block truncate text-xs text-soft">{me.email}</span>
            {isWarned && <span className="sr-only">Look at My account</span>}
          </span>
        </button>
      }
    >
      <MenuItem icon={<UserRound />} onSelect={() => void navigate({ to: '/my-account' })}>
        <span className="flex items-center gap-2">
          My account
          {isWarned && <Dot />}
        </span>
      </MenuItem>
      {me.isStaff && !isOperator && (
        <MenuItem icon={<ShieldHalf />} onSelect={() => void navigate({ to: `/${operatorBase}` })}>
          Operator
        </MenuItem>
      )}
      {isOperator && ownMerchant !== undefined && (
        <MenuItem icon={<Store />} onSelect={() => void navigate({ to: `/${ownMerchant}` })}>
          Shops
        </MenuItem>
      )}
      <MenuItem icon={<BookOpen />} onSelect={() => window.open('/docs', '_blank', 'noopener')}>
        Documentation
      </MenuItem>
      <MenuLine />
      <MenuLabel>Theme</MenuLabel>
      {themes.map(({ theme, title, icon }) => (
        <MenuItem key={theme} icon={icon} isChosen={theme === chosen} onSelect={() => chooseTheme(theme)}>
          {title}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem icon={<LogOut />} onSelect={() => void leave()}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

/** Something about the account is to be looked at. */
function Dot({ className }: { readonly className?: string }) {
  return <span aria-hidden className={classNames('size-2.5 rounded-full bg-warn', className)} />;
}
