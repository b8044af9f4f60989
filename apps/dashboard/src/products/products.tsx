import type { Product } from '@florin/protocol/product.ts';
import { Package, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { usePages, useRead } from '../api/use-call.ts';
import { useSearchOn } from '../api/use-search-on.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useGoTo } from '../app/screen-link.tsx';
import { useFilters } from '../app/use-filters.ts';
import { useParam } from '../app/use-param.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Sheet } from '../ui/dialog.tsx';
import { OddFilters } from '../ui/odd-filters.tsx';
import { Fact, Facts, PageHeader, SkeletonFacts } from '../ui/page.tsx';
import { Picture } from '../ui/picture.tsx';
import { Empty, Failed } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Id, Time, Usd } from '../ui/value.tsx';
import { ProductActs } from './product-acts.tsx';
import { ProductSheet } from './product-sheet.tsx';

const pageSize = 50;
const tabs = [
  { name: 'active', label: 'Active' },
  { name: 'archived', label: 'Archived' },
] as const;

/** The catalogue. With an id in the address it shows that product above the list. */
export default function Products() {
  const productId = useParam('productId');
  const { role } = useMerchant();
  const goTo = useGoTo();
  const mayChange = mayDo(role, 'products:write');
  const [isCreating, setCreating] = useState(false);
  const [chosen, setChosen] = useState<Product>();
  const named = useRead(
    'POST /product/list/by/ids',
    { body: { productIds: [productId] } },
    { isOn: productId !== '' },
  );
  const shown = chosen ?? (productId === '' ? undefined : named.data?.[0]);
  const close = () => {
    setChosen(undefined);
    setCreating(false);
    if (productId !== '') goTo('products');
  };
  const createButton = mayChange && (
    <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
      Create a product
    </Button>
  );
  return (
    <>
      <PageHeader title="Products" description="What your payment links sell." actions={createButton} />
      {productId !== '' && named.error !== null && (
        <Failed error={named.error} onRetry={() => void named.refetch()} />
      )}
      {productId !== '' && named.data?.length === 0 && <UnknownProduct onBack={close} />}
      <ProductList mayChange={mayChange} onOpen={setChosen} createButton={createButton} />
      {mayChange ? (
        <ProductSheet isOpen={isCreating || shown !== undefined} product={shown} onClose={close} />
      ) : (
        <ReadOnlySheet product={shown} onClose={close} />
      )}
    </>
  );
}

function UnknownProduct({ onBack }: { readonly onBack: () => void }) {
  return (
    <Empty
      icon={<Package />}
      title="There is no such product"
      action={<Button onClick={onBack}>Show all products</Button>}
    >
      It was deleted, or the address is wrong.
    </Empty>
  );
}

const productColumns: readonly Column<Product>[] = [
  {
    key: 'name',
    header: 'Name',
    isWide: true,
    cell: ({ name, description, imageUrl, commonPrices }) => (
      <span className="flex items-center gap-3">
        <Picture url={imageUrl} />
        <span className="min-w-0">
          <span className="block truncate font-medium">{name}</span>
          <span className="block text-sm text-soft sm:hidden">
            <Prices prices={commonPrices} />
          </span>
          {description !== '' && (
            <span className="block truncate text-sm text-soft max-sm:hidden">{description}</span>
          )}
        </span>
      </span>
    ),
  },
  {
    key: 'image',
    header: '',
    label: 'Image',
    from: 'md',
    cell: ({ imageStatus }) =>
      (imageStatus === 'failed' || imageStatus === 'pending') && (
        <Badge tone="warn">{imageStatus === 'failed' ? 'No image' : 'Image on its way'}</Badge>
      ),
  },
  {
    key: 'prices',
    header: 'Price',
    isAtEnd: true,
    from: 'sm',
    cell: ({ commonPrices }) => <Prices prices={commonPrices} />,
  },
  {
    key: 'changed',
    header: 'Changed',
    from: 'lg',
    cell: ({ updateAt }) => <Time time={updateAt} className="text-soft" />,
  },
];

function Prices({ prices: [first, ...others] }: { readonly prices: Product['commonPrices'] }) {
  return (
    <span className="whitespace-nowrap">
      {first !== undefined && <Usd micro={first} />}
      {others.length > 0 && <span className="ml-1.5 text-sm text-soft">and {others.length} more</span>}
    </span>
  );
}

function ProductList({
  mayChange,
  onOpen,
  createButton,
}: {
  readonly mayChange: boolean;
  readonly onOpen: (product: Product) => void;
  readonly createButton: ReactNode;
}) {
  const filters = useFilters(['status'], { status: tabs.map(({ name }) => name) });
  const status = filters.values.status || 'active';
  const list = usePages(
    'GET /product/list/:page/:size',
    (after) => ({ params: { page: 1, size: pageSize }, query: after === undefined ? {} : { after } }),
    ({ nextCursor, hasMore }) => (hasMore ? nextCursor : ''),
  );
  const rows = list.data?.pages
    .flatMap(({ products }) => products)
    .filter((product) => product.status === status);
  const isSearchingOn = useSearchOn(list, rows?.length === 0);
  const acts: Column<Product> = {
    key: 'acts',
    header: '',
    label: 'Acts',
    isAtEnd: true,
    cell: (product) => <ProductActs product={product} onEdit={() => onOpen(product)} />,
  };
  return (
    <>
      <OddFilters of={filters} />
      <Tabs
        label="Products by state"
        tabs={tabs}
        value={status}
        onChange={(name) => filters.set({ status: name === 'active' ? '' : name })}
      >
        <Table
          label="Products"
          choiceName="products"
          columns={[...productColumns, ...(mayChange ? [acts] : [])]}
          source={{
            rows: isSearchingOn ? undefined : rows,
            error: list.error,
            onRetry: () => void list.refetch(),
          }}
          keyOf={({ productId }) => productId}
          onOpen={onOpen}
          more={
            list.hasNextPage
              ? { onMore: () => void list.fetchNextPage(), isLoading: list.isFetchingNextPage }
              : undefined
          }
          empty={
            status === 'active' ? (
              <Empty icon={<Package />} title="No products yet" action={createButton}>
                Create what you sell once. Each link then shows its name, picture and price.
              </Empty>
            ) : (
              <Empty icon={<Package />} title="No archived products">
                Archive what you no longer sell. It keeps its history.
              </Empty>
            )
          }
        />
      </Tabs>
    </>
  );
}

/** The product for members who may not change it. */
function ReadOnlySheet({
  product,
  onClose,
}: {
  readonly product: Product | undefined;
  readonly onClose: () => void;
}) {
  return (
    <Sheet isOpen={product !== undefined} onClose={onClose} title={product?.name ?? ''}>
      {product === undefined ? (
        <SkeletonFacts />
      ) : (
        <Facts>
          <Fact name="Description">{product.description || '—'}</Fact>
          <Fact name="Prices">
            {product.commonPrices.map((price) => (
              <Usd key={price} micro={price} className="mr-3" />
            ))}
          </Fact>
          {product.attributes.map(({ name, value }) => (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ))}
          <Fact name="Id">
            <Id id={product.productId} isWhole />
          </Fact>
        </Facts>
      )}
    </Sheet>
  );
}
