import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Front } from '../proof/front.tsx';
import { SignInForm } from '../proof/sign-in-form.tsx';

export default function SignIn() {
  const { next = '' } = useSearch({ strict: false }) as { next?: unknown };
  const navigate = useNavigate();
  const queries = useQueryClient();
  const enter = () => {
    queries.clear();
    // A path of the dashboard alone: `//evil.example` is none.
    const isPath = typeof next === 'string' && /^\/(?!\/)/.test(next);
    void navigate({ href: `/dashboard${isPath ? next : '/'}` });
  };
  return (
    <Front title="Sign in" description="To the dashboard of your shop.">
      <SignInForm onDone={enter} />
    </Front>
  );
}
