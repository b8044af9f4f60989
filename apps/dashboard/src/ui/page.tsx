import { type ReactNode, useEffect } from 'react';
import { classNames } from './class-names.ts';

/** The head of a screen: its title, one sentence, and its acts. */
export function PageHeader({
  title,
  description,
  actions,
  badge,
}: {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly badge?: ReactNode;
}) {
  useTitle(title);
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-64">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="max-w-full text-2xl font-semibold tracking-tight text-balance wrap-anywhere">
            {title}
          </h1>
          {badge}
        </div>
        {description !== undefined && <p className="mt-1 max-w-prose text-soft">{description}</p>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

/** Names the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Florin`;
  }, [title]);
}

/** A part of a screen with a title of its own. */
export function Section({
  title,
  description,
  actions,
  children,
}: {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="mt-8 first:mt-0">
      <div className="mb-3 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h2 className="text-lg font-semibold">{title}</h2>
          {description !== undefined && <p className="max-w-prose text-soft">{description}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** A framed area. */
export function Card({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  return (
    <div className={classNames('rounded-xl border border-line bg-raised', className ?? 'p-4 md:p-5')}>
      {children}
    </div>
  );
}

/** Names and their values, as on the page of one payment. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="divide-y divide-line">{children}</dl>;
}

export function Fact({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="grid gap-x-4 gap-y-0.5 py-2.5 sm:grid-cols-[11rem_1fr]">
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

/** A place that will be filled; as large as what comes, so that nothing jumps. */
export function Skeleton({ className }: { readonly className?: string }) {
  return (
    <span
      aria-hidden
      className={classNames('block animate-pulse rounded-md bg-line', className ?? 'h-4 w-24')}
    />
  );
}
