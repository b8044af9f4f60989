import { headOf } from '../markdown.ts';
import { heading, linkTo, list, pageMarkdown } from './page.ts';

const sections = ['Guides', 'Concepts', 'API', 'Contracts', 'Errors', 'Runbooks'] as const;

function sectionOf(path: string): (typeof sections)[number] {
  if (path.startsWith('/docs/guide/')) return 'Guides';
  if (path.startsWith('/docs/runbook/')) return 'Runbooks';
  if (path.startsWith('/docs/api/') || path === '/docs/objects') return 'API';
  if (path.startsWith('/docs/contracts')) return 'Contracts';
  return path.startsWith('/docs/errors') ? 'Errors' : 'Concepts';
}

/** Pages of single errors and contract operations are linked from their lists instead. */
function isListed(path: string): boolean {
  return !/^\/docs\/(?:errors\/\d+|contracts\/[\w-]+\/[\w-]+)$/.test(path);
}

/** The first page: the pages by section. Sidebar, llms.txt and llms-full.txt have its order. */
export function indexMarkdown(pages: ReadonlyMap<string, string>): string {
  const lists = Map.groupBy(
    [...pages].filter(([path]) => isListed(path)),
    ([path]) => sectionOf(path),
  );
  return pageMarkdown({
    path: '/docs',
    title: 'Florin documentation',
    summary: 'Florin collects stablecoin payments on EVM chains straight into the merchant’s own wallet.',
    blocks: sections.flatMap((section) => [
      heading(section),
      list(
        ...(lists.get(section) ?? []).map(([path, markdown]) => {
          const { title, summary } = headOf(markdown);
          return `${linkTo(title, path)}: ${summary}`;
        }),
      ),
    ]),
  });
}
