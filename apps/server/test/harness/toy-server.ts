import { Refusal } from '@florin/protocol/error.ts';
import { type Route, route } from '@florin/protocol/route.ts';
import { pageParams, successReply, text } from '@florin/protocol/schema.ts';
import Type from 'typebox';
import { envelope, type ReplyShape } from '#http/envelope.ts';
import { rawJson } from '#http/raw-json.ts';
import { requirePermission, routesOf, success } from '#http/route-handler.ts';
import { buildServer } from '#http/server.ts';
import { systemRandom } from '#outside/random.ts';
import type { Log } from '#telemetry/log.ts';

const base = { tag: 'Toys', permissions: [], errors: [], effect: 'query' } as const;

const toyBody = Type.Object(
  {
    name: text({ min: 1, max: 5 }),
    lines: Type.Optional(
      Type.Array(Type.Object({ price: Type.Integer({ minimum: 1 }) }, { additionalProperties: false })),
    ),
    site: Type.Optional(Type.Union([Type.Literal(''), Type.String({ format: 'https-url' })])),
    model: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])),
    extra: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: false },
);

/** One route for each feature of the server's routes. */
const toys = {
  echo: route({
    ...base,
    method: 'POST',
    path: '/toy/echo',
    summary: 'Echo',
    body: toyBody,
    reply: Type.Unknown(),
  }),
  list: route({
    ...base,
    method: 'GET',
    path: '/toy/list/:page/:size',
    summary: 'List',
    params: pageParams,
    reply: Type.Unknown(),
  }),
  one: route({ ...base, method: 'GET', path: '/toy/:toyId', summary: 'One', reply: successReply }),
  create: route({
    ...base,
    effect: 'create',
    method: 'POST',
    path: '/toy/create',
    summary: 'Create',
    body: toyBody,
    reply: successReply,
  }),
  guarded: route({
    ...base,
    permissions: ['products:read'],
    method: 'POST',
    path: '/toy/guarded',
    summary: 'Guarded',
    body: toyBody,
    reply: successReply,
  }),
  ending: route({
    ...base,
    method: 'GET',
    path: '/toy/ending/:page/:size',
    summary: 'Ending',
    params: pageParams,
    deprecation: {
      // 2027-01-01 at midnight, and 2028-06-30 at noon.
      sinceSeconds: 1_798_761_600,
      endsAtSeconds: 1_845_979_200,
      instead: 'Use /toy/list.',
    },
    reply: Type.Unknown(),
  }),
} as const satisfies Record<string, Route>;

/** A log that keeps its errors. */
export function recordingLog(): Log & { readonly errors: unknown[] } {
  const errors: unknown[] = [];
  return { info: () => {}, warn: () => {}, error: (_event, error) => void errors.push(error), errors };
}

/** A server with routes for these tests only; failing routes throw the result of `fail`. */
export async function toyServer(
  options: { shape?: ReplyShape; fail?: () => unknown; log?: Log; requestLogShare?: number | undefined } = {},
) {
  const fail = async (): Promise<never> => {
    throw options.fail?.() ?? new Refusal('product_not_found', 'prd_x');
  };
  return buildServer({
    log: options.log ?? recordingLog(),
    requestLogShare: options.requestLogShare,
    random: systemRandom,
    origin: 'https://pay.example.com',
    ready: async () => ({ ready: false, checks: { database: 'unreachable' } }),
    doors: [
      (server) => {
        const addRoute = routesOf(server, {
          basePath: '/v1',
          shape: options.shape ?? envelope,
          authorize: (_request, declared) => requirePermission(declared, new Set()),
        });
        addRoute(toys.echo, async ({ body, bodyText }) => ({ body, sent: rawJson(bodyText) }));
        addRoute(toys.list, async ({ params }) => params);
        addRoute(toys.one, fail);
        addRoute(toys.create, fail);
        addRoute(toys.guarded, async () => success);
        addRoute(toys.ending, async ({ params }) => params);
      },
    ],
  });
}

/** The headers of a JSON body. */
export const json = { 'content-type': 'application/json' };
