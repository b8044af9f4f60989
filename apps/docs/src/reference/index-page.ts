import { headOf } from '../markdown.ts';
import { heading, linkTo, list, pageMarkdown } from './page.ts';

/** The guides in the order in which a developer needs them. */
const guides: Readonly<Record<string, readonly string[]>> = {
  'Get started': [
    ...['first-payment', 'sdk', 'fastify', 'hono', 'nextjs', 'plain-html', 'vendure'],
    ...['take-a-payment', 'generate-a-client'],
  ],
  Payments: [
    ...['receive-webhooks', 'embed-the-checkout', 'refunds', 'when-payers-pay-wrongly'],
    ...['find-payments', 'reports-for-accounting'],
  ],
  Agents: ['let-an-agent-pay', 'pay-without-gas'],
  Tools: ['local-world', 'testing', 'command-line'],
  Production: ['how-money-moves', 'security', 'go-live'],
};

const guideSections = Object.entries(guides);
const sections = [...Object.keys(guides), 'Concepts', 'API', 'Contracts', 'Errors', 'Runbooks'];
const guideOrder = Object.values(guides).flat();

/** Refuses a guide without a place, which the sidebar would not show. */
function sectionOfGuide(name: string): string {
  const [section] = guideSections.find(([, names]) => names.includes(name)) ?? [];
  if (section === undefined) throw new Error(`the guide ${name} has no section`);
  return section;
}

const guideNameOf = (path: string): string | undefined => /^\/docs\/guide\/(.+)$/.exec(path)?.[1];

function sectionOf(path: string): string {
  const guide = guideNameOf(path);
  if (guide !== undefined) return sectionOfGuide(guide);
  if (path.startsWith('/docs/runbook/')) return 'Runbooks';
  if (path.startsWith('/docs/api/') || path === '/docs/objects') return 'API';
  if (path.startsWith('/docs/contracts')) return 'Contracts';
  return path.startsWith('/docs/errors') ? 'Errors' : 'Concepts';
}

/** Pages of single errors and contract operations are linked from their lists instead. */
function isListed(path: string): boolean {
  return !/^\/docs\/(?:errors\/\d+|contracts\/[\w-]+\/[\w-]+)$/.test(path);
}

/** Guides have an order of their own, other pages keep theirs, and what no merchant's program calls is last of its section. */
function rankOf(path: string): number {
  if (path === '/docs/api/dashboard') return guideOrder.length;
  return guideOrder.indexOf(guideNameOf(path) ?? '');
}

/** The first page: the pages by section. Sidebar, llms.txt and llms-full.txt have its order. */
export function indexMarkdown(pages: ReadonlyMap<string, string>): string {
  const lists = Map.groupBy(
    [...pages].filter(([path]) => isListed(path)).sort(([one], [other]) => rankOf(one) - rankOf(other)),
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
