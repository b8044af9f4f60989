import { type AuditLogKind, isAct } from '@florin/protocol/act-title.ts';
import { usePages } from '../api/use-call.ts';
import { useFilters } from '../app/use-filters.ts';
import { dayEnd, dayStart } from '../ui/day.ts';

const filterNames = ['actor', 'action', 'subject', 'from', 'to'] as const;
export type AuditFilters = Readonly<Record<(typeof filterNames)[number], string>>;
/** A merchant's log, a person's own, or the installation's. */
export type AuditCall = 'GET /audit/list' | 'GET /me/audit/list' | 'GET /staff/audit/list';

const kinds: Readonly<Record<AuditCall, AuditLogKind>> = {
  'GET /audit/list': 'merchant',
  'GET /me/audit/list': 'person',
  'GET /staff/audit/list': 'installation',
};

/** The filters as the service takes them. */
function queryOf({ from, to, ...texts }: AuditFilters) {
  const given = { ...texts, from: secondsText(dayStart(from)), to: secondsText(dayEnd(to)) };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

const secondsText = (seconds: number | undefined) => (seconds === undefined ? '' : String(seconds));

/** An audit log, narrowed to what the address says. */
export function useAudit(call: AuditCall) {
  const filters = useFilters(filterNames, {
    action: isAct,
    from: (day) => dayStart(day) !== undefined,
    to: (day) => dayEnd(day) !== undefined,
  });
  const query = queryOf(filters.values);
  const log = usePages(
    call,
    (after) => ({ query: after === undefined ? query : { ...query, after } }),
    ({ nextCursor }) => nextCursor,
  );
  return { call, filters, query, log, kind: kinds[call] };
}
