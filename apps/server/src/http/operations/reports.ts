import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { createReport, findReport, type ReportContext } from '#reports/report.ts';
import type { MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** Reports: order one, and read how far it is. */
export function addReportRoutes(add: MerchantRoutes, deps: ReportContext): void {
  add.change(routes.createReport, ({ body, caller: { merchantId } }, transaction) =>
    createReport(transaction, deps, { merchantId, body }),
  );

  add.read(routes.getReport, ({ params: { reportId }, caller: { merchantId } }, db) =>
    findReport(db, deps, { merchantId, reportId }),
  );
}
