import { readFileSync } from 'node:fs';

const packageFile = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

/** The version of the service. */
export const { version } = JSON.parse(packageFile) as { readonly version: string };
