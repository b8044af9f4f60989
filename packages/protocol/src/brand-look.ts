/** The fonts of hosted pages: families that devices have, so that a page loads none. */
export const brandFonts = ['system', 'humanist', 'geometric', 'rounded', 'serif'] as const;
export type BrandFont = (typeof brandFonts)[number];

/** Corners of buttons, fields and notes, in pixels. */
export const cornerRadii = { least: 0, most: 24, usual: 12 } as const;

/** The look of hosted pages before a merchant changes it. */
export const plainLook = {
  color: '',
  background: '',
  cornerRadius: cornerRadii.usual,
  font: 'system',
  legalName: '',
  supportUrl: '',
  termsUrl: '',
  refundUrl: '',
  privacyUrl: '',
} as const;
