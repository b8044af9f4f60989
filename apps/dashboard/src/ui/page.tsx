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
    <header className="mb-6 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      {/* As high as a button, so that titles stand at one height with and without acts. */}
      <div className="flex min-h-10 min-w-0 grow flex-wrap items-center gap-x-3 gap-y-2 md:min-h-9 lg:basis-0">
        <h1 className="max-w-full text-2xl font-semibold tracking-tight text-balance wrap-anywhere">
          {title}
        </h1>
        {badge}
      </div>
      {actions !== undefined && (
        // On phones one act stands beside a plain title. Several, or those of one thing, stand below the description.
        <div
          className={classNames(
            'flex flex-wrap items-center gap-2 max-md:has-[>:nth-child(2)]:order-last max-md:has-[>:nth-child(2)]:basis-full',
            badge !== undefined && 'max-md:order-last max-md:basis-full',
          )}
        >
          {actions}
        </div>
      )}
      {description !== undefined && (
        <div className="-mt-1 min-w-0 basis-full">
          <p className="max-w-prose text-pretty text-soft">{description}</p>
        </div>
      )}
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
  id,
  title,
  description,
  actions,
  children,
}: {
  /** For links to the section. */
  readonly id?: string;
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section id={id} className="mt-8 scroll-mt-20 first:mt-0">
      <div className="mb-3 flex min-h-8 flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h2 className="text-lg font-semibold">{title}</h2>
          {description !== undefined && <p className="max-w-prose text-pretty text-soft">{description}</p>}
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
  return <dl className="@container divide-y divide-line">{children}</dl>;
}

export function Fact({
  name,
  isBlock = false,
  children,
}: {
  readonly name: ReactNode;
  /** The value needs the whole width where there is little. */
  readonly isBlock?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <div
      className={classNames(
        'grid gap-x-4 gap-y-1 py-2.5 first:pt-0 last:pb-0 @md:grid-cols-[11rem_minmax(0,1fr)]',
        !isBlock && 'grid-cols-[7.5rem_minmax(0,1fr)]',
      )}
    >
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </div>
  );
}

/** Facts that will be filled. */
export function SkeletonFacts({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div aria-hidden className="divide-y divide-line">
      {Array.from({ length: lines }, (_, index) => (
        <div key={String(index)} className="flex gap-6 py-3 first:pt-0.5 last:pb-0.5">
          <Skeleton className="h-4 w-24 md:w-36" />
          <Skeleton className={classNames('h-4', index % 2 === 0 ? 'w-40' : 'w-28')} />
        </div>
      ))}
    </div>
  );
}

/** The page of one thing that will be filled: facts, and beside them what stands at their side. */
export function SkeletonPage({ aside = false }: { readonly aside?: boolean }) {
  return (
    <div
      aria-busy
      className={classNames('grid items-start gap-6', aside && 'lg:grid-cols-[minmax(0,1fr)_20rem]')}
    >
      <div className="grid gap-6">
        <Card>
          <SkeletonFacts lines={3} />
        </Card>
        <Card>
          <SkeletonFacts lines={6} />
        </Card>
      </div>
      {aside && (
        <Card>
          <SkeletonFacts lines={4} />
        </Card>
      )}
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
