import { Ellipsis } from 'lucide-react';
import { classNames } from '../ui/class-names.ts';
import { useScreens } from './open-screens.ts';
import type { Screen, ScreenGroup } from './screen.ts';
import { ScreenLink } from './screen-link.tsx';

const groups: readonly { readonly name: ScreenGroup; readonly title: string }[] = [
  { name: 'main', title: '' },
  { name: 'sell', title: 'Sell' },
  { name: 'develop', title: 'Developers' },
  { name: 'business', title: 'Business' },
  { name: 'money', title: 'Money' },
  { name: 'merchants', title: 'Merchants' },
  { name: 'installation', title: 'Installation' },
];

export function Navigation() {
  const open = useScreens();
  return (
    <nav aria-label="Screens" className="grid gap-4">
      {groups.map(({ name, title }) => {
        const ofGroup = open.filter(({ group }) => group === name);
        if (ofGroup.length === 0) return null;
        return (
          <div key={name} className="grid gap-0.5">
            {title !== '' && <p className="px-2.5 pb-1 text-xs font-medium text-faint">{title}</p>}
            {ofGroup.map((screen) => (
              <NavigationLink key={screen.path} screen={screen} />
            ))}
          </div>
        );
      })}
    </nav>
  );
}

function NavigationLink({ screen }: { readonly screen: Screen }) {
  const { icon: Icon, path, title } = screen;
  return (
    <ScreenLink
      path={path}
      activeOptions={{ exact: path === '' }}
      className="flex h-10 items-center gap-2.5 rounded-lg px-2.5 font-medium md:h-8 [&>svg]:size-4"
      inactiveProps={{ className: 'text-soft hover:bg-line/60 hover:text-ink [&>svg]:text-faint' }}
      activeProps={{ className: 'bg-tint text-accent' }}
    >
      <Icon aria-hidden />
      {title}
    </ScreenLink>
  );
}

/** On phones: the first four screens at the thumb, and the rest behind a button. */
export function PhoneBar({ onMore }: { readonly onMore: () => void }) {
  const first = useScreens()
    .filter(({ group }) => group !== 'none')
    .slice(0, 4);
  if (first.length === 0) return null;
  const item =
    'flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs font-medium [&>svg]:size-5';
  return (
    <nav
      aria-label="Main screens"
      className="fixed inset-x-0 bottom-0 z-30 flex border-t border-line bg-raised pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {first.map(({ path, title, icon: Icon }) => (
        <ScreenLink
          key={path}
          path={path}
          activeOptions={{ exact: path === '' }}
          className={item}
          inactiveProps={{ className: 'text-soft' }}
          activeProps={{ className: 'text-accent' }}
        >
          <Icon aria-hidden />
          {title}
        </ScreenLink>
      ))}
      <button type="button" onClick={onMore} className={classNames(item, 'text-soft')}>
        <Ellipsis aria-hidden />
        More
      </button>
    </nav>
  );
}
