import type { Json, JsonObject } from '@florin/protocol/openapi-schema.ts';
import type { Route, RouteTable } from '@florin/protocol/route.ts';
import { answerSchema } from './output-schema.ts';
import type { CallApi, Tool, ToolAnswer } from './tool.ts';

/** The argument of tools that may be repeated safely under a key. */
const idempotencyKey = {
  type: 'string',
  maxLength: 255,
  description: 'The same key again repeats a call, which is done once',
} as const;

/** The page that a list has where no argument names one. */
const firstPage: Readonly<Record<string, number>> = { page: 1, size: 20 };

export interface RouteToolOptions {
  readonly name: string;
  readonly table: RouteTable;
  readonly route: Route;
  readonly callApi: CallApi;
  readonly isDestructive: boolean;
  readonly isOpenWorld: boolean;
  /** Replaces the description of the operation. */
  readonly description?: string;
}

/**
 * A tool for one operation of an interface. Its arguments are the operation's parameters and body, by the operation's
 * own schemas; a list without `page` and `size` answers its first page of 20. The operation itself checks them, the permissions
 * and the limits.
 */
export function routeTool({ name, table, route, callApi, description, ...kind }: RouteToolOptions): Tool {
  const isKeyed = table.security === 'api_key' && route.method === 'POST';
  const parts = [route.params, route.query, route.body].filter((part) => part !== undefined);
  const properties = Object.assign(
    {},
    ...parts.map((part) => part.properties),
    isKeyed ? { idempotencyKey } : {},
  );
  const params = (route.params?.required ?? []).filter((param) => firstPage[param] === undefined);
  const required = [...params, ...(route.body?.required ?? [])];
  return {
    name,
    title: route.summary,
    description: description ?? `${route.summary}. ${route.description ?? ''}`.trim(),
    inputSchema: { type: 'object', properties: plain(properties), required, additionalProperties: false },
    outputSchema: answerSchema(route.reply),
    isDestructive: kind.isDestructive,
    isOpenWorld: kind.isOpenWorld,
    isReadOnly: route.effect === 'query',
    isIdempotent: route.effect === 'query' || table.security === 'none',
    async run(input) {
      const { path, body, key } = requestOf(route, input, isKeyed);
      const text = await callApi({
        method: route.method,
        path: table.basePath + path,
        ...(body === undefined ? {} : { body }),
        ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
      });
      return answerOf(text);
    },
  };
}

/** The schema for other programs: without the formats and keywords that only the service knows. */
function plain(schema: object): JsonObject {
  const text = JSON.stringify(schema, (name, value: unknown) => {
    if (name === 'trimmed') return undefined;
    if (name !== 'format' || typeof value !== 'string') return value;
    return value === 'https-url' || value === 'image-url' ? 'uri' : undefined;
  });
  return JSON.parse(text) as JsonObject;
}

/** Puts each argument where the operation expects it. Unknown ones go into the body, which refuses them. */
function requestOf(route: Route, input: JsonObject, isKeyed: boolean) {
  const rest = new Map<string, Json>(Object.entries(input));
  const take = (name: string): string => {
    const value = rest.get(name);
    rest.delete(name);
    return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
  };
  const key = isKeyed && rest.has('idempotencyKey') ? take('idempotencyKey') : undefined;
  // Dots alone would name another path; no valid id or number consists of them.
  const path = route.path.replace(/:(\w+)/g, (_whole, name: string) =>
    encodeURIComponent((rest.has(name) ? take(name) : String(firstPage[name] ?? '')).replace(/^\.+$/, '-')),
  );
  const query = Object.keys(route.query?.properties ?? {})
    .filter((name) => rest.has(name))
    .map((name) => `${name}=${encodeURIComponent(take(name))}`)
    .join('&');
  const body = route.method === 'POST' ? Object.fromEntries(rest) : undefined;
  return { path: query === '' ? path : `${path}?${query}`, body, key };
}

/** The returned envelope. Its code shows whether it is a refusal. */
function answerOf(text: string): ToolAnswer {
  const value = JSON.parse(text) as JsonObject;
  const { code, message, data = null, error = null } = value;
  // The view's members beside `data` are repetitions.
  const envelope = error === null ? { code, message, data } : { code, message, data, error };
  return { value: JSON.parse(JSON.stringify(envelope)) as JsonObject, isError: code !== 0 };
}
