import { Link, useRouter } from '@tanstack/react-router';
import { ApiFailure } from '../api/failure.ts';
import { buttonClass } from '../ui/button.tsx';
import { useTitle } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';
import { roleTitle } from './roles.ts';
import { ScreenLink } from './screen-link.tsx';

/** A screen that broke or did not load; the rest of the page stays. */
export function RouteFailure({ error }: { readonly error: unknown }) {
  const router = useRouter();
  // What is no answer of the service is a fault of the page, or a file of it that is gone: only another page helps.
  const retry = () => (error instanceof ApiFailure ? void router.invalidate() : location.reload());
  return (
    <div className="mx-auto max-w-lg py-16">
      <Failed error={error} onRetry={retry} />
    </div>
  );
}

/** An address of nothing; the navigation around it stays. */
export function NotFound() {
  useTitle('Not found');
  return (
    <div className="flex min-h-[60dvh] flex-col items-center justify-center gap-4 p-6 text-center">
      <div>
        <h1 className="text-2xl font-semibold">There is nothing here</h1>
        <p className="mt-1 text-soft">The address is wrong, or what was here is gone.</p>
      </div>
      <Link to="/" className={buttonClass('primary')}>
        To the dashboard
      </Link>
    </div>
  );
}

/** An address of a merchant that the person does not act for, or no longer. Whether there is such a merchant is not told. */
export function NoMember() {
  useTitle('No member');
  return (
    <div className="flex min-h-[60dvh] flex-col items-center justify-center gap-4 p-6 text-center">
      <div>
        <h1 className="text-2xl font-semibold">You are not a member of this shop</h1>
        <p className="mt-1 max-w-sm text-balance text-soft">
          Your membership has ended, or the address is wrong. An owner or an admin of the shop can invite you.
        </p>
      </div>
      <Link to="/" className={buttonClass('primary')}>
        To the dashboard
      </Link>
    </div>
  );
}

/** A screen of the merchant that the member's role does not open. */
export function ClosedToRole({ title, role }: { readonly title: string; readonly role: string }) {
  useTitle(title);
  return (
    <div className="flex min-h-[60dvh] flex-col items-center justify-center gap-4 p-6 text-center">
      <div>
        <h1 className="text-2xl font-semibold">Your role does not open this screen</h1>
        <p className="mt-1 max-w-sm text-balance text-soft">
          “{title}” is closed to the role {roleTitle(role)}.
          {role !== 'staff' && ' An owner or an admin of the shop can give you another one.'}
        </p>
      </div>
      <ScreenLink path="" className={buttonClass('primary')}>
        To the first screen
      </ScreenLink>
    </div>
  );
}
