import { lockChain, resumeChain } from '@florin/evm';
import { Refusal } from '@florin/protocol/error.ts';
import { staffRoutes as routes } from '@florin/protocol/staff-api.ts';
import { listAllExceptions } from '#exceptions/exception.ts';
import { listMailTrouble, releaseAddress } from '#mail/bounce.ts';
import { askNodes, readHealth, readVersions, readWallets, readWebhookBacklog } from '#reconcile/health.ts';
import { listSentTransactions, listSettlementLegs } from '#reconcile/work.ts';
import { releaseOrder } from '#settlement/held.ts';
import type { AddRoute } from '../route-handler.ts';
import { answerAuditPage } from './audit-list.ts';
import type { DashboardContext } from './context.ts';
import { staffChanges } from './staff-change.ts';
import type { StaffCaller } from './visitor.ts';

/** The operator's screens: health and what mends it, exceptions of all merchants, and the configuration. */
export function addInstallationRoutes(add: AddRoute<StaffCaller>, deps: DashboardContext): void {
  const { people, chains, installation } = deps;
  add(routes.getHealth, () => readHealth(people, deps));
  add(routes.askNodes, async () => ({ chains: await askNodes(chains, installation.rpcOf) }));
  add(routes.listServiceWallets, () => readWallets(people, { ...deps, ...installation }));
  add(routes.listWebhookBacklog, async () => ({ webhooks: await readWebhookBacklog(people, deps) }));
  add(routes.listSettlementLegs, ({ params, query }) =>
    listSettlementLegs(people, deps, { ...params, ...query }),
  );
  add(routes.listSentTransactions, ({ params, query }) =>
    listSentTransactions(people, deps, { ...params, ...query }),
  );
  add(routes.listMailTrouble, async () => ({
    isConfigured: deps.tellPerson !== undefined,
    ...(await listMailTrouble(people)),
  }));
  add(routes.getConfiguration, async () => ({
    configuration: installation.configuration,
    versions: await readVersions(people),
  }));

  add(routes.listInstallationAudit, ({ query }) => answerAuditPage(people, { merchantId: undefined }, query));

  add(routes.listAllExceptions, async ({ params, query }) =>
    listAllExceptions(people, { ...params, status: query.status }),
  );

  const change = staffChanges(add, deps);
  change(routes.resumeHaltedChain, 'resumeChain', async (transaction, { chain: name, reason }) => {
    const chain = chains.byName(name);
    if (chain === undefined) throw new Refusal('channel_unsupported', name);
    const haltedReason = (await lockChain(transaction, chain.chainId))?.haltedReason ?? '';
    if (haltedReason !== '') await resumeChain(transaction, deps.clock, chain.chainId);
    const act = {
      subject: name,
      before: JSON.stringify({ haltedReason }),
      after: JSON.stringify({ haltedReason: '', reason }),
    };
    return { reply: { haltedReason }, act };
  });

  change(routes.releaseMailAddress, 'releaseMailAddress', async (transaction, { address: given, reason }) => {
    const address = await releaseAddress(transaction, given);
    return { reply: { address }, act: { subject: address, after: JSON.stringify({ reason }) } };
  });

  change(routes.releaseSettlement, 'releaseSettlement', async (transaction, { orderId, reason }) => {
    const legs = (await releaseOrder(transaction, orderId, deps.clock.now())).map(({ leg }) => leg);
    return { reply: { legs }, act: { subject: orderId, after: JSON.stringify({ legs, reason }) } };
  });
}
