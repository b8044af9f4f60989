import type { Queryable } from '@florin/pg';
import { actTitle } from '@florin/protocol/act-title.ts';
import type { auditQuery, auditReply } from '@florin/protocol/audit-log.ts';
import { csvField } from '@florin/protocol/csv-text.ts';
import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import type { MemberPermission } from '@florin/protocol/permission.ts';
import { formatIsoTime } from '@florin/protocol/timestamp.ts';
import type { Static } from 'typebox';
import { type AuditEntry, listAudit } from '#members/audit.ts';
import { shownUrl } from '#webhooks/webhook.ts';
import type { MerchantRoutes } from '../operations/once.ts';
import { FinishedReply } from '../route-handler.ts';

/** Entries of a page. */
const pageSize = 100;
const columns = [
  'entryId',
  'at',
  'actorKind',
  'actorId',
  'actorName',
  'action',
  'act',
  'subject',
  'before',
  'after',
  'clientAddress',
  'userAgent',
  'requestId',
] as const;

/** The audit log, as JSON or CSV. */
export function addAuditRoutes(add: MerchantRoutes): void {
  add.list(routes.listAudit, ({ query, caller: { merchantId, permissions } }, db) =>
    answerAuditPage(db, { merchantId, permissions }, query),
  );
  // The door records it like every change: its body is what was saved.
  add.action(routes.recordExport, async () => {});
}

/** A page of a merchant's log, of one person's, or of the installation's, with URLs of webhooks as the reader sees them. */
export async function answerAuditPage(
  queryable: Queryable,
  {
    permissions = new Set(),
    ...log
  }: {
    readonly merchantId: string | undefined;
    readonly personId?: string;
    readonly permissions?: ReadonlySet<MemberPermission>;
  },
  query: Static<typeof auditQuery>,
): Promise<Static<typeof auditReply> | FinishedReply> {
  const { after, format, from, to, ...rest } = query;
  const seconds = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const filter = { ...rest, from: seconds(from), to: seconds(to) };
  const { entries, nextCursor } = await listAudit(queryable, { ...log, size: pageSize, after, filter });
  const shown = entries.map((entry) => shownEntry(entry, permissions));
  if (format !== 'csv') return { entries: shown, nextCursor };
  const fieldOf = (entry: (typeof shown)[number], column: (typeof columns)[number]) => {
    if (column === 'at') return formatIsoTime(new Date(entry.at));
    if (column === 'before' || column === 'after') return withIsoTimes(entry[column]);
    return column === 'act' ? actTitle(entry.action) : entry[column];
  };
  const lines = [columns, ...shown.map((entry) => columns.map((column) => fieldOf(entry, column)))];
  return new FinishedReply(lines.map((line) => `${line.map(csvField).join(',')}\r\n`).join(''), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="audit.csv"',
    'florin-next-cursor': nextCursor,
  });
}

/** Files have ISO 8601 times, also within what was changed: `createAt` and its like are written otherwise in replies. */
function withIsoTimes(json: string): string {
  return json.replace(/"(\w+At)":"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)"/g, '"$1":"$2T$3Z"');
}

function shownEntry(
  { actor, entryId, at, action, subject, ...entry }: AuditEntry,
  permissions: ReadonlySet<MemberPermission>,
) {
  const { clientAddress, userAgent, requestId } = actor;
  const before = withShownUrl(entry.before, permissions);
  const after = withShownUrl(entry.after, permissions);
  return {
    ...{ entryId, at: at.toISOString(), action, subject, before, after, clientAddress, userAgent, requestId },
    ...{ actorKind: actor.kind, actorId: actor.id, actorName: actor.name },
  };
}

function withShownUrl(json: string | undefined, permissions: ReadonlySet<MemberPermission>): string {
  if (json?.includes('"webhookUrl"') !== true) return json ?? '';
  return JSON.stringify(JSON.parse(json), (name, value: unknown) =>
    name === 'webhookUrl' && typeof value === 'string' ? shownUrl(value, permissions) : value,
  );
}
