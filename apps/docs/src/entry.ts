import { chainsPage } from './reference/chains-page.ts';
import { dashboardPage } from './reference/dashboard-page.ts';
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

/** The pages that are generated from the route tables, the catalogue of errors and the tables of moves. */
export function referencePages(): DocsPage[] {
  return [
    conventionsPage(),
    authenticationPage(),
    statePage(),
    chainsPage(),
    dashboardPage(),
    eventPage(),
    webhookPage(),
    limitsPage(),
    ...operationPages(),
    objectsPage(),
    ...errorPages(),
  ];
}
