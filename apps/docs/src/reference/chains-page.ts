import { type DocsPage, heading, list, table } from './page.ts';

/** The service replaces this row in the Markdown that it serves; the HTML page asks the service for its chains. */
export const chainRow = ['See', '`finality`', '`GET /payment/v1/capabilities/all`', ''] as const;

export function chainsPage(): DocsPage {
  return {
    path: '/docs/chains',
    title: 'Chains and finality',
    summary: 'When a payment counts as final on each chain of this installation.',
    blocks: [
      table(['Chain', 'Chain id', 'Final', 'Usually within'], [chainRow]),
      heading('What the words mean'),
      list(
        '`finalized`, `safe`: at or below the block that the nodes give this tag.',
        '`latest`: as soon as it is in a block.',
        '`n blocks deep`: with so many blocks above it, besides.',
        '`n nodes agree`: so many nodes of different providers name the same block at that height, and call it final each by itself.',
      ),
      'A session is `paid` when the payment is final, and `completed` when the settlement is. Before that a payment only counts as seen: a reorganisation can take it back.',
    ],
  };
}
