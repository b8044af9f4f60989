import { useRead } from '../api/use-call.ts';
import { draftOf, previewedLook } from '../branding/brand-draft.ts';
import { PagePreview } from '../ui/page-preview.tsx';
import type { LinkDraft } from './link-draft.ts';
import { previewedOrderOf } from './previewed-order.ts';

/** The page of a link as payers would see what is typed. */
export function LinkPreview({ draft, name }: { readonly draft: LinkDraft; readonly name: string }) {
  const { data: brand } = useRead('GET /branding/detail', {});
  if (brand === undefined) return null;
  const look = previewedLook(draftOf(brand), brand);
  const order = previewedOrderOf(draft, name);
  // A fixed price of nothing is no page that payers ever see.
  if (order.amount === '0')
    return (
      <p className="rounded-xl border border-line bg-sunken px-6 py-12 text-center text-balance text-soft">
        Choose a product with a price, and the page that payers see stands here.
      </p>
    );
  return <PagePreview look={look} order={order} />;
}
