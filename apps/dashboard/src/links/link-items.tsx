import { Plus, X } from 'lucide-react';
import { fieldError } from '../api/failure.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { formatUsd } from '../ui/format.ts';
import { SelectField } from '../ui/select.tsx';
import { UsdField } from '../ui/usd-field.tsx';
import { Usd } from '../ui/value.tsx';
import { type ItemRow, newItemRow, type ProductChoice, totalOf, typedPrice } from './link-draft.ts';
import type { LinkPartProps } from './link-part.ts';

const maxItems = 20;

type ItemProps = LinkPartProps & { readonly products: readonly ProductChoice[] };

/** The products of a link with a fixed price. */
export function ItemFields({ products, ...parts }: ItemProps) {
  const { draft, change } = parts;
  const total = totalOf(draft);
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">Products</legend>
      <div className="divide-y divide-line rounded-lg border border-line-strong">
        {draft.items.map((row, index) => (
          <ItemRowFields key={row.key} {...parts} products={products} row={row} index={index} />
        ))}
      </div>
      <div className="mt-1.5 flex items-center justify-between gap-3">
        {draft.items.length < maxItems ? (
          <Button
            kind="quiet"
            size="small"
            icon={<Plus />}
            onClick={() => change({ items: [...draft.items, newItemRow(undefined)] })}
          >
            Add a product
          </Button>
        ) : (
          <span />
        )}
        {total !== undefined && (
          <span>
            <span className="text-soft">Total </span>
            <Usd micro={total} className="font-semibold" />
          </span>
        )}
      </div>
    </fieldset>
  );
}

function pricedName({ name, prices }: ProductChoice): string {
  return prices.length === 0 ? name : `${name} (${prices.map((price) => formatUsd(price)).join(', ')})`;
}

function ItemRowFields({
  draft: { items },
  change,
  faults,
  error,
  products,
  row,
  index,
}: ItemProps & { readonly row: ItemRow; readonly index: number }) {
  const set = (changed: Partial<ItemRow>) =>
    change({ items: items.map((each) => (each.key === row.key ? { ...each, ...changed } : each)) });
  const prices = products.find(({ productId }) => productId === row.productId)?.prices ?? [];
  const wrong = (field: string) =>
    faults[`${row.key}.${field}`] ?? fieldError(error, `lineItems[${index}].${field}`);
  return (
    <div className="grid gap-3 p-3">
      <div className="flex items-end gap-2">
        <SelectField
          label={items.length === 1 ? 'Product' : `Product ${index + 1}`}
          className="min-w-0 flex-1"
          value={row.productId}
          onChange={(productId) => {
            const chosen = products.find((each) => each.productId === productId);
            set({ productId, price: typedPrice(chosen?.prices[0]) });
          }}
          options={[
            ...(row.productId === '' ? [{ value: '', label: 'Choose a product' }] : []),
            ...products.map((each) => ({ value: each.productId, label: pricedName(each) })),
          ]}
          error={wrong('productId')}
        />
        {items.length > 1 && (
          <IconButton
            label={`Remove product ${index + 1}`}
            onClick={() => change({ items: items.filter(({ key }) => key !== row.key) })}
          >
            <X />
          </IconButton>
        )}
      </div>
      <div className="grid grid-cols-[1fr_6rem] items-start gap-3">
        <UsdField
          label="Price of one"
          placeholder="0.00"
          value={row.price}
          onChange={(price) => set({ price })}
          error={wrong('unitPrice')}
        />
        <TextField
          label="Quantity"
          inputMode="numeric"
          value={row.quantity}
          onChange={(quantity) => set({ quantity })}
          error={wrong('quantity')}
        />
      </div>
      {prices.length > 1 && (
        <div className="flex flex-wrap gap-1.5">
          {prices.map((price) => (
            <Button key={price} size="small" onClick={() => set({ price: typedPrice(price) })}>
              {formatUsd(price)}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

/** The product that a link for any amount shows, if it shows one. */
export function ShownProductField({ draft, change, error, products }: ItemProps) {
  return (
    <SelectField
      label="What it is for"
      hint="The payer sees the product beside the amount."
      isOptional
      value={draft.shownProductId}
      onChange={(shownProductId) => change({ shownProductId })}
      options={[
        { value: '', label: 'No product' },
        ...products.map(({ productId, name }) => ({ value: productId, label: name })),
      ]}
      error={fieldError(error, 'lineItems')}
    />
  );
}
