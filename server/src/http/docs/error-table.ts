import { type ErrorName, errorCatalogue } from '@florin/protocol/error.ts';
import { type Block, linkTo, table } from './page.ts';

/** One row per error. */
export function errorTable(slugs: readonly ErrorName[]): Block {
  return table(
    ['Code', 'HTTP', 'Slug', 'Meaning', 'Retryable'],
    slugs.map((slug) => {
      const { code: number, http, text, retryable } = errorCatalogue[slug];
      return [
        linkTo(String(number), `/docs/errors/${number}`),
        String(http),
        `\`${slug}\``,
        text,
        retryable ? 'yes' : 'no',
      ];
    }),
  );
}
