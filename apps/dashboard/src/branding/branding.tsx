import { useState } from 'react';
import { fieldError, sayFailure } from '../api/failure.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { Button } from '../ui/button.tsx';
import { ConflictNotice } from '../ui/conflict.tsx';
import { useDraftGuard } from '../ui/draft-guard.tsx';
import { onSubmit } from '../ui/form.ts';
import { useUploads } from '../ui/image-field.tsx';
import { FailureNotice } from '../ui/notice.tsx';
import { PageHeader, SkeletonPage } from '../ui/page.tsx';
import { PagePreview, type PreviewedOrder } from '../ui/page-preview.tsx';
import { Failed } from '../ui/states.tsx';
import { toast } from '../ui/toast.tsx';
import {
  type Brand,
  type BrandDraft,
  brandParts,
  draftOf,
  isChanged,
  previewedLook,
  savedOf,
  unsavedImages,
} from './brand-draft.ts';
import { EmbedFields, ImageFields, LinkFields, LookFields } from './brand-fields.tsx';

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

/** The look of the hosted pages, with a preview that follows what is typed. */
export default function Branding() {
  const read = useRead('GET /branding/detail', {});
  return (
    <>
      <PageHeader
        title="Branding"
        description="The look of the pages on which your payers pay, and what stands below the payment."
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
  const [draft, setDraft] = useState(draftOf(brand));
  const [isWrong, setWrong] = useState(false);
  // What the draft began with. What another member saves meanwhile replaces nothing that was typed.
  const [base, setBase] = useState<Brand | undefined>(brand);
  const begin = () => setBase(undefined);
  // An image has another address once it is saved. The preview stays as it was looked at.
  if (base === undefined || (brand !== base && !isChanged(draft, base))) {
    setBase(brand);
    setDraft(draftOf(brand));
  }
  const update = useWrite('POST /branding/update', {
    onDone: () => {
      begin();
      toast('Branding saved');
    },
  });
  const change = (part: Partial<BrandDraft>) => {
    setDraft((latest) => ({ ...latest, ...part }));
    setWrong(false);
    if (update.error?.slug !== 'branding_changed') update.reset();
  };
  const undo = () => {
    begin();
    setWrong(false);
    update.reset();
  };
  const save = () => {
    const body = savedOf(draft);
    setWrong(body === undefined);
    if (body !== undefined) void update.run({ body: { ...body, ifUpdateAt: (base ?? brand).updateAt } });
  };
  const { isUploading, track } = useUploads();
  const { question } = useDraftGuard(mayChange && (isUploading || isChanged(draft, base ?? brand)));
  const isConflict = update.error?.slug === 'branding_changed';
  // The person has seen what differs: what was typed is now based on what is stored.
  const settle = () => {
    setBase(brand);
    update.reset();
  };
  const errorOf = (field: keyof BrandDraft) => fieldError(update.error, field);
  return (
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.2fr)]">
      <form onSubmit={onSubmit(save)} noValidate className="grid grid-cols-1 gap-6">
        <fieldset disabled={!mayChange} className="contents">
          <LookFields {...{ draft, change, errorOf, isWrong }} />
          <ImageFields {...{ draft, change, errorOf, track }} hasUnsaved={unsavedImages(draft, brand)} />
          <LinkFields {...{ draft, change, errorOf }} />
          <EmbedFields {...{ draft, change, errorOf }} />
          <div data-acts className="grid gap-3">
            {isConflict ? (
              <ConflictNotice
                title={sayFailure(update.error)}
                parts={brandParts}
                stored={base !== undefined && brand.updateAt === base.updateAt ? undefined : draftOf(brand)}
                typed={draft}
                begun={draftOf(base ?? brand)}
                onTake={change}
                onSettle={settle}
              />
            ) : (
              <FailureNotice error={update.error} fields={Object.keys(draft)} />
            )}
          </div>
          {mayChange && (
            <div className="flex justify-end gap-2">
              {isChanged(draft, brand) && (
                <Button disabled={update.isRunning || isUploading} onClick={undo}>
                  Undo
                </Button>
              )}
              <Button
                type="submit"
                kind="primary"
                isBusy={update.isRunning}
                disabled={isConflict || isUploading || !isChanged(draft, brand)}
              >
                {isUploading ? 'Uploading the picture…' : 'Save'}
              </Button>
            </div>
          )}
        </fieldset>
        {question}
      </form>
      <div className="lg:sticky lg:top-6">
        <PagePreview look={previewedLook(draft, brand)} order={example} />
      </div>
    </div>
  );
}
