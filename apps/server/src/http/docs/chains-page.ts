import { type Chains, finalityText } from '#chains/chain.ts';
import { expectedSecondsToFinal } from '#chains/condition.ts';
import { type DocsPage, heading, list, paragraph, table } from './page.ts';

/** This installation's chains and finality policies, with the values of `finality` in the capabilities. */
export function chainsPage(chains: Chains): DocsPage {
  return {
    path: '/docs/chains',
    title: 'Chains and finality',
    summary: 'When a payment counts as final on each chain of this installation.',
    section: 'Concepts',
    blocks: [
      table(
        ['Chain', 'Chain id', 'Final', 'Usually within'],
        chains.all.map((chain) => [
          chain.name,
          String(chain.chainId),
          finalityText(chain.finality),
          `${expectedSecondsToFinal(chain)} s`,
        ]),
      ),
      heading('What the words mean'),
      list(
        '`finalized`, `safe`: at or below the block that the nodes give this tag.',
        '`latest`: as soon as it is in a block.',
        '`n blocks deep`: with so many blocks above it, besides.',
        '`n nodes agree`: so many nodes of different providers name the same block at that height, and call it final each by itself.',
      ),
      paragraph(
        'A session is `paid` when the payment is final, and `completed` when the settlement is. Before that a payment only counts as seen: a reorganisation can take it back.',
      ),
    ],
  };
}
