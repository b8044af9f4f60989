import { useRouterState } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { useContext } from 'react';
import { shortId } from '../ui/format.ts';
import { AreaContext } from './open-screens.ts';
import { ScreenLink } from './screen-link.tsx';

/** Where the screen stands: the list that the page belongs to, and the page. */
export function Breadcrumbs() {
  const area = useContext(AreaContext);
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const parts = pathname.split('/').filter((part) => part !== '');
  const below = parts.slice(parts.indexOf(area?.base ?? '') + 1);
  const screen = area?.screens.find(({ path }) => path === (below[0] ?? ''));
  if (screen === undefined || below.length < 2) return null;
  return (
    <nav aria-label="Breadcrumbs">
      <ol className="flex items-center gap-1.5 text-soft">
        <li>
          <ScreenLink path={screen.path} className="hover:text-ink">
            {screen.title}
          </ScreenLink>
        </li>
        {below.slice(1).map((part) => (
          <li key={part} className="flex min-w-0 items-center gap-1.5" aria-current="page">
            <ChevronRight aria-hidden className="size-3.5 shrink-0 text-faint" />
            <span className="truncate text-ink">{part.includes('_') ? shortId(part) : part}</span>
          </li>
        ))}
      </ol>
    </nav>
  );
}
