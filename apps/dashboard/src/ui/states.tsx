import { CircleAlert, Lock, RotateCw, SearchX, WifiOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiFailure, sayFailure } from '../api/failure.ts';
import { Button } from './button.tsx';

function State({
  icon,
  title,
  children,
  action,
}: {
  readonly icon: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      <span className="mb-3 flex size-10 items-center justify-center rounded-xl border border-line bg-sunken text-soft [&>svg]:size-5">
        {icon}
      </span>
      <p className="text-lg font-semibold">{title}</p>
      {children !== undefined && <div className="mt-1 max-w-sm text-soft text-balance">{children}</div>}
      {action !== undefined && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** Nothing there yet: what the list is for, and the next act. */
export function Empty(props: {
  readonly icon: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return <State {...props} />;
}

/** Nothing there, in a part of a page that is about something else: one line. */
export function EmptyLine({ children }: { readonly children: ReactNode }) {
  return <p className="px-4 py-3 text-soft">{children}</p>;
}

/** The filters leave nothing. */
export function FilteredEmpty({ onClear }: { readonly onClear: () => void }) {
  return (
    <State
      icon={<SearchX />}
      title="Nothing matches"
      action={<Button onClick={onClear}>Clear filters</Button>}
    >
      Nothing fits all of the filters.
    </State>
  );
}

/** A read failed; what to do, and once more. What is not there, or not for the role, is not asked for again. */
export function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const isOffline = error instanceof ApiFailure && error.slug === 'no_connection';
  if (error instanceof ApiFailure && error.slug.endsWith('_not_found'))
    return (
      <State icon={<SearchX />} title="There is nothing here">
        {sayFailure(error)} The address is wrong, or what was here is gone.
      </State>
    );
  if (error instanceof ApiFailure && error.slug === 'role_forbidden')
    return (
      <State icon={<Lock />} title="Your role does not see this">
        Ask an owner or an admin for another role.
      </State>
    );
  // One line: the notice above the page says what is wrong, and a page may have several parts that wait.
  if (isOffline)
    return (
      <div role="status" className="flex items-center gap-3 px-4 py-3 text-soft">
        <WifiOff aria-hidden className="size-4 shrink-0" />
        Not loaded: no connection.
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      </div>
    );
  return (
    <div role="alert">
      <State
        icon={<CircleAlert />}
        title="This did not load"
        action={
          <Button icon={<RotateCw />} onClick={onRetry}>
            Try again
          </Button>
        }
      >
        {sayFailure(error)}
        {error instanceof ApiFailure && error.requestId !== '' && (
          <p className="mt-1 font-mono text-xs text-faint">{error.requestId}</p>
        )}
      </State>
    </div>
  );
}
