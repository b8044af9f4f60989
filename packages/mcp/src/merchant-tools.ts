import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { JsonObject } from '@florin/protocol/openapi-schema.ts';
import type { MemberPermission } from '@florin/protocol/permission.ts';
import { routeTool } from './route-tool.ts';
import type { CallApi, Tool } from './tool.ts';

type Operation = keyof typeof merchantApi.routes;

/**
 * The operations of the merchant API that are tools. None of them changes where events go: a text that a model has read
 * must not redirect them.
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
  search_sessions: 'searchSessions',
  list_exceptions: 'listExceptions',
  accept_exception: 'acceptException',
  refund_exception: 'refundException',
  resolve_exception: 'resolveException',
  list_events: 'listEvents',
  read_event: 'getEvent',
  list_webhooks: 'listWebhooks',
  list_deliveries: 'listDeliveries',
  resend_delivery: 'resendDelivery',
  test_webhook: 'testWebhook',
  create_report: 'createReport',
  read_report: 'getReport',
};

/** Those that end something, decide something for good, or move money. Assistants ask a person first. */
const destructive: readonly string[] = [
  'archive_product',
  'disable_link',
  'cancel_session',
  'create_refund',
  'cancel_refund',
  'accept_exception',
  'refund_exception',
  'resolve_exception',
];

/** Those that send something to a payer's wallet or to a receiver of events. */
const outgoing: readonly string[] = ['create_refund', 'refund_exception', 'resend_delivery', 'test_webhook'];

/**
 * The merchants' tools that a key may use; all of them where its permissions are unknown. The API itself refuses what the key
 * may not do, and names the scope.
 */
export function merchantTools(callApi: CallApi, permissions?: ReadonlySet<MemberPermission>): Tool[] {
  return Object.entries(operations).flatMap(([name, operation]) => {
    const route = merchantApi.routes[operation];
    if (permissions !== undefined && !route.permissions.some((each) => permissions.has(each))) return [];
    const tool = routeTool({
      ...{ name: `merchant_${name}`, table: merchantApi, route, callApi },
      isDestructive: destructive.includes(name),
      isOpenWorld: outgoing.includes(name),
    });
    return [operation === 'listWebhooks' ? withoutKeys(tool) : tool];
  });
}

/** No model needs the keys that verify events. */
function withoutKeys(tool: Tool): Tool {
  const mask = (name: string, value: unknown) =>
    name === 'key' && typeof value === 'string' ? `whsec_****${value.slice(-4)}` : value;
  return {
    ...tool,
    async run(input) {
      const { value, isError } = await tool.run(input);
      return { value: JSON.parse(JSON.stringify(value, mask)) as JsonObject, isError };
    },
  };
}
