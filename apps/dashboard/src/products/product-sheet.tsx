import type { Product } from '@florin/protocol/product.ts';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { fieldError, sayFailure } from '../api/failure.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { ConflictNotice, useBase } from '../ui/conflict.tsx';
import { CancelButton, DialogActions, Sheet } from '../ui/dialog.tsx';
import { differs, useDraftGuard } from '../ui/draft-guard.tsx';
import { AreaField, TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { ImageField, type TrackUpload, useUploads } from '../ui/image-field.tsx';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import { UsdField } from '../ui/usd-field.tsx';
import {
  maxAttributes,
  maxPrices,
  newAttributeRow,
  newPriceRow,
  type ProductDraft,
  productBodyOf,
  productDraftOf,
  productFaults,
  productParts,
} from './product-draft.ts';

/** Creates a product, or edits the one given. */
export function ProductSheet({
  isOpen,
  product,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly product: Product | undefined;
  readonly onClose: () => void;
}) {
  return (
    <Sheet
      isOpen={isOpen}
      onClose={onClose}
      title={product === undefined ? 'Create a product' : 'Edit the product'}
      {...(product === undefined
        ? {}
        : {
            description:
              'Links that show the product get a new version. Payments made keep what they showed.',
          })}
    >
      <ProductForm key={product?.productId ?? ''} product={product} onClose={onClose} />
    </Sheet>
  );
}

const ownFields = ['name', 'commonPrices', 'description', 'imageUrl', 'attributes'];

interface PartProps {
  readonly draft: ProductDraft;
  readonly change: (changed: Partial<ProductDraft>) => void;
  readonly faults: Readonly<Record<string, string>>;
  readonly error: unknown;
}

function ProductForm({
  product,
  onClose,
}: {
  readonly product: Product | undefined;
  readonly onClose: () => void;
}) {
  const [draft, setDraft] = useState(() => productDraftOf(product));
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const [begun, setBegun] = useState(draft);
  const { isUploading, track } = useUploads();
  const { release, question } = useDraftGuard(isUploading || differs(draft, begun), onClose);
  const close = () => {
    release();
    onClose();
  };
  const create = useWrite('POST /product/create', {
    onDone: ({ imageStatus, imageReason }) => {
      toast(
        imageStatus === 'hosted' || imageStatus === 'none'
          ? 'Product created'
          : `Product created without its image: ${imageReason}`,
      );
      close();
    },
  });
  const update = useWrite('POST /product/update', {
    onDone: () => {
      toast('Product saved');
      close();
    },
  });
  const write = product === undefined ? create : update;
  const { readAt, isConflict, settle } = useBase(product?.updateAt, write, 'product_changed');
  const stored = useStored(product, isConflict);
  const submit = () => {
    const found = productFaults(draft);
    setFaults(found);
    if (Object.keys(found).length > 0) return undefined;
    const body = productBodyOf(draft);
    return product === undefined
      ? create.run({ body })
      : update.run({ body: { ...body, productId: product.productId, ifUpdateAt: readAt } });
  };
  const change = (changed: Partial<ProductDraft>) => setDraft((latest) => ({ ...latest, ...changed }));
  const parts = { draft, change, faults, error: write.error };
  return (
    <form noValidate onSubmit={onSubmit(submit)} className="grid gap-5">
      <TextField
        label="Name"
        maxLength={100}
        autoFocus
        value={draft.name}
        onChange={(name) => change({ name })}
        error={faults['name'] ?? fieldError(write.error, 'name')}
      />
      <PriceFields {...parts} />
      <AreaField
        label="Description"
        isOptional
        rows={3}
        maxLength={1000}
        value={draft.description}
        onChange={(description) => change({ description })}
        error={fieldError(write.error, 'description')}
      />
      <ProductImage {...parts} product={product} track={track} />
      <AttributeFields {...parts} />
      <DialogActions
        notice={
          isConflict ? (
            <ConflictNotice
              title={sayFailure(write.error)}
              parts={productParts}
              stored={stored && productDraftOf(stored)}
              typed={draft}
              begun={begun}
              onTake={change}
              onSettle={() => {
                setBegun(productDraftOf(stored));
                settle(stored?.updateAt ?? readAt);
              }}
            />
          ) : (
            <FailureNotice error={write.error} fields={ownFields} />
          )
        }
      >
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={write.isRunning} disabled={isConflict || isUploading}>
          {submitText(product, isUploading)}
        </Button>
      </DialogActions>
      {question}
    </form>
  );
}

function submitText(product: Product | undefined, isUploading: boolean): string {
  if (isUploading) return 'Uploading the picture…';
  return product === undefined ? 'Create the product' : 'Save';
}

/** The product as it is stored now, after another member changed it. */
function useStored(product: Product | undefined, isConflict: boolean): Product | undefined {
  const productIds = [product?.productId ?? ''];
  const read = useRead('POST /product/list/by/ids', { body: { productIds } }, { isOn: isConflict });
  return read.isFetching ? undefined : read.data?.[0];
}

function ProductImage({
  draft,
  change,
  error,
  product,
  track,
}: PartProps & { readonly product: Product | undefined; readonly track: TrackUpload }) {
  return (
    <>
      <ImageField
        label="Image"
        hint="A jpeg, png or webp picture. Florin keeps a copy of it."
        value={draft.imageUrl}
        onChange={(imageUrl) => change({ imageUrl })}
        track={track}
        error={fieldError(error, 'imageUrl')}
      />
      {product !== undefined && product.imageReason !== '' && (
        <Notice tone="warn" title="The image did not load">
          {product.imageReason}
          {product.imageStatus === 'pending' && '. Florin tries again by itself.'}
        </Notice>
      )}
    </>
  );
}

/** The prices that links offer for the product; the first one is the usual one. */
function PriceFields({ draft: { prices }, change, faults, error }: PartProps) {
  const others = (key: string) => prices.filter((row) => row.key !== key);
  return (
    <fieldset>
      <legend className="font-medium">Prices</legend>
      <p className="mb-2 text-sm text-soft">New links start with the first one.</p>
      <div className="grid gap-2">
        {prices.map((row, index) => (
          <div key={row.key} className="flex items-start gap-2">
            <UsdField
              label={<span className="sr-only">Price {index + 1}</span>}
              className="min-w-0 flex-1 gap-0"
              placeholder="0.00"
              value={row.typed}
              onChange={(typed) =>
                change({ prices: prices.map((each) => (each.key === row.key ? { ...each, typed } : each)) })
              }
              error={faults[row.key] ?? fieldError(error, `commonPrices[${index}]`)}
            />
            {prices.length > 1 && (
              <IconButton
                label={`Remove price ${index + 1}`}
                onClick={() => change({ prices: others(row.key) })}
              >
                <X />
              </IconButton>
            )}
          </div>
        ))}
      </div>
      {prices.length < maxPrices && (
        <Button
          kind="quiet"
          size="small"
          icon={<Plus />}
          className="mt-1"
          onClick={() => change({ prices: [...prices, newPriceRow()] })}
        >
          Add a price
        </Button>
      )}
    </fieldset>
  );
}

/** Names and values that payers read, such as a size. */
function AttributeFields({ draft: { attributes }, change, faults, error }: PartProps) {
  const set = (key: string, changed: { readonly name?: string; readonly value?: string }) =>
    change({ attributes: attributes.map((row) => (row.key === key ? { ...row, ...changed } : row)) });
  return (
    <fieldset>
      <legend className="font-medium">
        Attributes<span className="ml-1.5 font-normal text-faint">optional</span>
      </legend>
      <p className="mb-2 text-sm text-soft">What the payer reads about it, such as a size.</p>
      <div className="grid gap-2">
        {attributes.map((row, index) => (
          <div key={row.key} className="flex items-start gap-2">
            <TextField
              label={<span className="sr-only">Name of attribute {index + 1}</span>}
              className="min-w-0 flex-1 gap-0"
              placeholder="Size"
              maxLength={40}
              value={row.name}
              onChange={(name) => set(row.key, { name })}
              error={faults[row.key] ?? fieldError(error, `attributes[${index}].name`)}
            />
            <TextField
              label={<span className="sr-only">Value of attribute {index + 1}</span>}
              className="min-w-0 flex-1 gap-0"
              placeholder="Medium"
              maxLength={200}
              value={row.value}
              onChange={(value) => set(row.key, { value })}
              error={fieldError(error, `attributes[${index}].value`)}
            />
            <IconButton
              label={`Remove attribute ${index + 1}`}
              onClick={() => change({ attributes: attributes.filter(({ key }) => key !== row.key) })}
            >
              <X />
            </IconButton>
          </div>
        ))}
      </div>
      {attributes.length < maxAttributes && (
        <Button
          kind="quiet"
          size="small"
          icon={<Plus />}
          className="mt-1"
          onClick={() => change({ attributes: [...attributes, newAttributeRow()] })}
        >
          Add an attribute
        </Button>
      )}
    </fieldset>
  );
}
