import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { buttonClass } from '../ui/button.tsx';
import { useTitle } from '../ui/page.tsx';

/** The frame of a page for a person who is not signed in. */
export function Front({
  title,
  description,
  children,
}: {
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
}) {
  useTitle(title);
  return (
    <main data-front className="flex min-h-dvh flex-col items-center bg-sunken px-4 py-[8vh]">
      <img src="/dashboard/icon.svg" alt="Florin" className="mb-6 size-11" />
      <div className="w-full max-w-md rounded-2xl border border-line bg-raised p-6 shadow-card md:p-8">
        <h1 className="text-xl font-semibold text-balance">{title}</h1>
        {description !== undefined && <p className="mt-1 text-soft">{description}</p>}
        <div className="mt-6">{children}</div>
      </div>
    </main>
  );
}

/** The way on for a person who has an account and needs no link. */
export function SignInInstead({ question }: { readonly question: string }) {
  return (
    <div className="mt-6 grid gap-2 border-t border-line pt-6">
      <p className="text-soft">{question}</p>
      <Link to="/sign-in" className={buttonClass('plain')}>
        Sign in
      </Link>
    </div>
  );
}
