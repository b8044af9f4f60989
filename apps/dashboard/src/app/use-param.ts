import { useParams } from '@tanstack/react-router';

/** A parameter of this page's address; empty where the address has none of the name. */
export function useParam(name: string): string {
  const params = useParams({ strict: false }) as Readonly<Record<string, string | undefined>>;
  return params[name] ?? '';
}
