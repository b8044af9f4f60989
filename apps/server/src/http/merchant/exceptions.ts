import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { decide, listExceptions, markResolved } from '#exceptions/exception.ts';
import type { Clock } from '#outside/clock.ts';
import { success } from '../route-handler.ts';
import type { MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** Exceptions: list, decide about late or short money, and resolve one. */
export function addExceptionRoutes(add: MerchantRoutes, deps: { readonly clock: Clock }): void {
  add.read(routes.listExceptions, async ({ params, query, caller: { merchantId } }, db) => {
    const { place, exceptions } = await listExceptions(db, { ...params, ...query, merchantId });
    return { ...place, ...params, exceptions };
  });

  add.change(routes.resolveException, async ({ body, caller: { merchantId } }, transaction) => {
    await markResolved(transaction, deps, { merchantId, exceptionId: body.exceptionId });
    return success;
  });

  for (const [decision, route] of [
    ['accept', routes.acceptException],
    ['refund', routes.refundException],
  ] as const) {
    add.change(route, async ({ body, caller: { merchantId } }, transaction) => {
      await decide(transaction, deps, { merchantId, exceptionId: body.exceptionId, decision });
      return success;
    });
  }
}
