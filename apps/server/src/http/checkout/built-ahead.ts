import { existsSync, readFileSync } from 'node:fs';

/**
 * The scripts: those of the hosted pages, `custom` of links whose payer chooses the amount, `embedded` of pages that a
 * shop's page opens or frames, `embeddedCustom` of both, and `embed`, the elements for the pages of shops.
 */
export type ScriptName =
  | 'checkout'
  | 'custom'
  | 'embedded'
  | 'embeddedCustom'
  | 'demo'
  | 'claim'
  | 'embed'
  | 'walletconnect';

/** Those that many installations never need. */
export const rareScripts = ['custom', 'embedded', 'embeddedCustom'] as const;
export type RareScript = (typeof rareScripts)[number];

/** What a release has built ahead for the hosted pages, so that it needs no bundler. */
export interface BuiltAhead {
  readonly style: string;
  readonly scripts: Readonly<Record<ScriptName, string>>;
}

const file = new URL('../../../../checkout/dist/built-ahead.json', import.meta.url);

/** Undefined in a checkout, which builds from the sources at each start. */
export const builtAhead: BuiltAhead | undefined = existsSync(file)
  ? (JSON.parse(readFileSync(file, 'utf8')) as BuiltAhead)
  : undefined;
