import { chooseLanguage } from '@florin/checkout';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { QueryOf } from '@florin/protocol/route.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unixSeconds } from '#outside/clock.ts';
import { findReceipt } from '#sessions/receipt.ts';
import { envelope } from '../envelope.ts';
import { networkOf } from '../rate-limit.ts';
import { routesOf } from '../route-handler.ts';
import { compileCheck } from '../schema-check.ts';
import { claimOf, wholePlaces } from './claim.ts';
import type { CheckoutContext } from './context.ts';
import { hideDeposit, showDeposit, showDepositAgain } from './deposit.ts';
import { streamProgress } from './event-stream.ts';
import {
  assertClientCode,
  beginSession,
  linkOf,
  type PayerCaller,
  prepareForPayer,
  readBalances,
  sessionOf,
} from './payment.ts';
import { progressFeed } from './progress-feed.ts';
import { withWords } from './refusal-words.ts';
import { openStates, type StateReader, timeZoneOf } from './shown-state.ts';
import { linkOptions } from './state.ts';

/** The page's script names the page's language. */
const languageOf = ({ headers }: FastifyRequest) => chooseLanguage(undefined, headers['accept-language']);

/** The secret of the page is a header, so that no URL contains it. */
function callerOf(request: FastifyRequest): PayerCaller {
  const given = request.headers['x-client-code'];
  const clientCode = typeof given === 'string' && given !== '' ? given : undefined;
  return { clientCode, network: networkOf(request.ip), language: languageOf(request).tag };
}

const { readSession } = checkoutApi.routes;
type ReaderQuery = QueryOf<typeof readSession>;

function readerOf({ lang, zone, order }: ReaderQuery): StateReader {
  return { language: chooseLanguage(lang, undefined), timeZone: timeZoneOf(zone), order };
}

/** Adds the API of the hosted page, in a scope of its own: its refusals have words for the payer. */
export async function addCheckoutApi(door: FastifyInstance, deps: CheckoutContext): Promise<void> {
  await door.register(async (server) => {
    server.setErrorHandler((error, request) => {
      throw error instanceof Refusal ? withWords(languageOf(request), error) : error;
    });
    addRoutes(server, deps);
  });
}

function addRoutes(server: FastifyInstance, deps: CheckoutContext): void {
  const { routes, basePath } = checkoutApi;
  const addRoute = routesOf(server, { basePath, shape: envelope, authorize: callerOf });
  addRoute(routes.beginSession, async ({ body }) => beginSession(deps, body));
  addRoute(routes.quoteLink, async ({ params }) => {
    const link = await linkOf(deps.db, params.linkId, deps.clock.now());
    return { options: linkOptions(deps, link, microUsd(BigInt(params.amount))) };
  });
  addRoute(routes.readSession, async ({ params, query }) => {
    const session = await sessionOf(deps, params.sessionId);
    const { data, show } = await openStates(deps, session, readerOf(query));
    return { ...show(data.state), options: data.options, now: unixSeconds(deps.clock.now()) };
  });
  addRoute(routes.readBalances, async ({ body }) => ({ balances: await readBalances(deps, body) }));
  addRoute(routes.prepareOrder, async ({ body, caller }) => prepareForPayer(deps, body, caller));
  addRoute(routes.showDeposit, async ({ body, caller }) => showDeposit(deps, body, caller));
  addRoute(routes.hideDeposit, async ({ body, caller }) =>
    hideDeposit(deps, body.sessionId, caller.clientCode),
  );
  addRoute(routes.showDepositAgain, async ({ body, caller }) =>
    showDepositAgain(deps, body, caller.clientCode),
  );
  addRoute(routes.claim, async ({ body, caller }) => claimOf(deps, body, caller.clientCode));
  addRoute(routes.readPlaces, async ({ params, caller }) =>
    wholePlaces(deps, await sessionOf(deps, params.sessionId), caller.clientCode ?? ''),
  );
  addRoute(routes.readReceipt, async ({ params, caller }) => {
    const session = await sessionOf(deps, params.sessionId);
    assertClientCode(session, caller.clientCode ?? '');
    const receipt = await findReceipt(deps.db, deps.chains, session);
    if (receipt === undefined) throw new Refusal('session_not_found', 'it has no receipt');
    return receipt;
  });
  addEvents(server, deps);
}

function addEvents(server: FastifyInstance, deps: CheckoutContext): void {
  const ending = new AbortController();
  const feed = progressFeed(deps, ending.signal);
  const checkQuery = compileCheck(readSession.query, 'query');
  server.addHook('preClose', async () => ending.abort());
  server.get<{ Params: { sessionId: string }; Querystring: ReaderQuery }>(
    `${checkoutApi.basePath}/session/:sessionId/events`,
    { config: { query: Object.keys(readSession.query.properties) } },
    async (request, reply) => {
      const refusal = checkQuery(request.query);
      if (refusal !== undefined) throw refusal;
      const session = await sessionOf(deps, request.params.sessionId);
      const { show } = await openStates(deps, session, readerOf(request.query));
      const place = { sessionId: session.sessionId, network: networkOf(request.ip), show };
      streamProgress({ clock: deps.clock, feed, ending: ending.signal }, place, reply);
    },
  );
}
