import { useRouterState } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useContext } from 'react';
import { shortId } from '../ui/format.ts';
import { AreaContext } from './open-screens.ts';
import { ScreenLink } from './screen-link.tsx';

/** The list that the page belongs to, and the page's own parts of the address; undefined on a list. */
function useTrail() {
  const area = useContext(AreaContext);
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const parts = pathname.split('/').filter((part) => part !== '');
  const [first = '', ...pages] = parts.slice(parts.indexOf(area?.base ?? '') + 1);
  const screen = area?.screens.find(({ path }) => path === first);
  return screen === undefined || pages.length === 0 ? undefined : { screen, pages };
}

const pageName = (part: string) =>
  part.includes('_') ? shortId(part) : `${part.charAt(0).toUpperCase()}${part.slice(1)}`;

/** Where the screen stands: the list that the page belongs to, and the page. */
export function Breadcrumbs() {
  const trail = useTrail();
  if (trail === undefined) return null;
  const { screen, pages } = trail;
  return (
    <nav aria-label="Breadcrumbs">
      <ol className="flex items-center gap-1.5 text-soft">
        <li>
          <ScreenLink path={screen.path} className="hover:text-ink">
            {screen.title}
          </ScreenLink>
        </li>
        {pages.map((part) => (
          <li key={part} className="flex min-w-0 items-center gap-1.5" aria-current="page">
            <ChevronRight aria-hidden className="size-3.5 shrink-0 text-faint" />
            <span className="truncate text-ink">{pageName(part)}</span>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** On phones, which have no room for more: the way back to the list. */
export function WayBack() {
  const trail = useTrail();
  if (trail === undefined) return null;
  return (
    <ScreenLink
      path={trail.screen.path}
      className="-mt-1.5 mb-1.5 -ml-1 inline-flex h-8 items-center gap-0.5 text-soft hover:text-ink md:hidden print:hidden"
    >
      <ChevronLeft aria-hidden className="size-4" />
      {trail.screen.title}
    </ScreenLink>
  );
}
