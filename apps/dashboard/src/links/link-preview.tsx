import { useRead } from '../api/use-call.ts';
import { PagePreview } from '../ui/page-preview.tsx';
import type { LinkDraft } from './link-draft.ts';
import { previewedOrderOf } from './previewed-order.ts';

/** The page of a link as payers would see what is typed. */
export function LinkPreview({ draft, name }: { readonly draft: LinkDraft; readonly name: string }) {
  const { data: brand } = useRead('GET /branding/detail', {});
  if (brand === undefined) return null;
  return (
    <PagePreview color={brand.color} hasLogo={brand.logoUrl !== ''} order={previewedOrderOf(draft, name)} />
  );
}
