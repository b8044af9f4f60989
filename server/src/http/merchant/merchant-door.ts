import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { FastifyRequest } from 'fastify';
import type { Database } from '#db/database.ts';
import type { LinkDeps } from '#links/link.ts';
import type { LinkPrice } from '#links/link-terms.ts';
import { type ApiKeyIdentity, type ApiKeyLookup, authenticate } from '#merchants/api-key.ts';
import { quoteOf, routesTo } from '#sessions/quote.ts';
import type { SessionDeps } from '#sessions/session.ts';
import type { SessionInserter } from '#sessions/session-insert.ts';
import type { WebhookDeps } from '#webhooks/webhook.ts';
import { envelope } from '../envelope.ts';
import { requirePermission, routesOf } from '../route-handler.ts';
import type { Door } from '../server.ts';
import { addAccountRoutes } from './accounts.ts';
import { addCapabilityRoutes } from './capabilities.ts';
import { addLinkRoutes } from './links.ts';
import { addProductRoutes } from './products.ts';
import { addSessionRoutes } from './sessions.ts';
import { addWebhookRoutes } from './webhooks.ts';

export interface MerchantDoorDeps extends SessionDeps, WebhookDeps {
  readonly db: Database;
  readonly lookupApiKey: ApiKeyLookup;
  /** Stores new sessions; many requests may share one commit. */
  readonly insertSession: SessionInserter;
}

/**
 * The merchant API below `/payment/v1`. Every route but the public ones asks for a key before anything is read of the
 * request, so that a path without a valid key is always 401, whatever it names.
 */
export function merchantDoor(deps: MerchantDoorDeps): Door {
  const { db } = deps;
  const linkDeps: LinkDeps = {
    clock: deps.clock,
    random: deps.random,
    chains: deps.chains,
    origin: deps.origin,
    isPayable: (price) => takesPrice(deps, price),
  };
  return (server) => {
    const shape = { basePath: merchantApi.basePath, shape: envelope };
    const addRoute = routesOf<ApiKeyIdentity>(server, {
      ...shape,
      authorize: async (request, route) => {
        const identity = await authenticate(deps.lookupApiKey, authorizationOf(request), deps.clock.now());
        requirePermission(route, identity.permissions);
        return identity;
      },
    });
    const addPublicRoute = routesOf<undefined>(server, { ...shape, authorize: () => undefined });
    addProductRoutes(addRoute, db, linkDeps);
    addAccountRoutes(addRoute, db);
    addLinkRoutes(addRoute, db, linkDeps);
    addSessionRoutes(addRoute, db, deps);
    addWebhookRoutes(addRoute, db, deps);
    addCapabilityRoutes(addPublicRoute, deps);
  };
}

function authorizationOf(request: FastifyRequest): string | undefined {
  return request.headers.authorization;
}

function takesPrice(deps: Pick<SessionDeps, 'chains' | 'rates'>, price: LinkPrice): boolean {
  const { settlementToken, paymentValue, feeModel } = price;
  return routesTo(deps.chains, deps.rates, settlementToken).some(
    (route) => quoteOf(route, { paymentValue, feeModel }) !== undefined,
  );
}
