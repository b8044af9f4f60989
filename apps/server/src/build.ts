/** What a release builds ahead of the service's own pages. */

import { bundleSource } from '#http/checkout/assets.ts';
import { type BuiltAhead, scriptNames } from '#http/checkout/built-ahead.ts';
import { smallStyle } from '#http/checkout/style.ts';

/** The scripts and the style of the hosted pages, from their sources. */
export async function buildHostedPages(): Promise<BuiltAhead> {
  const [checkout, demo, claim] = await Promise.all(scriptNames.map(bundleSource));
  if (checkout === undefined || demo === undefined || claim === undefined)
    throw new Error('a script of the hosted pages was not built');
  return { style: smallStyle, scripts: { checkout, demo, claim } };
}
