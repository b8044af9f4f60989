import { readdirSync, readFileSync } from 'node:fs';
import { untrustedTextNotice } from '@florin/protocol/discovery.ts';
import type { RouteTable } from '@florin/protocol/route.ts';
import type { Chains } from '#chains/chain.ts';
import { chainsPage } from './chains-page.ts';
import { contractPage } from './contract-pages.ts';
import { errorPages } from './error-pages.ts';
import { eventPage, webhookPage } from './event-pages.ts';
import { plainText } from './html-page.ts';
import { type LinkTarget, parseMarkdown, renderMarkdown } from './markdown.ts';
import { objectsPage, operationPages } from './operation-pages.ts';
import { type DocsPage, type DocsSection, heading, linkTo, list } from './page.ts';
import { statePage } from './state-page.ts';
import { authenticationPage, conventionsPage, limitsPage } from './topic-pages.ts';

export interface SiteOptions {
  /** Public origin of the installation, for examples and absolute links. */
  readonly origin: string;
  readonly tables: readonly RouteTable[];
  /** The installation's chains; absent where the pages serve all installations. */
  readonly chains?: Chains;
}

const guideFolder = new URL('../../../../../docs/guide/', import.meta.url);
const contractFolder = new URL('../../../../../docs/reference/contracts/', import.meta.url);
const conformanceFile = new URL('../../../../../docs/reference/conformance.md', import.meta.url);

/** The pages that are generated from the code. */
export function referencePages(options: SiteOptions): DocsPage[] {
  return [
    conventionsPage(),
    authenticationPage(),
    statePage(),
    eventPage(options.origin),
    webhookPage(),
    limitsPage(options.tables),
    ...operationPages(options),
    objectsPage(),
    ...errorPages(options),
  ];
}

/** Every served page, the index first: guides, generated pages, and the conformance table. */
export function sitePages(options: SiteOptions): DocsPage[] {
  const conformance = conformancePage(readFileSync(conformanceFile, 'utf8'));
  const ownPages = options.chains === undefined ? [] : [chainsPage(options.chains)];
  const pages = [...guidePages(), ...referencePages(options), ...ownPages, conformance, ...contractPages()];
  return [indexPage(pages), ...pages];
}

/** The hand-written pages. Their links are file links, so that they also work in the repository. */
export function guidePages(): DocsPage[] {
  return readdirSync(guideFolder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => {
      const text = readFileSync(new URL(name, guideFolder), 'utf8');
      return {
        ...parseMarkdown(
          text.replace(fileLink, (_whole, folder: string, page: string) => sitePath(folder, page)),
        ),
        path: `/docs/guide/${name.slice(0, -'.md'.length)}`,
        section: 'Guides',
      };
    });
}

/** `(../reference/errors.md)` or `(first-payment.md)`, with or without an anchor. */
const fileLink = /(?<=\]\()(\.\.\/reference\/)?([\w/-]+)\.md(?=[#)])/g;

function sitePath(folder: string | undefined, page: string): string {
  return folder === undefined ? `/docs/guide/${page}` : `/docs/${page}`;
}

/** The generated pages about the contracts: one for each contract, and one for each operation. */
function contractPages(): DocsPage[] {
  return readdirSync(contractFolder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => contractPage(file, readFileSync(new URL(file, contractFolder), 'utf8')));
}

/** The table of conformance, from its Markdown. */
export function conformancePage(markdown: string): DocsPage {
  return { ...parseMarkdown(markdown), path: '/docs/conformance', section: 'Concepts' };
}

const sections: readonly DocsSection[] = ['Guides', 'Concepts', 'API', 'Contracts', 'Errors'];

/** Pages of single errors and contract operations are linked from their lists instead. */
function isListed({ path }: DocsPage): boolean {
  return !/^\/docs\/(?:errors\/\d+|contracts\/[\w-]+\/[\w-]+)$/.test(path);
}

/** The first page: all pages by section. */
export function indexPage(pages: readonly DocsPage[]): DocsPage {
  return {
    path: '/docs',
    title: 'Florin documentation',
    summary: 'Florin collects stablecoin payments on EVM chains straight into the merchant’s own wallet.',
    section: 'Concepts',
    blocks: sections.flatMap((section) => [
      heading(section),
      list(
        ...pages
          .filter((page) => page.section === section && isListed(page))
          .map((page) => `${linkTo(page.title, page.path)}: ${page.summary}`),
      ),
    ]),
  };
}

/** Link targets of the served Markdown: absolute, and to other Markdown. */
export function servedTarget(origin: string): LinkTarget {
  return (target) => {
    if (!target.startsWith('/')) return target;
    const [path = '', anchor] = target.split('#');
    const twin = path.startsWith('/docs') ? `${path}.md` : path;
    return `${origin}${twin}${anchor === undefined ? '' : `#${anchor}`}`;
  };
}

/** The short index for language models (llmstxt.org). */
export function llmsText(origin: string, pages: readonly DocsPage[]): string {
  const target = servedTarget(origin);
  const lines = sections.map((section) => {
    const entries = pages
      .filter((page) => page.section === section && page.path !== '/docs' && isListed(page))
      .map(({ title, path, summary }) => `- [${title}](${target(path)}): ${plainText(summary)}`);
    return `## ${section}\n\n${entries.join('\n')}`;
  });
  return `# Florin

> Collects stablecoin payments on EVM chains straight into the merchant's own wallet. Merchants use a REST API with keys; agents pay through the AI protocol with the signature of the payer's wallet.

Test for \`code\` = 0: business errors are HTTP 200. Amounts are integers in Micro-USD. The OpenAPI 3.1 document is at ${origin}/openapi.json; all of these pages in one file are at ${origin}/llms-full.txt.

Where everything is, for programs: ${origin}/.well-known/ai-pay.json. The Model Context Protocol: ${origin}/mcp. ${untrustedTextNotice}

${lines.join('\n\n')}
`;
}

/** Every page except single errors, one after the other. */
export function llmsFullText(origin: string, pages: readonly DocsPage[]): string {
  return pages
    .filter((page) => page.path !== '/docs' && isListed(page))
    .map((page) => renderMarkdown(page, servedTarget(origin)))
    .join('\n---\n\n');
}
