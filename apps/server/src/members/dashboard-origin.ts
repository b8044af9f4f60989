/** The origin of the dashboard's pages. Passkeys need a name, so that of a local world is localhost. */
export function dashboardOriginOf({
  origin,
  environment,
}: {
  readonly origin: string;
  readonly environment?: 'local' | 'production' | undefined;
}): string {
  return environment === 'local' ? origin.replace('//127.0.0.1', '//localhost') : origin;
}
