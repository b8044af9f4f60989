import type { ReplyTo } from '../api/call.ts';
import type { DraftPart } from '../ui/conflict.tsx';
import { colorOf } from './color.ts';

export type Brand = ReplyTo<'GET /branding/detail'>;
/** What is typed. Colours may be half typed. */
export type BrandDraft = Omit<Brand, 'updateAt'>;

export const imageFields = ['logoUrl', 'darkLogoUrl', 'iconUrl'] as const;
export const textFields = [
  'legalName',
  'supportUrl',
  'termsUrl',
  'refundUrl',
  'privacyUrl',
] as const satisfies readonly (keyof BrandDraft)[];

export function draftOf({ updateAt: _at, ...draft }: Brand): BrandDraft {
  return draft;
}

/** The draft as it is saved; undefined while a colour is no colour. */
export function savedOf(draft: BrandDraft): BrandDraft | undefined {
  const [color, background] = [colorOf(draft.color), colorOf(draft.background)];
  if (color === undefined || background === undefined) return undefined;
  const trimmed = Object.fromEntries(
    [...imageFields, ...textFields].map((field) => [field, draft[field].trim()]),
  );
  const embedOrigins = draft.embedOrigins.map((origin) => origin.trim()).filter((origin) => origin !== '');
  return { ...draft, ...trimmed, color, background, embedOrigins };
}

/** How a draft reads beside another one. */
export const brandParts: readonly DraftPart<BrandDraft>[] = (
  [
    ['Colour', 'color'],
    ['Background', 'background'],
    ['Corners', 'cornerRadius'],
    ['Letters', 'font'],
    ['Logo', 'logoUrl'],
    ['Logo for dark backgrounds', 'darkLogoUrl'],
    ['Icon', 'iconUrl'],
    ['Legal name', 'legalName'],
    ['Help', 'supportUrl'],
    ['Terms', 'termsUrl'],
    ['Refunds', 'refundUrl'],
    ['Privacy', 'privacyUrl'],
    ['Shops that embed the checkout', 'embedOrigins'],
  ] as const
).map(([name, field]) => ({ name, fields: [field], textOf: (draft) => String(draft[field]).trim() }));

/** Whether saving the draft would change the brand. */
export function isChanged(draft: BrandDraft, brand: Brand): boolean {
  const saved = savedOf(draft);
  return saved === undefined || JSON.stringify(saved) !== JSON.stringify(draftOf(brand));
}

/**
 * The look of the draft for its preview, which knows the stored images alone. A field that the service would refuse stays
 * as it is stored.
 */
export function previewedLook(draft: BrandDraft, brand: Brand) {
  const { logoUrl, darkLogoUrl, iconUrl, embedOrigins: _origins, ...look } = draft;
  const urlOf = (field: 'supportUrl' | 'termsUrl' | 'refundUrl' | 'privacyUrl') =>
    /^https:\/\/[^\s/]+\.[^\s]+$/.test(draft[field].trim()) ? draft[field].trim() : '';
  const isStored = (field: (typeof imageFields)[number]) =>
    draft[field].trim() !== '' && draft[field].trim() === brand[field];
  return {
    ...look,
    color: colorOf(draft.color) ?? brand.color,
    background: colorOf(draft.background) ?? brand.background,
    ...{ supportUrl: urlOf('supportUrl'), termsUrl: urlOf('termsUrl') },
    ...{ refundUrl: urlOf('refundUrl'), privacyUrl: urlOf('privacyUrl') },
    ...{ hasLogo: isStored('logoUrl'), hasDarkLogo: isStored('darkLogoUrl'), hasIcon: isStored('iconUrl') },
  };
}

/** The images that the preview does not show yet. */
export function unsavedImages(draft: BrandDraft, brand: Brand): boolean {
  return imageFields.some((field) => draft[field].trim() !== '' && draft[field].trim() !== brand[field]);
}
