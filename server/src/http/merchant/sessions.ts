import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { metadataLimits, type SessionStatus } from '@florin/protocol/session.ts';
import type { Database } from '#db/database.ts';
import type { ApiKeyIdentity } from '#merchants/api-key.ts';
import {
  cancelSession,
  createCheckoutSession,
  findSessionView,
  listSessionViews,
  type SessionDeps,
} from '#sessions/session.ts';
import type { SessionInserter } from '#sessions/session-insert.ts';
import { type SessionJsonOptions, sessionJson, sessionViewJson } from '#sessions/session-json.ts';
import { jsonDepth, rawMember } from '../body.ts';
import { rawJson } from '../raw-json.ts';
import { type AddRoute, success } from '../route-handler.ts';
import { hasMore } from './page.ts';

const { routes } = merchantApi;

/** Checkout sessions: create, cancel, read, and a list for every status. */
export function addSessionRoutes(
  addRoute: AddRoute<ApiKeyIdentity>,
  db: Database,
  deps: SessionDeps & { readonly insertSession: SessionInserter },
): void {
  const viewFor = (caller: ApiKeyIdentity): SessionJsonOptions => ({
    origin: deps.origin,
    // The page's secret is never given to keys that may live in a browser.
    showClientCode: caller.kind === 'secret',
    showPayerEmail: caller.permissions.has('payer_pii:read'),
  });

  addRoute(routes.createCheckoutSession, async ({ body, bodyText, caller }) => {
    const metadataText = metadataOf(bodyText);
    const { merchantId } = caller;
    // The insert is one statement of its own, shared with other requests; what is read before it is checked again there.
    const request = { merchantId, body, metadataText };
    const session = await createCheckoutSession(db, deps, request, deps.insertSession);
    return rawJson(sessionJson(session, viewFor(caller)));
  });

  addRoute(routes.cancelCheckoutSession, async ({ body, caller: { merchantId } }) => {
    await db.transaction((transaction) => cancelSession(transaction, deps, { ...body, merchantId }));
    return success;
  });

  addRoute(routes.getSession, async ({ params: { sessionId }, caller }) => {
    const view = await findSessionView(db, { merchantId: caller.merchantId, sessionId });
    if (view === undefined) throw new Refusal('session_not_found', sessionId);
    return rawJson(sessionViewJson(view, viewFor(caller)));
  });

  for (const { route, status } of sessionLists) {
    addRoute(route, async ({ params, caller }) => {
      const { merchantId } = caller;
      const { total, views } = await listSessionViews(db, {
        merchantId,
        ...(status === undefined ? {} : { status }),
        ...params,
      });
      const options = viewFor(caller);
      return {
        total,
        ...params,
        hasMore: hasMore(total, params),
        sessions: views.map((view) => rawJson(sessionViewJson(view, options))),
      };
    });
  }
}

const sessionLists: readonly { route: typeof routes.listSessions; status?: SessionStatus }[] = [
  { route: routes.listSessions },
  { route: routes.listInitializedSessions, status: 'initialized' },
  { route: routes.listPaidSessions, status: 'paid' },
  { route: routes.listSettlingSessions, status: 'settling' },
  { route: routes.listCompletedSessions, status: 'completed' },
  { route: routes.listCancelledSessions, status: 'cancelled' },
  { route: routes.listExpiredSessions, status: 'expired' },
  { route: routes.listSettlementPendingSessions, status: 'settlement_pending' },
];

/** The merchant's metadata exactly as sent, `{}` when absent. The schema has already said that it is an object. */
function metadataOf(bodyText: string): string {
  const text = rawMember(bodyText, 'metadata');
  if (text === undefined) return '{}';
  if (Buffer.byteLength(text) > metadataLimits.bytes) {
    throw fieldRefusal('metadata', `must have at most ${metadataLimits.bytes} bytes`);
  }
  if (jsonDepth(text) > metadataLimits.depth) {
    throw fieldRefusal('metadata', `must not nest deeper than ${metadataLimits.depth} levels`);
  }
  return text;
}
