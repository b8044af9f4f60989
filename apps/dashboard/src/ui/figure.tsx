import type { ReactNode } from 'react';
import { Card, Skeleton } from './page.tsx';

/** The main figures of a screen, side by side; below each other on phones. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="grid grid-cols-1 gap-3 min-[480px]:grid-cols-2 md:gap-4 xl:grid-cols-[repeat(auto-fit,minmax(11rem,1fr))]">
      {children}
    </dl>
  );
}

/** One figure with its name, and a few words about it. */
export function Figure({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: ReactNode;
  /** Undefined until it is known. */
  readonly children: ReactNode;
}) {
  return (
    <Card className="grid min-w-0 grid-cols-[auto_1fr] items-baseline gap-x-3 px-4 py-2.5 min-[480px]:block min-[480px]:p-4">
      <dt className="text-soft">{title}</dt>
      <dd className="my-1 flex h-8 min-w-0 items-center text-xl font-semibold tracking-tight max-[479px]:justify-end">
        {children === undefined ? (
          <Skeleton className="h-6 w-24" />
        ) : (
          <span className="truncate">{children}</span>
        )}
      </dd>
      {note !== undefined && <dd className="col-span-2 min-h-5 text-sm text-faint">{note}</dd>}
    </Card>
  );
}
