import { useEffect, useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { fieldError } from '../api/failure.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { Button } from '../ui/button.tsx';
import { Field, inputClass } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { ImageField } from '../ui/image-field.tsx';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { Card, PageHeader, SkeletonPage } from '../ui/page.tsx';
import { PagePreview, type PreviewedOrder } from '../ui/page-preview.tsx';
import { Failed } from '../ui/states.tsx';
import { toast } from '../ui/toast.tsx';
import { colorOf, warningsOf } from './color.ts';

type Brand = ReplyTo<'GET /branding/detail'>;

const example: PreviewedOrder = {
  title: 'Spring order',
  amount: '64500000',
  isFeeOnTop: false,
  isEmailRequired: false,
  items: [
    { productId: '', name: 'Stoneware mug', quantity: 2, value: '50000000' },
    { productId: '', name: 'Coffee, 250 g', quantity: 1, value: '14500000' },
  ],
};

/** What the colour field of the browser shows while no colour is chosen: the page's own. */
const pageColor = '#0b6b4d';

/** The look of the hosted pages, with a preview that follows what is typed. */
export default function Branding() {
  const read = useRead('GET /branding/detail', {});
  return (
    <>
      <PageHeader
        title="Branding"
        description="The logo and the colour of the pages on which your payers pay."
      />
      {read.data !== undefined && <Editor brand={read.data} />}
      {read.data === undefined && read.error !== null && (
        <Failed error={read.error} onRetry={() => void read.refetch()} />
      )}
      {read.data === undefined && read.error === null && <SkeletonPage aside />}
    </>
  );
}

function Editor({ brand }: { readonly brand: Brand }) {
  const mayChange = mayDo(useMerchant().role, 'products:write');
  const [typed, setTyped] = useState(brand.color);
  const [logoUrl, setLogoUrl] = useState(brand.logoUrl);
  const [isWrong, setWrong] = useState(false);
  // The logo has another address once it is saved. The preview stays as it was looked at.
  useEffect(() => {
    setTyped(brand.color);
    setLogoUrl(brand.logoUrl);
  }, [brand.color, brand.logoUrl]);
  const update = useWrite('POST /branding/update', { onDone: () => toast('Branding saved') });
  const color = colorOf(typed);
  const isChanged = color !== brand.color || logoUrl.trim() !== brand.logoUrl;
  const isNewLogo = logoUrl.trim() !== '' && logoUrl.trim() !== brand.logoUrl;
  const type = (text: string) => {
    setTyped(text);
    setWrong(false);
    update.reset();
  };
  const save = () => {
    setWrong(color === undefined);
    if (color !== undefined) void update.run({ body: { color, logoUrl: logoUrl.trim() } });
  };
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.2fr)]">
      <Card>
        <form onSubmit={onSubmit(save)} noValidate>
          <fieldset disabled={!mayChange} className="grid gap-5">
            <ColorField
              typed={typed}
              color={color}
              onChange={type}
              error={isWrong ? 'Write # and six digits from 0 to f.' : fieldError(update.error, 'color')}
            />
            <ImageField
              label="Logo"
              hint="A jpeg, png or webp picture. Florin keeps a copy of it."
              fit="contain"
              value={logoUrl}
              onChange={(url) => {
                setLogoUrl(url);
                update.reset();
              }}
              error={fieldError(update.error, 'logoUrl')}
            />
            {isNewLogo && <p className="-mt-3 text-sm text-soft">The preview shows it once it is saved.</p>}
            <FailureNotice error={update.error} fields={['color', 'logoUrl']} />
            {mayChange && (
              <div className="flex justify-end gap-2">
                {isChanged && (
                  <Button
                    disabled={update.isRunning}
                    onClick={() => {
                      type(brand.color);
                      setLogoUrl(brand.logoUrl);
                    }}
                  >
                    Undo
                  </Button>
                )}
                <Button type="submit" kind="primary" isBusy={update.isRunning} disabled={!isChanged}>
                  Save
                </Button>
              </div>
            )}
          </fieldset>
        </form>
      </Card>
      <PagePreview
        color={color ?? brand.color}
        hasLogo={logoUrl.trim() !== '' && !isNewLogo}
        order={example}
      />
    </div>
  );
}

function ColorField({
  typed,
  color,
  onChange,
  error,
}: {
  readonly typed: string;
  readonly color: string | undefined;
  readonly onChange: (typed: string) => void;
  readonly error: string | undefined;
}) {
  const warnings = color === undefined || color === '' ? [] : warningsOf(color);
  return (
    <div className="grid gap-2">
      <Field
        label="Colour"
        hint="Of buttons and links. Empty: the colour of the page."
        isOptional
        error={error}
      >
        {(parts) => (
          <div className="flex gap-2">
            <input
              type="color"
              aria-label="Choose the colour"
              value={color === undefined || color === '' ? pageColor : color}
              onChange={(event) => onChange(event.target.value)}
              className="h-10 w-14 shrink-0 cursor-pointer rounded-lg border border-line-strong bg-raised p-1 md:h-9"
            />
            <input
              {...parts}
              value={typed}
              onChange={(event) => onChange(event.target.value)}
              placeholder={pageColor}
              maxLength={9}
              spellCheck={false}
              autoComplete="off"
              className={`${inputClass} h-10 font-mono md:h-9`}
            />
          </div>
        )}
      </Field>
      {warnings.map(({ scheme, shown }) => (
        <Notice key={scheme} tone="warn">
          Hard to read on {scheme} pages, so they show{' '}
          <span className="inline-flex items-center gap-1.5 font-mono text-sm">
            <span
              aria-hidden
              className="size-3.5 rounded-full border border-line-strong"
              style={{ background: shown }}
            />
            {shown}
          </span>
          .
        </Notice>
      ))}
    </div>
  );
}
