import Type, { type Static } from 'typebox';
import { brandLook } from './branding.ts';
import { idText, strictObject, text } from './schema.ts';

const microUsdText = Type.String({ pattern: '^[0-9]{0,15}$' });

/**
 * A hosted page as the dashboard previews it: `GET /dashboard/preview?draft=` with this as JSON. The merchant's name and
 * images are the stored ones.
 */
export const hostedPreview = strictObject({
  merchantId: idText,
  look: strictObject({
    ...brandLook.properties,
    /** Whether the stored images are shown. */
    hasLogo: Type.Boolean(),
    hasDarkLogo: Type.Boolean(),
    hasIcon: Type.Boolean(),
  }),
  scheme: Type.Enum(['light', 'dark']),
  title: text({ max: 100 }),
  amount: Type.String({ ...microUsdText, description: 'Micro-USD; empty: the payer chooses' }),
  settlementToken: Type.Optional(
    text({ max: 64, description: 'The token that the merchant receives: the first to pay with' }),
  ),
  isFeeOnTop: Type.Boolean(),
  isEmailRequired: Type.Boolean(),
  items: Type.Array(
    strictObject({
      productId: text({ max: 64, description: 'Shown as it is now; empty: an item without a product' }),
      name: text({ max: 100, description: 'Of an item without a product' }),
      quantity: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
      value: Type.String({ ...microUsdText, description: 'Of all units, in Micro-USD; empty: open' }),
    }),
    { maxItems: 20 },
  ),
});
export type HostedPreview = Static<typeof hostedPreview>;
