import { noIntake } from '#catalog/images/intake.ts';
import type { LinkContext } from '#links/context.ts';
import type { LinkPrice } from '#links/link-terms.ts';
import { quoteOf, routesTo } from '#orders/quote.ts';
import type { SessionContext } from '#sessions/context.ts';
import { addAccountRoutes } from './accounts.ts';
import { addBrandingRoutes } from './branding.ts';
import type { OperationContext } from './context.ts';
import { addDeliveryRoutes } from './deliveries.ts';
import { addEventRoutes } from './events.ts';
import { addExceptionRoutes } from './exceptions.ts';
import { addLinkRoutes } from './links.ts';
import type { MerchantRoutes } from './once.ts';
import { addProductRoutes } from './products.ts';
import { addRefundRoutes } from './refunds.ts';
import { addReportRoutes } from './reports.ts';
import { addSessionRoutes } from './sessions.ts';
import { addWebhookRoutes } from './webhooks.ts';

/** Adds the operations of a merchant that the merchant API and the dashboard share. */
export function addSharedRoutes(add: MerchantRoutes, deps: OperationContext): void {
  const linkDeps: LinkContext = {
    clock: deps.clock,
    random: deps.random,
    chains: deps.chains,
    origin: deps.origin,
    isPayable: (price) => takesPrice(deps, price),
  };
  const images = deps.images ?? noIntake;
  addProductRoutes(add, linkDeps, images);
  addAccountRoutes(add);
  addLinkRoutes(add, linkDeps, deps);
  addBrandingRoutes(add, deps, images);
  addSessionRoutes(add, deps);
  addRefundRoutes(add, deps);
  addExceptionRoutes(add, deps);
  addReportRoutes(add, deps);
  addWebhookRoutes(add, deps);
  addDeliveryRoutes(add, deps);
  addEventRoutes(add, deps);
}

function takesPrice(deps: Pick<SessionContext, 'chains' | 'rates'>, price: LinkPrice): boolean {
  const { settlementToken, paymentValue, feeModel } = price;
  return routesTo(deps.chains, deps.rates, settlementToken).some(
    (route) => quoteOf(route, { paymentValue, feeModel }) !== undefined,
  );
}
