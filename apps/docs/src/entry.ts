import { agentApi } from '@florin/protocol/agent-api.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import { chainsPage } from './reference/chains-page.ts';
import { errorPages } from './reference/error-pages.ts';
import { eventPage, webhookPage } from './reference/event-pages.ts';
import { objectsPage, operationPages } from './reference/operation-pages.ts';
import type { DocsPage } from './reference/page.ts';
import { statePage } from './reference/state-page.ts';
import { authenticationPage, conventionsPage, limitsPage } from './reference/topic-pages.ts';

export { type LinkTarget, mapLinks } from './markdown.ts';
export { indexMarkdown } from './reference/index-page.ts';
export { pageMarkdown } from './reference/page.ts';
export { filePath, sitePath } from './site-path.ts';

const tables = [merchantApi, agentApi, x402Api];

/** The pages that are generated from the route tables, the catalogue of errors and the tables of moves. */
export function referencePages(): DocsPage[] {
  const options = { origin: exampleOrigin, tables };
  return [
    conventionsPage(),
    authenticationPage(),
    statePage(),
    chainsPage(),
    eventPage(exampleOrigin),
    webhookPage(),
    limitsPage(tables),
    ...operationPages(options),
    objectsPage(),
    ...errorPages(options),
  ];
}
