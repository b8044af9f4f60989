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
  return <PagePreview look={look} order={previewedOrderOf(draft, name)} />;
}
