import { exampleOrigin, type OperationExample } from '@florin/protocol/example.ts';
import { formatUsd, microUsd } from '@florin/protocol/money.ts';

/**
 * How a method of the SDK takes what its operation takes: a whole body, or an id and what is left of the body. A list takes an
 * id, or a filter.
 */
type Shape = 'body' | 'id' | 'none' | 'list' | 'filtered';

/** The method of each operation of the merchant API. The compiler checks their calls in the tests of the pages. */
const methods: Readonly<Record<string, readonly [method: string, shape: Shape]>> = {
  createProduct: ['products.create', 'body'],
  updateProduct: ['products.update', 'id'],
  listProducts: ['products.list', 'list'],
  listProductsByIds: ['products.listByIds', 'id'],
  archiveProduct: ['products.archive', 'id'],
  unarchiveProduct: ['products.unarchive', 'id'],
  removeProduct: ['products.remove', 'id'],
  getAccount: ['accounts.retrieve', 'id'],
  listAccounts: ['accounts.list', 'list'],
  createLink: ['links.create', 'body'],
  updateLink: ['links.update', 'id'],
  getLink: ['links.retrieve', 'id'],
  listLinks: ['links.list', 'list'],
  disableLink: ['links.disable', 'id'],
  enableLink: ['links.enable', 'id'],
  getBranding: ['branding.retrieve', 'none'],
  updateBranding: ['branding.update', 'body'],
  createCheckoutSession: ['checkout.sessions.create', 'body'],
  cancelCheckoutSession: ['checkout.sessions.cancel', 'id'],
  getSession: ['sessions.retrieve', 'id'],
  searchSessions: ['sessions.search', 'body'],
  listSessions: ['sessions.list', 'list'],
  createRefund: ['refunds.create', 'body'],
  cancelRefund: ['refunds.cancel', 'id'],
  getRefund: ['refunds.retrieve', 'id'],
  listRefunds: ['refunds.list', 'list'],
  listExceptions: ['exceptions.list', 'list'],
  acceptException: ['exceptions.accept', 'id'],
  refundException: ['exceptions.refund', 'id'],
  resolveException: ['exceptions.resolve', 'id'],
  createReport: ['reports.create', 'body'],
  getReport: ['reports.retrieve', 'id'],
  createWebhook: ['webhooks.create', 'body'],
  updateWebhook: ['webhooks.update', 'id'],
  getWebhook: ['webhooks.retrieve', 'id'],
  listWebhooks: ['webhooks.list', 'list'],
  disableWebhook: ['webhooks.disable', 'id'],
  enableWebhook: ['webhooks.enable', 'id'],
  refreshWebhookKey: ['webhooks.refreshKey', 'id'],
  removeWebhook: ['webhooks.remove', 'id'],
  testWebhook: ['webhooks.test', 'id'],
  listDeliveries: ['webhooks.deliveries.list', 'list'],
  getDelivery: ['webhooks.deliveries.retrieve', 'id'],
  resendDelivery: ['webhooks.deliveries.resend', 'id'],
  resendDeliveries: ['webhooks.deliveries.resendAll', 'body'],
  listEvents: ['events.list', 'filtered'],
  getEvent: ['events.retrieve', 'id'],
  getCapabilities: ['capabilities.retrieve', 'none'],
};

/** Pages of lists, which the SDK turns by itself. */
const pageMembers = ['page', 'size', 'after'];

/** The operation's example as a call of the SDK; undefined where the SDK has no method for it. */
export function sdkCall(id: string, example: OperationExample | undefined): string | undefined {
  const [, status] = /^list(\w+)Sessions$/.exec(id) ?? [];
  const [method, shape] =
    methods[id] ?? (status === undefined ? [] : (['sessions.list', 'filtered'] as const));
  if (method === undefined || shape === undefined) return undefined;
  const isList = shape === 'list' || shape === 'filtered';
  const members =
    status === undefined
      ? Object.entries({ ...example?.params, ...example?.query, ...Object(example?.body) })
      : [['status', status.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()] as const];
  const values = members.filter(([name]) => !isList || !pageMembers.includes(name));
  const call = `florin.${method}(${argumentsOf(shape, values)})`;
  return [
    call.includes('usd(')
      ? "import Florin, { usd } from '@florin/sdk';"
      : "import Florin from '@florin/sdk';",
    '',
    `const florin = new Florin(process.env.FLORIN_KEY, { baseUrl: '${exampleOrigin}' });`,
    isList ? `for await (const each of ${call}) console.log(each);` : `console.log(await ${call});`,
  ].join('\n');
}

function argumentsOf(shape: Shape, values: readonly (readonly [string, unknown])[]): string {
  if (shape === 'none' || (values.length === 0 && shape !== 'body')) return '';
  if (shape === 'body' || shape === 'filtered') return literal(Object.fromEntries(values));
  const [[, id] = [], ...rest] = values;
  return [id, ...(rest.length === 0 ? [] : [Object.fromEntries(rest)])].map(literal).join(', ');
}

/** Members of requests that are amounts in Micro-USD. */
const amounts = /^(?:unitPrice|amount|underpaidAmount|amountFrom|amountTo|commonPrices)$/;

/** A value as people write it in JavaScript. */
function literal(value: unknown): string {
  const written = JSON.stringify(
    value,
    (name, member: unknown) =>
      !amounts.test(name) ? member : Array.isArray(member) ? member.map(usdCall) : usdCall(member),
    2,
  );
  return written
    .replaceAll(/^(\s*)"([A-Za-z_]\w*)": /gm, '$1$2: ')
    .replaceAll(/"((?:[^"\\'\n]|\\[^"\n])*)"/g, "'$1'")
    .replaceAll(/'usd\(([0-9.]+)\)'/g, "usd('$1')");
}

/** A mark of an amount, which becomes a call of the SDK. */
function usdCall(amount: unknown): string {
  return `usd(${formatUsd(microUsd(BigInt(Number(amount))))})`;
}
