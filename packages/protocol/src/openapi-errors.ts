import { type ErrorName, errorCatalogue } from './error.ts';
import type { Route, RouteTable } from './route.ts';

const keyErrors: ReadonlySet<ErrorName> = new Set([
  'authorization_header_malformed',
  'api_key_invalid',
  'api_key_forbidden',
]);

/** An operation's answer to a database outage, by its effect. */
export const outageErrors = {
  query: 'query_failed',
  create: 'create_failed',
  update: 'update_failed',
} as const satisfies Record<Route['effect'], ErrorName>;

const bodyErrors = ['json_malformed', 'body_too_large', 'media_type_unsupported'] as const;
const idempotencyErrors = ['idempotency_key_reused', 'idempotency_in_flight'] as const;

/** Refusals of the server itself, before an operation is found. */
export const serverErrors = [
  'route_unknown',
  'method_not_allowed',
  'json_malformed',
] as const satisfies readonly ErrorName[];

/** Refusals of the operator’s commands only: no operation creates accounts. */
export const operatorErrors = ['account_limit'] as const satisfies readonly ErrorName[];

/** Whether an operation needs an API key. */
export function needsKey(table: RouteTable, route: Route): boolean {
  return table.security === 'api_key' && route.permissions.length > 0;
}

/** Whether an operation accepts the header Idempotency-Key: every POST of the merchant API. */
export function takesIdempotencyKey(table: RouteTable, route: Route): boolean {
  return needsKey(table, route) && route.method === 'POST';
}

/** The HTTP status of an interface's refusal. */
export function statusOf({ statuses }: Pick<RouteTable, 'statuses'>, slug: ErrorName): number {
  return statuses?.[slug] ?? errorCatalogue[slug].http;
}

/** All refusals of an operation, by rising code. */
export function errorsOf(table: RouteTable, route: Route): ErrorName[] {
  const hasKey = needsKey(table, route);
  const slugs = new Set<ErrorName>([
    ...table.errors.filter((slug) => hasKey || !keyErrors.has(slug)),
    // For an unknown query parameter, even without other inputs.
    'field_invalid',
    ...(route.body === undefined ? [] : bodyErrors),
    ...(takesIdempotencyKey(table, route) ? idempotencyErrors : []),
    ...route.errors,
    outageErrors[route.effect],
  ]);
  return [...slugs].sort((left, right) => errorCatalogue[left].code - errorCatalogue[right].code);
}
