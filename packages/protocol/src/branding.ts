import Type, { type Static } from 'typebox';
import { brandFonts, cornerRadii } from './brand-look.ts';
import { route } from './route.ts';
import { httpsUrl, ignored, imageUrl, nameText, strictObject, timestampText } from './schema.ts';

const hexColor = (description: string) => Type.String({ pattern: '^(#[0-9a-fA-F]{6})?$', description });
const optionalUrl = (description: string) => Type.Union([Type.Literal(''), httpsUrl(1_000)], { description });

/** Everything of the look but its images. */
const look = {
  color: hexColor(
    'Colour of buttons, exactly as it is, with black or white text by contrast; `#` and six hexadecimal digits, or empty for the page’s default. Links show it darker or lighter where it would be hard to read',
  ),
  background: hexColor('Colour behind the order; empty: the page’s default, which follows the device'),
  cornerRadius: Type.Integer({
    minimum: cornerRadii.least,
    maximum: cornerRadii.most,
    description: 'Of buttons, fields and notes, in pixels',
  }),
  font: Type.Enum(brandFonts, { description: 'A family of fonts that devices have: pages load none' }),
  legalName: nameText({
    min: 0,
    max: 100,
    description: 'On receipts and below the payment; empty: the merchant’s name',
  }),
  supportUrl: optionalUrl('Where payers get help; empty: nowhere'),
  termsUrl: optionalUrl('The merchant’s terms; empty: none'),
  refundUrl: optionalUrl('How the merchant refunds; empty: nowhere'),
  privacyUrl: optionalUrl('The merchant’s privacy policy; empty: none'),
} as const;

export const brandLook = Type.Object(look);
export type BrandLook = Static<typeof brandLook>;

/** Origins whose pages may embed a merchant's checkout. */
const embedOrigins = Type.Array(
  Type.String({
    format: 'https-url',
    // An origin becomes part of a policy, where other characters of a host name would have a meaning.
    pattern: '^[a-z]+://[A-Za-z0-9.-]+(:[0-9]{1,5})?$',
    maxLength: 300,
  }),
  {
    maxItems: 20,
    description:
      'Origins of the merchant’s shops, such as `https://shop.example`. Their pages may frame the checkout and hear what became of a payment; every other page is refused',
  },
);

const hosted = (description: string) => Type.String({ description });

/** The appearance of a merchant's hosted pages. */
export const branding = Type.Object({
  logoUrl: hosted('The hosted copy; empty when there is none'),
  darkLogoUrl: hosted('The logo for dark backgrounds; empty: the logo on a white plate'),
  iconUrl: hosted(
    'A square icon, in place of a logo and in browsers’ tabs; empty: the first letter of the name',
  ),
  ...look,
  embedOrigins,
  updateAt: Type.Union([Type.Literal(''), timestampText], {
    description: 'YYYY-MM-DD HH:MM:SS, UTC; empty before the first update',
  }),
});
export type Branding = Static<typeof branding>;

const optionalImage = Type.Optional(Type.Union([Type.Literal(''), imageUrl]));

/** POST /branding/update: what is left out stays. */
export const brandingUpdateBody = strictObject({
  logoUrl: optionalImage,
  darkLogoUrl: optionalImage,
  iconUrl: optionalImage,
  ...Type.Partial(brandLook).properties,
  embedOrigins: Type.Optional(embedOrigins),
  ifUpdateAt: Type.Optional(
    Type.Union([Type.Literal(''), timestampText], {
      description:
        '`updateAt` of the branding as it was read. Refused with 100308 if the branding changed since',
    }),
  ),
  ...ignored('updateAt'),
});

/** The appearance of the hosted pages, in the merchant API. */
export const brandingRoutes = {
  getBranding: route({
    method: 'GET',
    path: '/branding/detail',
    summary: 'Read the branding of the hosted pages',
    description: 'Before the first update pages have their default look, without a logo or links.',
    tag: 'Branding',
    reply: branding,
    permissions: ['products:read'],
    effect: 'query',
  }),
  updateBranding: route({
    method: 'POST',
    path: '/branding/update',
    summary: 'Change the branding of the hosted pages',
    description:
      'Fields left out stay as they are. The images are downloaded during the request, which takes 10 seconds at most, and hosted like images of products; a current hosted URL keeps its image. When a download fails, the update is refused and nothing changes.',
    tag: 'Branding',
    body: brandingUpdateBody,
    permissions: ['products:write'],
    effect: 'update',
    errors: ['field_invalid', 'image_store_unavailable', 'branding_changed'],
  }),
} as const;
