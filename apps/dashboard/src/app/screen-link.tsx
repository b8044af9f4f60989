import { Link, useNavigate } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { useMerchantId } from './merchant.ts';

/** The address of a screen of the merchant in the address, as `payments/ses_…`. */
export function useScreenPath(): (path: string) => string {
  const merchantId = useMerchantId() ?? '';
  return (path) => `/${merchantId}${path === '' ? '' : `/${path}`}`;
}

/** Goes to a screen of the merchant in the address. */
export function useGoTo(): (path: string) => void {
  const navigate = useNavigate();
  const pathOf = useScreenPath();
  return (path) => void navigate({ to: pathOf(path) });
}

/** A link to a screen of the merchant in the address. */
export function ScreenLink({
  path,
  ...rest
}: Omit<ComponentProps<typeof Link>, 'to'> & { readonly path: string }) {
  const pathOf = useScreenPath();
  return <Link {...rest} to={pathOf(path)} />;
}
