import { brandFonts, cornerRadii } from '@florin/protocol/brand-look.ts';
import { AreaField, Field, TextField } from '../ui/field.tsx';
import { ImageField, type TrackUpload } from '../ui/image-field.tsx';
import { Card } from '../ui/page.tsx';
import { SelectField } from '../ui/select.tsx';
import type { BrandDraft } from './brand-draft.ts';
import { colorOf } from './color.ts';
import { ColorField, LinkColorNotes } from './color-field.tsx';

interface Fields {
  readonly draft: BrandDraft;
  readonly change: (part: Partial<BrandDraft>) => void;
  readonly errorOf: (field: keyof BrandDraft) => string | undefined;
}

/** What the page shows while a colour is empty. */
const usual = { color: '#0b6b4d', background: '#f4f5f3' } as const;

const fontNames: Readonly<Record<(typeof brandFonts)[number], string>> = {
  system: 'Of the device',
  humanist: 'Humanist',
  geometric: 'Geometric',
  rounded: 'Rounded',
  serif: 'Serif',
};

/** Colours, corners and letters. */
export function LookFields({ draft, change, errorOf, isWrong }: Fields & { readonly isWrong: boolean }) {
  const colorError = (field: 'color' | 'background') =>
    isWrong && colorOf(draft[field]) === undefined ? 'Write # and six digits from 0 to f.' : errorOf(field);
  return (
    <Card>
      <div className="grid grid-cols-1 gap-5">
        <ColorField
          label="Colour"
          hint="The colour of buttons, exactly as you choose it. Empty: the colour of the page."
          usual={usual.color}
          typed={draft.color}
          onChange={(color) => change({ color })}
          error={colorError('color')}
        />
        <LinkColorNotes color={colorOf(draft.color)} />
        <ColorField
          label="Background"
          hint="The colour behind the order. Empty: light or dark, as the payer's device prefers."
          usual={usual.background}
          typed={draft.background}
          onChange={(background) => change({ background })}
          error={colorError('background')}
        />
        <Field label="Corners" hint="How round buttons and fields are.">
          {(parts) => (
            <span className="flex items-center gap-3">
              <input
                {...parts}
                type="range"
                min={cornerRadii.least}
                max={cornerRadii.most}
                value={draft.cornerRadius}
                onChange={(event) => change({ cornerRadius: event.target.valueAsNumber })}
                className="h-10 w-full accent-accent md:h-9"
              />
              <output className="w-14 shrink-0 text-right tabular-nums">{draft.cornerRadius} px</output>
            </span>
          )}
        </Field>
        <SelectField
          label="Letters"
          hint="Fonts that devices have, so that the page loads none."
          value={draft.font}
          onChange={(font) => change({ font })}
          options={brandFonts.map((value) => ({ value, label: fontNames[value] }))}
        />
      </div>
    </Card>
  );
}

const images = [
  ['logoUrl', 'Logo', 'A jpeg, png or webp picture. Florin keeps a copy of it.'],
  ['darkLogoUrl', 'Logo for dark backgrounds', 'Without it, dark pages show the logo on a white plate.'],
  ['iconUrl', 'Icon', 'A square picture: in place of a logo, in tabs of browsers and in chats.'],
] as const;

/** The pictures of the brand. */
export function ImageFields({
  draft,
  change,
  errorOf,
  track,
  hasUnsaved,
}: Fields & { readonly track: TrackUpload; readonly hasUnsaved: boolean }) {
  return (
    <Card>
      <div className="grid grid-cols-1 gap-5">
        {images.map(([field, label, hint]) => (
          <ImageField
            key={field}
            label={label}
            hint={hint}
            fit="contain"
            value={draft[field]}
            onChange={(url) => change({ [field]: url })}
            track={track}
            error={errorOf(field)}
          />
        ))}
        {hasUnsaved && (
          <p className="text-sm text-soft">The preview shows new pictures once they are saved.</p>
        )}
      </div>
    </Card>
  );
}

const links = [
  ['supportUrl', 'Help', 'Where payers get help.'],
  ['termsUrl', 'Terms', 'Your terms of sale.'],
  ['refundUrl', 'Refunds', 'How you refund.'],
  ['privacyUrl', 'Privacy', 'Your privacy policy.'],
] as const;

/** What stands below the payment and on receipts. */
export function LinkFields({ draft, change, errorOf }: Fields) {
  return (
    <Card>
      <div className="grid grid-cols-1 gap-5">
        <TextField
          label="Legal name"
          hint="On receipts and below the payment. Empty: the name of the shop."
          isOptional
          maxLength={100}
          value={draft.legalName}
          onChange={(legalName) => change({ legalName })}
          error={errorOf('legalName')}
        />
        {links.map(([field, label, hint]) => (
          <TextField
            key={field}
            label={label}
            hint={hint}
            isOptional
            type="url"
            inputMode="url"
            maxLength={1000}
            placeholder="https://"
            value={draft[field]}
            onChange={(url) => change({ [field]: url })}
            error={errorOf(field)}
          />
        ))}
      </div>
    </Card>
  );
}

/** Which shops may have the checkout in their own pages. */
export function EmbedFields({ draft, change, errorOf }: Fields) {
  return (
    <Card>
      <AreaField
        label="Shops that embed the checkout"
        hint="One origin per line, such as https://shop.example. Their pages may show the checkout inside them; no other page may."
        isOptional
        value={draft.embedOrigins.join('\n')}
        onChange={(typed) => change({ embedOrigins: typed === '' ? [] : typed.split('\n') })}
        error={errorOf('embedOrigins')}
      />
    </Card>
  );
}
