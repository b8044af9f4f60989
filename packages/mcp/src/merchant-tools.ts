import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { routeTool } from './route-tool.ts';
import type { CallApi, Tool } from './tool.ts';

type Operation = keyof typeof merchantApi.routes;

/**
 * The operations of the merchant API that are tools. Webhooks, events and exceptions are left out: programs manage
 * them.
 */
const operations: Readonly<Record<string, Operation>> = {
  list_accounts: 'listAccounts',
  list_products: 'listProducts',
  create_product: 'createProduct',
  archive_product: 'archiveProduct',
  unarchive_product: 'unarchiveProduct',
  list_links: 'listLinks',
  read_link: 'getLink',
  create_link: 'createLink',
  disable_link: 'disableLink',
  enable_link: 'enableLink',
  list_sessions: 'listSessions',
  read_session: 'getSession',
  create_checkout_session: 'createCheckoutSession',
  cancel_session: 'cancelCheckoutSession',
  list_refunds: 'listRefunds',
  read_refund: 'getRefund',
  create_refund: 'createRefund',
  cancel_refund: 'cancelRefund',
};

/** The merchants' tools. The API itself refuses what the caller's key may not do, and names the scope. */
export function merchantTools(callApi: CallApi): Tool[] {
  return Object.entries(operations).map(([name, operation]) =>
    routeTool({
      name: `merchant_${name}`,
      table: merchantApi,
      route: merchantApi.routes[operation],
      callApi,
    }),
  );
}
