import { useQuery } from '@tanstack/react-query';
import { send } from '../api/call.ts';
import { meKey } from './me-key.ts';
import type { Me } from './merchant.ts';

/** Reads who is signed in. Throws `sign_in_required` for a visitor. */
export const readMe = () => send('GET /me', {}, { merchantId: undefined }) as Promise<Me>;

/** The person who is signed in. Below the shell there is always one. */
export function useMe(): Me {
  const { data } = useQuery({
    queryKey: meKey,
    queryFn: readMe,
  });
  if (data === undefined) throw new Error('the shell stands without a person');
  return data;
}
