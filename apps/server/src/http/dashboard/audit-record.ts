import { findWebhook } from '@florin/outbox';
import type { Queryable } from '@florin/pg';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { idPrefixes } from '@florin/protocol/id.ts';
import type { MemberPermission } from '@florin/protocol/permission.ts';
import type { Route } from '@florin/protocol/route.ts';
import { findBranding } from '#catalog/branding.ts';
import { productsByIds } from '#catalog/product.ts';
import { microUsdOf } from '#exceptions/deposit-exception.ts';
import { findException } from '#exceptions/exception.ts';
import { linkDetail } from '#links/link-lookup.ts';
import { recordAct } from '#members/audit.ts';
import { findMember } from '#members/membership.ts';
import { accountOf, findAccount } from '#merchants/account.ts';
import { listAccountChanges } from '#merchants/account-change.ts';
import { listApiKeys } from '#merchants/api-key.ts';
import { findMerchant } from '#merchants/merchant.ts';
import { outboxContext } from '#webhooks/outbox-context.ts';
import { keyedWebhookView } from '#webhooks/webhook.ts';
import { type Change, type Recorder, unchanged } from '../operations/once.ts';
import { isRawJson, writeJson } from '../raw-json.ts';
import type { DashboardContext } from './context.ts';
import { memberOf } from './visitor.ts';

const names: ReadonlyMap<Route, string> = new Map(
  Object.entries<Route>(dashboardApi.routes).map(([name, route]) => [route, name]),
);

/** Ids of what a request changes, the most specific first. */
const subjectFields = [
  'productId',
  'linkId',
  'webhookId',
  'deliveryId',
  'refundId',
  'exceptionId',
  'sessionId',
  'userId',
  'invitationId',
  'keyId',
  'changeId',
  'accountId',
] as const;

/** The log keeps URLs whole, so that two of them can be told apart, and keys masked. */
const mayChangeWebhooks: ReadonlySet<MemberPermission> = new Set<MemberPermission>(['webhooks:write']);

/** A report is a long read: it changes nothing of the shop, and the statement orders one at each look at it. Saving its file is recorded
 * (`recordExport`). */
const unrecorded: Route = dashboardApi.routes.createReport;

/** While it waits no read of the account shows its new address, so its subject is the change that the answer names. */
const planned: Route = dashboardApi.routes.changeAccountAddress;

/**
 * Records each change of the door with the subject before and after, as a read shows it to a caller without secrets. What
 * no read shows is recorded by the request's body.
 */
export function auditRecorder(deps: DashboardContext): Recorder {
  return async (transaction, change, make) => {
    if (change.route === unrecorded) return make();
    const { merchantId, actor } = memberOf(change.call.caller);
    // What is created has its id in the answer; its request may name other objects.
    const isNew = change.route.effect === 'create' || change.route === planned;
    const named = isNew ? '' : subjectOf(change.call.body);
    // Of an exception only the decision changes: alone it would not say which money it was about.
    const before = named.startsWith(idPrefixes.exception)
      ? undefined
      : await look(transaction, deps, change, named);
    const made = await make();
    if (made === unchanged) return made;
    const subject = named === '' ? subjectOf(made) : named;
    const after = (await look(transaction, deps, change, subject)) ?? (change.call.bodyText || undefined);
    const action = names.get(change.route) ?? change.route.path;
    await recordAct(transaction, deps, { merchantId, actor, act: { action, subject, before, after } });
    return made;
  };
}

function subjectOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  if (isRawJson(value)) return subjectOf(JSON.parse(writeJson(value)));
  const members = value as Readonly<Record<string, unknown>>;
  const found = subjectFields.map((field) => members[field]).find((id) => typeof id === 'string');
  return typeof found === 'string' ? found : '';
}

/** The subject as JSON; undefined when there is none, or no read shows it. */
async function look(
  queryable: Queryable,
  deps: DashboardContext,
  { route, call }: Change,
  subject: string,
): Promise<string | undefined> {
  const { merchantId } = call.caller;
  if (route === dashboardApi.routes.updateBranding)
    return writeJson(await findBranding(queryable, merchantId));
  if (route === dashboardApi.routes.renameMerchant) {
    const merchantName = (await findMerchant(queryable, merchantId))?.merchantName ?? '';
    return writeJson({ merchantName });
  }
  try {
    const view = await viewOf(queryable, deps, merchantId, subject);
    return view === undefined ? undefined : writeJson(view);
  } catch (error) {
    // The change itself refuses what is not there.
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

async function viewOf(
  queryable: Queryable,
  deps: DashboardContext,
  merchantId: string,
  subject: string,
): Promise<unknown> {
  switch (subject.split('_', 1)[0]) {
    case 'prd':
      return (await productsByIds(queryable, { merchantId, productIds: [subject] }))[0];
    case 'lnk':
      return linkDetail(queryable, deps, { merchantId, linkId: subject });
    case 'wkid':
      return keyedWebhookView(
        await findWebhook(queryable, outboxContext(deps), { ownerId: merchantId, webhookId: subject }),
        mayChangeWebhooks,
      );
    case 'acc': {
      const account = await findAccount(queryable, merchantId, subject);
      return account === undefined ? undefined : { ...accountOf(account), status: account.status };
    }
    case 'acg':
      return (await listAccountChanges(queryable, merchantId)).find(({ changeId }) => changeId === subject);
    case 'exc':
      return decidedMoney(queryable, deps, { merchantId, exceptionId: subject });
    case 'usr':
      return findMember(queryable, { merchantId, userId: subject });
    case 'key': {
      const keys = await listApiKeys(queryable, merchantId);
      const key = keys.find(({ keyId }) => keyId === subject);
      return key === undefined
        ? undefined
        : {
            ...key,
            maxSessionAmount: key.maxSessionAmount === undefined ? null : Number(key.maxSessionAmount),
            maxDayAmount: key.maxDayAmount === undefined ? null : Number(key.maxDayAmount),
          };
    }
    default:
      return undefined;
  }
}

/** What an exception is about, without the payer. */
async function decidedMoney(
  queryable: Queryable,
  { chains }: DashboardContext,
  request: { readonly merchantId: string; readonly exceptionId: string },
) {
  const { kind, sessionId, tokenId, amountInToken, decision, status } = await findException(
    queryable,
    request,
  );
  const token = chains.token(tokenId);
  const amount = token === undefined ? undefined : Number(microUsdOf(token, BigInt(amountInToken)));
  return {
    kind,
    sessionId,
    tokenId,
    ...(amount === undefined ? { amountInToken } : { amount }),
    decision,
    status,
  };
}
