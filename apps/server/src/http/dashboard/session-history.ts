import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { SessionStatus } from '@florin/protocol/session.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import type { Chains } from '#chains/chain.ts';
import { networkFactsOf, networkTitle } from '#chains/networks.ts';
import { collectedOf, findDepositTransfers } from '#deposits/session-deposits.ts';
import { findExceptions } from '#exceptions/exception.ts';
import { mailsOfSession } from '#mail/bounce.ts';
import type { SendReceipt } from '#mail/receipt-again.ts';
import type { DepositPolicy } from '#orders/context.ts';
import type { FeeRates } from '#orders/quote.ts';
import { closureOf } from '#orders/quote.ts';
import type { Clock } from '#outside/clock.ts';
import { refundsOfSession } from '#refunds/refund.ts';
import { doubtOf } from '#sessions/progress.ts';
import { findSessionView } from '#sessions/session.ts';
import { readSessionHistory } from '#sessions/session-history.ts';
import type { StoredSessionView } from '#sessions/session-json.ts';
import { shownUrl } from '#webhooks/webhook.ts';
import type { MerchantRoutes } from '../operations/once.ts';

const unsettledStatuses: readonly SessionStatus[] = ['paid', 'settling', 'settlement_pending'];

/** From then on the gateway only returns the money. Empty once the money has left it: a vault or a mint that waits returns nothing. */
function settleByOf(
  { session, order }: StoredSessionView,
  chainEvents: readonly { readonly name: string; readonly isFinal: boolean }[],
): string {
  if (order === undefined || !unsettledStatuses.includes(session.status)) return '';
  if (chainEvents.some(({ name, isFinal }) => name === 'Settled' && isFinal)) return '';
  return formatTimestamp(new Date(Number(order.order.reclaimAt) * 1_000));
}

/** What pages of payments need beside the merchant API: the history of one session, the tokens, and the fees. */
export function addSessionHistoryRoutes(
  add: MerchantRoutes,
  deps: {
    readonly chains: Chains;
    readonly rates: FeeRates;
    readonly deposits: DepositPolicy | undefined;
    readonly clock: Clock;
    readonly sendReceipt?: SendReceipt | undefined;
  },
): void {
  add.read(routes.getSessionHistory, async ({ params: { sessionId }, caller }, db) => {
    const { merchantId, permissions } = caller;
    const view = await findSessionView(db, { merchantId, sessionId });
    if (view === undefined) throw new Refusal('session_not_found', sessionId);
    const orderIds = view.order === undefined ? [] : [view.order.orderId];
    const isDeposit = (await collectedOf(db, orderIds)).size > 0;
    const history = await readSessionHistory(db, sessionId);
    const transfers = await findDepositTransfers(db, deps, sessionId);
    const refunds = await refundsOfSession(db, sessionId);
    const mails = await mailsOfSession(db, sessionId);
    return {
      ...history,
      deliveries: history.deliveries.map(({ url, ...delivery }) => ({
        ...delivery,
        url: shownUrl(url, permissions),
      })),
      doubt: await doubtOf(db, view.session),
      settleBy: settleByOf(view, history.chainEvents),
      ...{ isDeposit, transfers, refunds, exceptions: await findExceptions(db, [sessionId]) },
      mails: mails.map(({ at, ...mail }) => ({ ...mail, at: formatTimestamp(at) })),
    };
  });

  add.action(
    routes.sendReceiptAgain,
    async ({ body: { sessionId }, caller: { merchantId } }, transaction) => {
      const view = await findSessionView(transaction, { merchantId, sessionId });
      if (view === undefined) throw new Refusal('session_not_found', sessionId);
      if (deps.sendReceipt === undefined)
        throw fieldRefusal('sessionId', 'cannot be told: there is no mail server');
      await deps.sendReceipt(transaction, { merchantId, view, at: deps.clock.now() });
    },
  );

  const tokens = deps.chains.all.flatMap((chain) => {
    const network = networkTitle(chain);
    const explorer = networkFactsOf(chain)?.explorer ?? '';
    return chain.tokens.map(({ tokenId, symbol, decimals, address }) => ({
      ...{ tokenId, symbol, decimals, address, network, explorer },
      chainId: String(chain.chainId),
    }));
  });
  add.read(routes.listSettlementTokens, async () => ({
    tokens: tokens.map((token) => ({ ...token, closedReason: closureOf(deps.chains, token.tokenId) ?? '' })),
    feeRates: deps.rates,
    depositPolicy: shownPolicy(deps.deposits),
  }));
}

function shownPolicy(policy: DepositPolicy | undefined) {
  if (policy === undefined) return null;
  const { latePayment, lateHours, underpaidPpm, underpaidAmount } = policy;
  const amount = underpaidAmount === undefined ? {} : { underpaidAmount: Number(underpaidAmount) };
  return { latePayment, lateHours, underpaidPpm, ...amount };
}
