import { errorCatalogue, Refusal } from '@florin/protocol/error.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ApiKeyIdentity, authenticate } from '#merchants/api-key.ts';
import { idempotencyKeyOf } from '#merchants/idempotency.ts';
import { envelope } from '../envelope.ts';
import { type MerchantCaller, merchantRoutes } from '../operations/once.ts';
import { addSharedRoutes } from '../operations/shared.ts';
import { type MerchantGuards, merchantGuards, networkOf } from '../rate-limit.ts';
import { requirePermission, routesOf } from '../route-handler.ts';
import type { Door } from '../server.ts';
import { addCapabilityRoutes } from './capabilities.ts';
import type { MerchantDoorContext } from './context.ts';
import { addPreflightRoutes, allowEveryOrigin, allowOrigin } from './cors.ts';

/**
 * The merchant API below `/payment/v1`. Every route except the public ones checks the key before it reads any of the
 * request, so that every path without a valid key is 401.
 */
export function merchantDoor(deps: MerchantDoorContext): Door {
  return (server) => {
    const shape = { basePath: merchantApi.basePath, shape: envelope, addresses: deps.addresses };
    const guards = merchantGuards(server, 'merchant', deps.limits);
    const addRoute = routesOf<MerchantCaller>(server, {
      ...shape,
      authorize: async (request, route, reply) => {
        const identity = await identify(deps, guards, request, reply);
        allowOrigin(reply, identity.webOrigin);
        void deps.recordKeyUse?.(identity.callerId);
        guards.ofKey(route, identity.callerId, reply);
        requirePermission(route, identity.permissions);
        // Reads are safe to repeat without a key, so an Idempotency-Key on them is ignored.
        const header = route.method === 'POST' ? request.headers['idempotency-key'] : undefined;
        return { ...identity, idempotencyKey: idempotencyKeyOf(header) };
      },
    });
    const addPublicRoute = routesOf<undefined>(server, {
      ...shape,
      authorize: (request, _route, reply) => {
        allowEveryOrigin(reply);
        guards.publicRead(networkOf(request.ip), reply);
        return undefined;
      },
    });
    addSharedRoutes(merchantRoutes(addRoute, deps), deps);
    addCapabilityRoutes(addPublicRoute, deps);
    refuseOtherLists(server);
    addPreflightRoutes(server, {
      basePath: merchantApi.basePath,
      routes: Object.values<Route>(merchantApi.routes).filter((route) => route.permissions.length > 0),
      limit: (request, reply) => guards.publicRead(networkOf(request.ip), reply),
      isOriginListed: deps.isOriginListed ?? (async () => false),
    });
  };
}

const sessionLists = Object.values<Route>(merchantApi.routes).flatMap(
  ({ path }) => /^\/session\/list\/(.+)\/:page\/:size$/.exec(path)?.[1] ?? [],
);

/** Refuses a list of sessions of an unknown status (404000), and names those that there are. */
function refuseOtherLists(server: FastifyInstance): void {
  server.get(`${merchantApi.basePath}/session/list/*`, {
    onRequest: async ({ method, url }) => {
      const known = `/session/list/<status>/:page/:size with the status ${sessionLists.join(', ')}`;
      const detail = `${method} ${url.split('?', 1)[0]}; lists of sessions are ${known}`;
      throw new Refusal('route_unknown', { param: 'status', detail });
    },
    handler: async () => errorCatalogue.route_unknown.text,
  });
}

/** Identifies the caller. Addresses that keep failing get 900101; a valid key passes even from those. */
async function identify(
  deps: MerchantDoorContext,
  guards: MerchantGuards,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ApiKeyIdentity> {
  const { authorization, origin } = request.headers;
  const source = { clientAddress: request.ip, origin };
  try {
    return await authenticate(deps.lookupApiKey, authorization, deps.clock.now(), source);
  } catch (error) {
    if (error instanceof Refusal) guards.failedAuthentication(networkOf(request.ip), reply);
    throw error;
  }
}
