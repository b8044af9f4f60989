import { type ErrorName, errorCatalogue } from '@florin/protocol/error.ts';
import { statusOf } from '@florin/protocol/openapi-errors.ts';
import type { RouteTable } from '@florin/protocol/route.ts';
import { linkTo, table } from './page.ts';

/** One row per error, with an interface's own statuses where they differ. */
export function errorTable(
  slugs: readonly ErrorName[],
  interfaceTable: Pick<RouteTable, 'statuses'> = {},
): string {
  return table(
    ['Code', 'HTTP', 'Slug', 'Meaning', 'Retryable'],
    slugs.map((slug) => {
      const { code: number, text, retryable } = errorCatalogue[slug];
      return [
        linkTo(String(number), `/docs/errors/${number}`),
        String(statusOf(interfaceTable, slug)),
        `\`${slug}\``,
        text,
        retryable ? 'yes' : 'no',
      ];
    }),
  );
}
