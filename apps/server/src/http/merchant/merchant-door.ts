import { Refusal } from '@florin/protocol/error.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Route } from '@florin/protocol/route.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { noIntake } from '#catalog/images/intake.ts';
import type { LinkContext } from '#links/context.ts';
import type { LinkPrice } from '#links/link-terms.ts';
import { type ApiKeyIdentity, authenticate } from '#merchants/api-key.ts';
import { idempotencyKeyOf } from '#merchants/idempotency.ts';
import { quoteOf, routesTo } from '#orders/quote.ts';
import type { SessionContext } from '#sessions/context.ts';
import { envelope } from '../envelope.ts';
import { type MerchantGuards, merchantGuards, networkOf } from '../rate-limit.ts';
import { requirePermission, routesOf } from '../route-handler.ts';
import type { Door } from '../server.ts';
import { addAccountRoutes } from './accounts.ts';
import { addBrandingRoutes } from './branding.ts';
import { addCapabilityRoutes } from './capabilities.ts';
import type { MerchantDoorContext } from './context.ts';
import { addPreflightRoutes, allowEveryOrigin, allowOrigin } from './cors.ts';
import { addDeliveryRoutes } from './deliveries.ts';
import { addEventRoutes } from './events.ts';
import { addExceptionRoutes } from './exceptions.ts';
import { addLinkRoutes } from './links.ts';
import { type MerchantCaller, merchantRoutes } from './once.ts';
import { addProductRoutes } from './products.ts';
import { addRefundRoutes } from './refunds.ts';
import { addSessionRoutes } from './sessions.ts';
import { addWebhookRoutes } from './webhooks.ts';

/**
 * The merchant API below `/payment/v1`. Every route except the public ones checks the key before it reads any of the
 * request, so that every path without a valid key is 401.
 */
export function merchantDoor(deps: MerchantDoorContext): Door {
  const linkDeps: LinkContext = {
    clock: deps.clock,
    random: deps.random,
    chains: deps.chains,
    origin: deps.origin,
    isPayable: (price) => takesPrice(deps, price),
  };
  return (server) => {
    const shape = { basePath: merchantApi.basePath, shape: envelope, addresses: deps.addresses };
    const guards = merchantGuards(deps.rateLimits, deps.clock);
    const addRoute = routesOf<MerchantCaller>(server, {
      ...shape,
      authorize: async (request, route, reply) => {
        const identity = await identify(deps, guards, request, reply);
        allowOrigin(reply, identity.webOrigin);
        void deps.recordKeyUse?.(identity.keyId);
        guards.ofKey(route, identity.keyId, reply);
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
    const add = merchantRoutes(addRoute, deps);
    addProductRoutes(add, linkDeps, deps.images ?? noIntake);
    addAccountRoutes(add);
    addLinkRoutes(add, linkDeps);
    addBrandingRoutes(add, deps, deps.images ?? noIntake);
    addSessionRoutes(add, deps);
    addRefundRoutes(add, deps);
    addExceptionRoutes(add, deps);
    addWebhookRoutes(add, deps);
    addDeliveryRoutes(add, deps);
    addEventRoutes(add, deps);
    addCapabilityRoutes(addPublicRoute, deps);
    addPreflightRoutes(server, {
      basePath: merchantApi.basePath,
      routes: Object.values<Route>(merchantApi.routes).filter((route) => route.permissions.length > 0),
      limit: (request, reply) => guards.publicRead(networkOf(request.ip), reply),
      isOriginListed: deps.isOriginListed ?? (async () => false),
    });
  };
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

function takesPrice(deps: Pick<SessionContext, 'chains' | 'rates'>, price: LinkPrice): boolean {
  const { settlementToken, paymentValue, feeModel } = price;
  return routesTo(deps.chains, deps.rates, settlementToken).some(
    (route) => quoteOf(route, { paymentValue, feeModel }) !== undefined,
  );
}
