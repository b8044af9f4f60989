import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { decide, listExceptions, markResolved } from '#exceptions/exception.ts';
import type { OperationContext } from './context.ts';
import type { MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** Exceptions: list, decide about late or short money, and resolve one. */
export function addExceptionRoutes(
  add: MerchantRoutes,
  deps: Pick<OperationContext, 'clock' | 'deposits'>,
): void {
  add.list(routes.listExceptions, async ({ params, query, caller: { merchantId } }, db) => {
    const { place, exceptions } = await listExceptions(db, { ...params, ...query, merchantId });
    return { ...place, ...params, exceptions };
  });

  add.action(routes.resolveException, ({ body, caller: { merchantId } }, transaction) =>
    markResolved(transaction, deps, { merchantId, exceptionId: body.exceptionId }),
  );

  for (const [decision, route] of [
    ['accept', routes.acceptException],
    ['refund', routes.refundException],
  ] as const) {
    add.action(route, ({ body, caller: { merchantId } }, transaction) =>
      decide(transaction, deps, { merchantId, exceptionId: body.exceptionId, decision }),
    );
  }
}
