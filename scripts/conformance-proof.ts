/** A test that proves a rule: its file and its name, as a run prints it. */
export type TestName = readonly [file: string, name: string];

interface Rule {
  readonly rule: string;
  /** Empty: not yet. */
  readonly proofs: readonly TestName[];
}

export interface ConformanceSection {
  /** The section of the specification or of the wire contract. */
  readonly title: string;
  readonly rules: readonly Rule[];
}

const inHttp = (file: string) => (name: string) => [`server/src/http/${file}.test.ts`, name] as const;
export const server = inHttp('server');
export const door = inHttp('merchant/merchant-door');
export const products = inHttp('merchant/products');
export const links = inHttp('merchant/links');
export const sessions = inHttp('merchant/sessions');
export const deliveries = inHttp('merchant/deliveries');
export const refunds = inHttp('merchant/refunds');
export const events = inHttp('merchant/events');
export const once = inHttp('merchant/once');
export const protection = inHttp('merchant/protection');
export const agent = inHttp('agent/agent');
export const openApi = inHttp('openapi');
export const examples = inHttp('docs/openapi-examples');
export const rateLimit = inHttp('rate-limit');
export const limits = inHttp('docs/limits');

const inServer = (file: string) => (name: string) => [`server/src/${file}.test.ts`, name] as const;
export const catalog = inServer('catalog/product');
export const account = inServer('merchants/account');
export const apiKey = inServer('merchants/api-key');
export const linkTerms = inServer('links/link-terms');
export const linkVersion = inServer('links/link-version');
export const machine = inServer('sessions/session.machine');
export const quote = inServer('sessions/quote');
export const webhook = inServer('webhooks/webhook');
export const delivery = inServer('webhooks/delivery');
export const deliveryFailure = inServer('webhooks/delivery-failure');
export const outbox = inServer('webhooks/outbox');
export const eventBody = inServer('webhooks/event-body');
export const retry = inServer('webhooks/retry');
export const urlPolicy = inServer('webhooks/url-policy');
export const signedWebhook = inServer('webhooks/signature');
export const egress = inServer('outside/egress');
export const signature = inServer('authorizations/signature');
export const offer = inServer('authorizations/offer');
export const merchantText = inServer('authorizations/merchant-text');

const inLife = (file: string) => (name: string) => [`server/test/life/${file}.test.ts`, name] as const;
export const payment = inLife('payment');
export const reorg = inLife('reorg');
export const refusal = inLife('refusal');
export const delay = inLife('delay');
export const kill = inLife('kill');
export const stranger = inLife('stranger');
export const refundLife = inLife('refund');

const inProtocol = (file: string) => (name: string) => [`protocol/src/${file}.test.ts`, name] as const;
export const money = inProtocol('money');
export const fee = inProtocol('fee');
export const ids = inProtocol('id');
export const errors = inProtocol('error');
export const stages = inProtocol('agent');

const inContract = (file: string) => (name: string) => [`contracts/test/${file}.t.sol`, name] as const;
export const pay = inContract('pay');

/** A rule with what proves it. */
export function rule(text: string, proof: TestName | readonly TestName[] | 'not yet'): Rule {
  if (proof === 'not yet') return { rule: text, proofs: [] };
  return { rule: text, proofs: isTestName(proof) ? [proof] : proof };
}

function isTestName(proof: TestName | readonly TestName[]): proof is TestName {
  return typeof proof[0] === 'string';
}
