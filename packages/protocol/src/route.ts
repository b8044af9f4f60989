import type { Static, TObject, TSchema } from 'typebox';
import type { Deprecation } from './deprecation.ts';
import type { ErrorName } from './error.ts';
import type { MemberPermission } from './permission.ts';
import { successReply } from './schema.ts';

/**
 * One operation of an interface. The same value defines the server's route, the OpenAPI document and the SDK's client,
 * so that they cannot drift apart.
 */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** Below the table's base path; parameters are written `:name`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Announced in every answer and document; absent while the operation stays. */
  readonly deprecation?: Deprecation;
  /** The documents' heading for the operation. */
  readonly tag: string;
  readonly params?: TObject;
  /** Query parameters; every value is text. Unknown ones are refused. */
  readonly query?: TObject;
  readonly body?: TObject;
  /** Headers that the operation reads itself, for the documents. */
  readonly headers?: TObject;
  /** `data` of a successful answer. */
  readonly reply: TSchema;
  /** Answers with other statuses that are not errors, by status. */
  readonly steps?: Readonly<Record<string, RouteStep>>;
  /** Any one of these is enough; empty: none is needed. */
  readonly permissions: readonly MemberPermission[];
  /** The effect that chooses the code of a database failure: 900203, 900201 or 900202. */
  readonly effect: 'query' | 'create' | 'update';
  /** Refusals of this operation, besides those of every operation of the table. */
  readonly errors: readonly ErrorName[];
}

/** An intermediate answer: its data in the interface's shape, or its whole body. */
export interface RouteStep {
  readonly description: string;
  readonly reply?: TSchema;
  readonly body?: TSchema;
  /** Its headers, by name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One interface: its operations by operation id. */
export interface RouteTable {
  readonly title: string;
  readonly basePath: string;
  /** envelope: `{code, message, data}`. superset: the same with the members of `data` beside it. */
  readonly shape: 'envelope' | 'superset';
  /** `session`: a member who is signed in, by cookie. */
  readonly security: 'api_key' | 'session' | 'none';
  /** Refusals that every operation can answer. */
  readonly errors: readonly ErrorName[];
  /** HTTP statuses of refusals that differ from the catalogue's. */
  readonly statuses?: Readonly<Partial<Record<ErrorName, number>>> | undefined;
  readonly routes: Readonly<Record<string, Route>>;
}

/** What an operation is unless it says otherwise: it answers only that it succeeded, and refuses nothing of its own. */
const usual = { reply: successReply, errors: [] } as const;
type Usual = typeof usual;

/** Declares an operation and keeps its exact type. */
export function route<const R extends Omit<Route, keyof Usual> & Partial<Pick<Route, keyof Usual>>>(
  declared: R,
): Omit<Usual, keyof R> & R {
  return { ...usual, ...declared };
}

/** The rate limit of a merchant API operation. */
export type RateClass = 'read' | 'write' | 'list';

/** The rate limit of an operation. Lists and searches cost most; their paths name them. */
export function rateClassOf(route: Pick<Route, 'effect' | 'path'>): RateClass {
  if (route.effect !== 'query') return 'write';
  const names = route.path.split('/');
  return names.includes('list') || names.includes('search') ? 'list' : 'read';
}

export type ParamsOf<R extends Route> = R['params'] extends TSchema
  ? Static<R['params']>
  : Record<string, never>;
export type QueryOf<R extends Route> = R['query'] extends TSchema
  ? Static<R['query']>
  : Record<string, never>;
export type BodyOf<R extends Route> = R['body'] extends TSchema ? Static<R['body']> : undefined;
export type ReplyOf<R extends Route> = Static<R['reply']>;
