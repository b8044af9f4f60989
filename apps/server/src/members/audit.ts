import type { Queryable, Transaction } from '@florin/pg';
import { fieldRefusal } from '@florin/protocol/error.ts';
import { isId, newId } from '@florin/protocol/id.ts';
import {
  actorOnSubject,
  auditPage,
  insertAuditEntry,
  installationAuditPage,
  placesOfPerson,
} from './audit.sql.ts';
import type { Act, Actor, MemberContext, PersonalAct } from './context.ts';

export type { Act, Actor };

/** The operator at the command line. */
export const operator: Actor = {
  kind: 'operator',
  id: '',
  name: 'operator',
  clientAddress: '',
  userAgent: '',
  requestId: '',
};

export interface AuditEntry extends Act {
  readonly entryId: string;
  readonly at: Date;
  readonly actor: Actor;
}

/** Characters of a browser's name that are kept; browsers send some 150. */
const maxAgentLength = 400;

/**
 * Adds an entry in the transaction of the act; without a merchant to the installation's own log. PostgreSQL refuses to change
 * or delete entries. Owners and admins are told by e-mail of acts on who may act for their merchant.
 */
export async function recordAct(
  transaction: Transaction,
  deps: MemberContext,
  request: { readonly merchantId: string | undefined; readonly actor: Actor; readonly act: Act },
): Promise<void> {
  const { merchantId, actor, act } = request;
  const at = deps.clock.now();
  await transaction.query(insertAuditEntry, {
    auditId: newId('audit', deps.random.bytes),
    merchantId: merchantId ?? null,
    at,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    action: act.action,
    subject: act.subject,
    before: act.before ?? null,
    after: act.after ?? null,
    clientAddress: actor.clientAddress,
    userAgent: actor.userAgent.slice(0, maxAgentLength),
    requestId: actor.requestId,
  });
  if (merchantId !== undefined) await deps.tellOwners?.(transaction, { merchantId, actor, act, at });
}

/**
 * Adds the entry of an act about a person, such as a new passkey: to the installation's log, which the person reads, too, and
 * to the log of each merchant that the person acts for. The person is told by e-mail, who may not have done it.
 */
export async function recordPersonalAct(
  transaction: Transaction,
  deps: MemberContext,
  { userId, actor, act }: PersonalAct,
): Promise<void> {
  const places = await transaction.query(placesOfPerson, { userId });
  for (const merchantId of [undefined, ...places.map((place) => place.merchant_id)])
    await recordAct(transaction, deps, { merchantId, actor, act });
  await deps.tellPerson?.(transaction, { userId, actor, act, at: deps.clock.now() });
}

/** Who did the latest recorded act on an object of the merchant, and from where. Undefined when none is recorded. */
export async function findLastActor(
  queryable: Queryable,
  object: { readonly merchantId: string; readonly subject: string },
): Promise<Pick<Actor, 'name' | 'clientAddress' | 'userAgent'> | undefined> {
  const [row] = await queryable.query(actorOnSubject, object);
  if (row === undefined) return undefined;
  return { name: row.actor_name, clientAddress: row.client_address, userAgent: row.user_agent };
}

/** What a page of the log is narrowed to. Times are in Unix seconds, both ends included. */
export interface AuditFilter {
  /** An id, or a whole e-mail address in any case. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/**
 * A page of the merchant's entries, newest first; without a merchant of the installation's, and of those only what a person
 * did or suffered where one is given. Refuses a cursor that is no id of an entry (400101).
 */
export async function listAudit(
  queryable: Queryable,
  request: {
    readonly merchantId: string | undefined;
    readonly personId?: string;
    readonly size: number;
    readonly after?: string | undefined;
    readonly filter?: AuditFilter;
  },
): Promise<{ readonly entries: readonly AuditEntry[]; readonly nextCursor: string }> {
  const { merchantId, personId = '', size, after, filter = {} } = request;
  if (after !== undefined && !isId('audit', after)) {
    throw fieldRefusal('after', 'must be the nextCursor of a page');
  }
  const { actor = '', action = '', subject = '', from, to } = filter;
  const page = {
    ...{ after: after ?? null, limit: size + 1, actor, action, subject },
    from: from === undefined ? null : new Date(from * 1_000),
    before: to === undefined ? null : new Date((to + 1) * 1_000),
  };
  const rows =
    merchantId === undefined
      ? await queryable.query(installationAuditPage, { ...page, personId })
      : await queryable.query(auditPage, { ...page, merchantId });
  const entries = rows.slice(0, size).map((row) => ({
    entryId: row.audit_id,
    at: row.at,
    actor: {
      kind: row.actor_kind as Actor['kind'],
      id: row.actor_id,
      name: row.actor_name,
      clientAddress: row.client_address,
      userAgent: row.user_agent,
      requestId: row.request_id,
    },
    action: row.action,
    subject: row.subject,
    before: row.before ?? undefined,
    after: row.after ?? undefined,
  }));
  return { entries, nextCursor: rows.length > size ? (entries.at(-1)?.entryId ?? '') : '' };
}
