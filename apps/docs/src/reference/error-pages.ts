import { type ErrorEntry, type ErrorName, errorCatalogue } from '@florin/protocol/error.ts';
import { errorAdvice } from '@florin/protocol/error-advice.ts';
import { exampleOrigin, failureExample } from '@florin/protocol/example.ts';
import { errorsOf, needsKey, operatorErrors, serverErrors } from '@florin/protocol/openapi-errors.ts';
import type { Route, RouteTable } from '@florin/protocol/route.ts';
import { errorTable } from './error-table.ts';
import { interfaces } from './interfaces.ts';
import { operationsPath } from './operation-pages.ts';
import { type DocsPage, heading, json, linkTo, list, table } from './page.ts';

const slugs = Object.keys(errorCatalogue) as ErrorName[];

/** The list of all errors, and a page for each. */
export function errorPages(): DocsPage[] {
  return [errorListPage(), ...slugs.map(errorPage)];
}

function errorListPage(): DocsPage {
  return {
    path: '/docs/errors',
    title: 'Errors',
    summary: 'Every code that is not 0, what it means and what to do about it.',
    blocks: [
      'Business errors are HTTP 200 with a non-zero `code`: test for `code` = 0, never for the status. Only x402, whose ' +
        'clients know statuses alone, answers with others; its page lists them. Every failure has ' +
        'the same shape. `error.slug` is stable; messages read `Text: detail` and may change. `error.remedy` says ' +
        'what to do, `error.docUrl` is the page of the code, and `error.requestId` repeats the header Request-Id.',
      json(failureExample(exampleOrigin, 'field_invalid')),
      errorTable(slugs),
      `No operation of this version answers ${reservedCodes()}: they are reserved.`,
      'HTTP 414 and 431 may come from the HTTP layer, before a request can be read. Retryable errors have changed nothing.',
    ],
  };
}

function reservedCodes(): string {
  const entries: ErrorEntry[] = Object.values(errorCatalogue);
  const kept = entries.filter(({ reserved }) => reserved === true);
  return kept.map(({ code }) => linkTo(String(code), `/docs/errors/${code}`)).join(', ');
}

function errorPage(slug: ErrorName): DocsPage {
  const { code: number, http, text, retryable, reserved }: ErrorEntry = errorCatalogue[slug];
  const { meaning, remedy } = errorAdvice[slug];
  return {
    path: `/docs/errors/${number}`,
    title: `${number}: ${text}`,
    summary: meaning,
    blocks: [
      table(
        ['Code', 'Slug', 'HTTP status', 'Retryable'],
        [[String(number), `\`${slug}\``, String(http), retryable ? 'yes' : 'no']],
      ),
      ...(reserved === true ? ['Reserved: no operation of this version answers it.'] : []),
      heading('What to do'),
      remedy,
      heading('Example'),
      json(failureExample(exampleOrigin, slug)),
      heading('Who answers it'),
      list(...answerers(slug)),
    ],
  };
}

function answerers(slug: ErrorName): string[] {
  const isServers = (serverErrors as readonly ErrorName[]).includes(slug);
  const isOperators = (operatorErrors as readonly ErrorName[]).includes(slug);
  const lines = [
    ...(isServers ? ['The server itself, at any path.'] : []),
    ...(isOperators ? ['The operator’s command line.'] : []),
    ...interfaces.flatMap((table) => operationLines(table, slug)),
  ];
  if (lines.length > 0) return lines;
  const { reserved }: ErrorEntry = errorCatalogue[slug];
  return [
    reserved === true
      ? 'No operation of this version: the code is reserved.'
      : 'The hosted pages’ own interface.',
  ];
}

/** Kinds of operations that share refusals, the widest first. */
const kinds: readonly [text: string, includes: (table: RouteTable, route: Route) => boolean][] = [
  ['', () => true],
  [' that needs a key', needsKey],
  [' with a body', (_table, { body }) => body !== undefined],
  [' that reads', (_table, { effect }) => effect === 'query'],
  [' that creates', (_table, { effect }) => effect === 'create'],
  [' that changes', (_table, { effect }) => effect === 'update'],
];
/** Fewer operations are listed one by one. */
const leastInKind = 4;

/** The operations of an interface that answer an error: kinds that all answer it in one line, the others one by one. */
function operationLines(table: RouteTable, slug: ErrorName): string[] {
  const routes: Route[] = Object.values(table.routes);
  let rest = routes.filter((route) => errorsOf(table, route).includes(slug));
  const lines: string[] = [];
  for (const [text, includes] of kinds) {
    const kind = routes.filter((route) => includes(table, route));
    if (kind.length < leastInKind || !kind.every((route) => rest.includes(route))) continue;
    lines.push(`Every operation of the ${table.title}${text}.`);
    rest = rest.filter((route) => !kind.includes(route));
  }
  return [
    ...lines,
    ...rest.map((route) =>
      linkTo(`${table.title}: ${route.summary}`, operationsPath(route.tag), route.summary),
    ),
  ];
}
