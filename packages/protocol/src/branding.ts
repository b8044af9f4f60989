import Type, { type Static } from 'typebox';
import { route } from './route.ts';
import { ignored, imageUrl, successReply, timestampText } from './schema.ts';

/** The appearance of a merchant's hosted pages. */
export const branding = Type.Object({
  logoUrl: Type.String({ description: 'The hosted copy; empty when there is none' }),
  color: Type.String({
    description:
      'Colour of buttons and links, `#` and six lower-case hexadecimal digits; empty: the page’s default. Pages show it darker or lighter where text would be hard to read',
  }),
  updateAt: Type.Union([Type.Literal(''), timestampText], { description: 'Empty before the first update' }),
});
export type Branding = Static<typeof branding>;

/** POST /branding/update: full replacement. */
const brandingUpdateBody = Type.Object(
  {
    logoUrl: Type.Optional(Type.Union([Type.Literal(''), imageUrl])),
    color: Type.Optional(
      Type.String({
        pattern: '^(#[0-9a-fA-F]{6})?$',
        description: '`#` and six hexadecimal digits, or empty for the page’s default',
      }),
    ),
    ...ignored('updateAt'),
  },
  { additionalProperties: false },
);

/** The appearance of the hosted pages, in the merchant API. */
export const brandingRoutes = {
  getBranding: route({
    method: 'GET',
    path: '/branding/detail',
    summary: 'Read the branding of the hosted pages',
    description: 'Everything is empty before the first update; pages then have default colours and no logo.',
    tag: 'Branding',
    reply: branding,
    permissions: ['products:read'],
    effect: 'query',
    errors: [],
  }),
  updateBranding: route({
    method: 'POST',
    path: '/branding/update',
    summary: 'Replace the branding of the hosted pages',
    description:
      'Full replacement: fields left out are reset. The logo is downloaded during the request, which takes 10 seconds at most, and hosted like images of products; the current hosted URL keeps it. When the download fails, the update is refused and nothing changes.',
    tag: 'Branding',
    body: brandingUpdateBody,
    reply: successReply,
    permissions: ['products:write'],
    effect: 'update',
    errors: ['field_invalid', 'image_store_unavailable'],
  }),
} as const;
