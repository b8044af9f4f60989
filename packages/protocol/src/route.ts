import type { Static, TObject, TSchema } from 'typebox';
import type { Deprecation } from './deprecation.ts';
import type { ErrorName } from './error.ts';
import type { Permission } from './permission.ts';

/**
 * One operation of an interface. The same value makes the server's route, the OpenAPI document and the client of the
 * SDK, so that none of them can drift from another.
 */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** Below the table's base path; parameters are written `:name`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Every answer and every document say so; absent while the operation stays. */
  readonly deprecation?: Deprecation;
  /** The heading under which documents list the operation. */
  readonly tag: string;
  readonly params?: TObject;
  /** Behind the path's question mark; every value is text. Other members than these are refused. */
  readonly query?: TObject;
  readonly body?: TObject;
  /** Headers that mean something to the operation, as documents show them; the operation reads them itself. */
  readonly headers?: TObject;
  /** `data` of a successful answer. */
  readonly reply: TSchema;
  /** Answers with other statuses that are no errors, by status. */
  readonly steps?: Readonly<Record<string, RouteStep>>;
  /** Any one of these is enough; empty: no key is asked for. */
  readonly permissions: readonly Permission[];
  /** What a failing database is answered with: 900203, 900201 or 900202. */
  readonly effect: 'query' | 'create' | 'update';
  /** Refusals of this operation, besides those that every operation of the table can answer. */
  readonly errors: readonly ErrorName[];
}

/** An answer on the way: its data in the shape of the interface, or its whole body. */
export interface RouteStep {
  readonly description: string;
  readonly reply?: TSchema;
  readonly body?: TSchema;
  /** What its headers hold, by name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One interface: its operations by operation id. */
export interface RouteTable {
  readonly title: string;
  readonly basePath: string;
  /** envelope: `{code, message, data}`. superset: the same with the members of `data` beside it. */
  readonly shape: 'envelope' | 'superset';
  readonly security: 'api_key' | 'none';
  /** Refusals that every operation can answer. */
  readonly errors: readonly ErrorName[];
  /** HTTP statuses of refusals that are others here than in the catalogue. */
  readonly statuses?: Readonly<Partial<Record<ErrorName, number>>> | undefined;
  readonly routes: Readonly<Record<string, Route>>;
}

/** Declares an operation and keeps its exact type. */
export function route<const R extends Route>(declared: R): R {
  return declared;
}

/** Which rate limit an operation of the merchant API counts towards. */
export type RateClass = 'read' | 'write' | 'list';

/** The rate limit that an operation counts towards: lists, which cost most, are the paths that say so. */
export function rateClassOf(route: Pick<Route, 'effect' | 'path'>): RateClass {
  if (route.effect !== 'query') return 'write';
  return route.path.split('/').includes('list') ? 'list' : 'read';
}

export type ParamsOf<R extends Route> = R['params'] extends TSchema
  ? Static<R['params']>
  : Record<string, never>;
export type QueryOf<R extends Route> = R['query'] extends TSchema
  ? Static<R['query']>
  : Record<string, never>;
export type BodyOf<R extends Route> = R['body'] extends TSchema ? Static<R['body']> : undefined;
export type ReplyOf<R extends Route> = Static<R['reply']>;
