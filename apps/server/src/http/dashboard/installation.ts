import type { Rpc } from '@florin/evm';
import type { Database } from '@florin/pg';
import { staffRoutes as routes } from '@florin/protocol/staff-api.ts';
import type { Chains } from '#chains/chain.ts';
import { listAllExceptions } from '#exceptions/exception.ts';
import type { Clock } from '#outside/clock.ts';
import { askNodes, readHealth, readVersions, readWallets, type SendingWallet } from '#reconcile/health.ts';
import type { AddRoute } from '../route-handler.ts';
import { answerAuditPage } from './audit-list.ts';
import type { StaffCaller } from './visitor.ts';

/** What the operator's screens show of the process. */
export interface Installation {
  readonly rpcOf: (chainId: number) => Rpc;
  readonly wallets: readonly SendingWallet[];
  /** In force, without secrets. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

interface InstallationDeps {
  readonly people: Database;
  readonly chains: Chains;
  readonly clock: Clock;
  readonly installation: Installation;
}

/** The operator's screens: health, exceptions of all merchants, and the configuration. */
export function addInstallationRoutes(add: AddRoute<StaffCaller>, deps: InstallationDeps): void {
  const { people, chains, installation } = deps;
  add(routes.getHealth, () => readHealth(people, deps));
  add(routes.askNodes, async () => ({ chains: await askNodes(chains, installation.rpcOf) }));
  add(routes.listServiceWallets, () => readWallets(people, { ...deps, ...installation }));
  add(routes.getConfiguration, async () => ({
    configuration: installation.configuration,
    versions: await readVersions(people),
  }));

  add(routes.listInstallationAudit, ({ query }) => answerAuditPage(people, { merchantId: undefined }, query));

  add(routes.listAllExceptions, async ({ params, query }) =>
    listAllExceptions(people, { ...params, status: query.status }),
  );
}
