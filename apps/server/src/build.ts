/** What a release builds ahead of the service's own pages. */

import { bundleSource } from '#http/checkout/assets.ts';
import type { BuiltAhead } from '#http/checkout/built-ahead.ts';
import { smallStyle } from '#http/checkout/style.ts';

/** The scripts and the style of the hosted pages, from their sources. */
export async function buildHostedPages(): Promise<BuiltAhead> {
  const [checkout, custom, embedded, embeddedCustom, demo, claim, embed, walletconnect] = await Promise.all([
    bundleSource('checkout'),
    bundleSource('custom'),
    bundleSource('embedded'),
    bundleSource('embeddedCustom'),
    bundleSource('demo'),
    bundleSource('claim'),
    bundleSource('embed'),
    bundleSource('walletconnect'),
  ]);
  return {
    style: smallStyle,
    scripts: { checkout, custom, embedded, embeddedCustom, demo, claim, embed, walletconnect },
  };
}
