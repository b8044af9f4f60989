import { type ErrorName, errorCatalogue } from './error.ts';
import type { Route, RouteTable } from './route.ts';

const keyErrors: ReadonlySet<ErrorName> = new Set([
  'authorization_header_malformed',
  'api_key_invalid',
  'api_key_forbidden',
]);

/** What an operation answers when the database is away, by what it does. */
export const outageErrors = {
  query: 'query_failed',
  create: 'create_failed',
  update: 'update_failed',
} as const satisfies Record<Route['effect'], ErrorName>;

const bodyErrors = ['json_malformed', 'body_too_large', 'media_type_unsupported'] as const;
const idempotencyErrors = ['idempotency_key_reused', 'idempotency_in_flight'] as const;

/** Refusals of the server itself, before any operation is found. */
export const serverErrors = [
  'route_unknown',
  'method_not_allowed',
  'json_malformed',
] as const satisfies readonly ErrorName[];

/** Refusals that only the operator’s commands can meet: no operation makes accounts. */
export const operatorErrors = ['account_limit'] as const satisfies readonly ErrorName[];

/** Whether an operation asks for an API key. */
export function needsKey(table: RouteTable, route: Route): boolean {
  return table.security === 'api_key' && route.permissions.length > 0;
}

/** Whether an operation takes the header Idempotency-Key: every POST of the merchant API. */
export function takesIdempotencyKey(table: RouteTable, route: Route): boolean {
  return needsKey(table, route) && route.method === 'POST';
}

/** The HTTP status that an interface answers a refusal with. */
export function statusOf({ statuses }: Pick<RouteTable, 'statuses'>, slug: ErrorName): number {
  return statuses?.[slug] ?? errorCatalogue[slug].http;
}

/** Everything that an operation can be refused with, by rising code. */
export function errorsOf(table: RouteTable, route: Route): ErrorName[] {
  const hasKey = needsKey(table, route);
  const slugs = new Set<ErrorName>([
    ...table.errors.filter((slug) => hasKey || !keyErrors.has(slug)),
    // An unknown query parameter, where nothing else is.
    'field_invalid',
    ...(route.body === undefined ? [] : bodyErrors),
    ...(takesIdempotencyKey(table, route) ? idempotencyErrors : []),
    ...route.errors,
    outageErrors[route.effect],
  ]);
  return [...slugs].sort((left, right) => errorCatalogue[left].code - errorCatalogue[right].code);
}
