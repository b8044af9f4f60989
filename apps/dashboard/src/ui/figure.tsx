import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { Skeleton } from './page.tsx';

/** The main figures of a screen, side by side; as rows of one card on phones. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="grid grid-cols-1 gap-3 max-[479px]:gap-0 max-[479px]:divide-y max-[479px]:divide-line max-[479px]:rounded-xl max-[479px]:border max-[479px]:border-line max-[479px]:bg-raised min-[480px]:grid-cols-2 md:gap-4 xl:grid-cols-[repeat(auto-fit,minmax(11rem,1fr))]">
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
    <div className="grid min-w-0 grid-cols-[1fr_auto] gap-x-3 px-4 py-2 min-[480px]:block min-[480px]:rounded-xl min-[480px]:border min-[480px]:border-line min-[480px]:bg-raised min-[480px]:p-4">
      <dt
        className={classNames(
          'text-soft',
          note === undefined && 'max-[479px]:row-span-2 max-[479px]:self-center',
        )}
      >
        {title}
      </dt>
      <dd className="my-1 flex h-8 min-w-0 items-center text-xl font-semibold tracking-tight max-[479px]:col-start-2 max-[479px]:row-span-2 max-[479px]:row-start-1 max-[479px]:self-center">
        {children === undefined ? (
          <Skeleton className="h-6 w-24" />
        ) : (
          <span className="truncate">{children}</span>
        )}
      </dd>
      {note !== undefined && <dd className="min-h-5 text-sm text-faint">{note}</dd>}
    </div>
  );
}
