import { timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Queryable } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';
import { openReport, reportPath } from '#reports/report.ts';
import type { Door } from '../server.ts';

/** The files of reports: `GET /reports/<reportId>/<secret>`, for a day to clients that know the address. */
export function reportsDoor(deps: { readonly db: Queryable; readonly clock: Clock }): Door {
  return (server) => {
    server.get<{ Params: { reportId: string; secret: string } }>(
      `${reportPath}:reportId/:secret`,
      async (request, reply) => {
        const { reportId, secret } = request.params;
        const isSecret = (stored: string) => {
          const [given, known] = [Buffer.from(secret), Buffer.from(stored)];
          return given.length === known.length && timingSafeEqual(given, known);
        };
        const report = await openReport(deps.db, deps, { reportId, isSecret });
        if (report === undefined) throw new Refusal('route_unknown');
        const { type, format, pieces } = report;
        return reply
          .headers({
            'cache-control': 'private, no-store',
            'content-disposition': `attachment; filename="${type}-${reportId}.${format}"`,
            'content-security-policy': "default-src 'none'; sandbox",
            'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
            'x-content-type-options': 'nosniff',
          })
          .send(Readable.from(pieces));
      },
    );
  };
}
