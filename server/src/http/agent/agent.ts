import { agentApi } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyInstance } from 'fastify';
import type { AuthorizationDeps } from '#authorizations/authorization.ts';
import { checkCreation, createAuthorizedSession } from '#authorizations/creation.ts';
import { preparedView } from '#authorizations/execution-view.ts';
import { linkView } from '#authorizations/link-view.ts';
import { allowanceFor, checkPreparation, prepareAuthorizedOrder } from '#authorizations/preparation.ts';
import { agentSessionView, createdSessionView } from '#authorizations/session-view.ts';
import type { Database } from '#db/database.ts';
import { findLink } from '#links/link.ts';
import { findSession } from '#sessions/session.ts';
import { supersetEnvelope } from '../envelope.ts';
import { type AddRoute, routesOf } from '../route-handler.ts';
import type { Door } from '../server.ts';

export interface AgentDoorOptions {
  readonly db: Database;
  readonly deps: AuthorizationDeps;
  /** Where the four endpoints answer, such as `/aipay/api/v1`, and `/api/v1` behind a host of its own. */
  readonly basePaths: readonly string[];
}

/** The door of the AI protocol: no key, the payer's signature authorizes. */
export function agentDoor(options: AgentDoorOptions): Door {
  return (server: FastifyInstance) => {
    for (const basePath of options.basePaths) {
      const addRoute = routesOf(server, { basePath, shape: supersetEnvelope, authorize: () => null });
      addReads(addRoute, options);
      addSigned(addRoute, options);
    }
  };
}

function addReads(addRoute: AddRoute<null>, { db, deps }: AgentDoorOptions): void {
  addRoute(agentApi.routes.getPaymentLink, async ({ params }) => {
    const link = await findLink(db, params.linkId);
    if (link === undefined) throw new Refusal('link_not_found', params.linkId);
    return linkView(deps, link);
  });
  addRoute(agentApi.routes.getPaymentSession, async ({ params }) => {
    const session = await findSession(db, params.sessionId);
    if (session === undefined) throw new Refusal('session_not_found', params.sessionId);
    return agentSessionView(deps, session);
  });
}

function addSigned(addRoute: AddRoute<null>, { db, deps }: AgentDoorOptions): void {
  addRoute(agentApi.routes.createPaymentSession, async ({ body }) => {
    const checked = await checkCreation(db, deps, body);
    const { session, isReplay } =
      checked.kind === 'earlier'
        ? { session: checked.session, isReplay: true }
        : await db.transaction((transaction) => createAuthorizedSession(transaction, deps, checked));
    return createdSessionView(deps, session, isReplay);
  });
  addRoute(agentApi.routes.preparePayment, async ({ body }) => {
    const checked = await checkPreparation(db, deps, body);
    const allowance = await allowanceFor(deps, checked);
    const authorized =
      checked.kind === 'earlier'
        ? checked.authorized
        : await db.transaction((transaction) => prepareAuthorizedOrder(transaction, deps, checked));
    const { chain, token } = checked;
    return preparedView(deps, { ...authorized, chain, token, allowance });
  });
}
