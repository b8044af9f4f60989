import { Link, useNavigate } from '@tanstack/react-router';
import { type ComponentProps, useContext } from 'react';
import { AreaContext } from './open-screens.ts';

/** The address of a screen of this area, as `payments/ses_…`. */
export function useScreenPath(): (path: string) => string {
  const base = useContext(AreaContext)?.base ?? '';
  return (path) => `/${base}${path === '' ? '' : `/${path}`}`;
}

/** Goes to a screen of this area, by default without filters in the address. */
export function useGoTo(): (path: string, search?: Readonly<Record<string, string>>) => void {
  const navigate = useNavigate();
  const pathOf = useScreenPath();
  return (path, search = {}) => void navigate({ to: pathOf(path), search });
}

/** A link to a screen of this area. */
export function ScreenLink({
  path,
  ...rest
}: Omit<ComponentProps<typeof Link>, 'to'> & { readonly path: string }) {
  const pathOf = useScreenPath();
  return <Link {...rest} to={pathOf(path)} />;
}
