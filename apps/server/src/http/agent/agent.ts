import type { Database, Queryable } from '@florin/pg';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyInstance } from 'fastify';
import type { AuthorizationContext } from '#authorizations/context.ts';
import { type CreationParts, createAuthorizedSession, creationPartsOf } from '#authorizations/creation.ts';
import { preparedView } from '#authorizations/execution-view.ts';
import { linkView } from '#authorizations/link-view.ts';
import { checkPreparation, payerStateFor, prepareAuthorizedOrder } from '#authorizations/preparation.ts';
import { agentSessionView, createdSessionView } from '#authorizations/session-view.ts';
import { depositsOf } from '#deposits/session-deposits.ts';
import { findLink } from '#links/link-lookup.ts';
import {
  findLostPayments,
  findSeenPayments,
  isReturnedInFull,
  type SeenPayment,
} from '#sessions/progress.ts';
import { findSession } from '#sessions/session.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { SubmissionContext } from '#submissions/context.ts';
import { checkSubmission, recordSubmission } from '#submissions/submission.ts';
import { supersetEnvelope } from '../envelope.ts';
import { chargedTo, networkOf, type WalletCallGuard } from '../rate-limit.ts';
import { type AddRoute, routesOf } from '../route-handler.ts';
import type { Door } from '../server.ts';
import { allowAnyPage } from './cors.ts';

export interface AgentDoorOptions {
  readonly db: Database;
  readonly deps: AuthorizationContext;
  /** Absent where the service does not pay for payers' transactions. */
  readonly submissions?: SubmissionContext | undefined;
  /** Limits smart account calls; without it there is no limit. */
  readonly walletCalls?: WalletCallGuard;
  /** Base paths of the four endpoints, such as `/aipay/api/v1`, and `/api/v1` behind a host of its own. */
  readonly basePaths: readonly string[];
}

/** The door of the AI protocol. It needs no key: the payer's signature authorizes. */
export function agentDoor(options: AgentDoorOptions): Door {
  return (server: FastifyInstance) => {
    allowAnyPage(server, options.basePaths, agentApi.routes);
    // One for all paths, so that concurrent requests share round trips across paths.
    const creation = creationPartsOf(options.db, options.deps);
    for (const basePath of options.basePaths) {
      const addRoute = routesOf(server, { basePath, shape: supersetEnvelope, authorize: () => null });
      addReads(addRoute, options);
      addSigned(addRoute, options, creation);
    }
  };
}

function addReads(addRoute: AddRoute<null>, { db, deps }: AgentDoorOptions): void {
  addRoute(agentApi.routes.getPaymentLink, async ({ params }) => {
    const link = await findLink(db, params.linkId, deps.clock.now());
    if (link === undefined) throw new Refusal('link_not_found', params.linkId);
    return linkView(deps, link);
  });
  addRoute(agentApi.routes.getPaymentSession, async ({ params }) => {
    const session = await findSession(db, params.sessionId);
    if (session === undefined) throw new Refusal('session_not_found', params.sessionId);
    const mayBeLost = session.status === 'settlement_pending' || session.status === 'expired';
    const [awaited, seen, lost, isReturned] = await Promise.all([
      depositsOf(db, deps, session),
      seenPaymentOf(db, session),
      findLostPayments(db, mayBeLost && session.orderId !== '' ? [session.orderId] : []),
      isReturnedInFull(db, session),
    ]);
    return agentSessionView(deps, session, {
      deposits: awaited.deposits,
      seen,
      condition: {
        lostUntil: lost.get(session.orderId),
        isInDoubt: awaited.isInDoubt || seen?.isInDoubt === true,
        isReturned,
      },
    });
  });
}

/** The payment of a session that is in a block, final or not. */
async function seenPaymentOf(db: Queryable, session: StoredSession): Promise<SeenPayment | undefined> {
  if (session.initiateTx === '') return undefined;
  return (await findSeenPayments(db, [session.sessionId])).get(session.sessionId);
}

function addSigned(
  addRoute: AddRoute<null>,
  { db, deps, submissions, walletCalls = () => {} }: AgentDoorOptions,
  creation: CreationParts,
): void {
  addRoute(agentApi.routes.createPaymentSession, async ({ body, clientAddress }) => {
    const charged = chargedTo(deps, walletCalls, clientAddress);
    const { session, isReplay } = await createAuthorizedSession(charged, creation, body);
    return createdSessionView(deps, session, isReplay);
  });
  addRoute(agentApi.routes.preparePayment, async ({ body, clientAddress }) => {
    const checked = await checkPreparation(db, chargedTo(deps, walletCalls, clientAddress), body);
    const payerState = await payerStateFor(deps, checked);
    const authorized =
      checked.kind === 'earlier'
        ? checked.authorized
        : await db.transaction((transaction) =>
            prepareAuthorizedOrder(transaction, deps, checked, networkOf(clientAddress)),
          );
    const { chain, token } = checked;
    return preparedView(deps, { ...authorized, chain, token, payerState });
  });
  addRoute(agentApi.routes.submitPayment, async ({ body, clientAddress }) => {
    if (submissions === undefined) throw new Refusal('method_not_available', body.method);
    const charged = chargedTo(submissions, walletCalls, clientAddress);
    const checked = await checkSubmission(db, charged, { body, network: networkOf(clientAddress) });
    if (checked.kind === 'earlier') return checked.view;
    const { view, transactionId } = await db.transaction((transaction) =>
      recordSubmission(transaction, submissions, checked),
    );
    if (transactionId !== undefined) await submissions.sender.broadcast(transactionId);
    return view;
  });
}
