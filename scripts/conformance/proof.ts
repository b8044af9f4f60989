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
export const serverRefusal = inHttp('server-refusal');
export const door = inHttp('merchant/merchant-door');
export const products = inHttp('merchant/products');
export const links = inHttp('merchant/links');
export const sessions = inHttp('merchant/sessions');
export const deliveries = inHttp('merchant/deliveries');
export const refunds = inHttp('merchant/refunds');
export const settledRefunds = inHttp('merchant/settled-refunds');
export const events = inHttp('merchant/events');
export const once = inHttp('merchant/once');
export const cors = inHttp('merchant/cors');
export const capabilities = inHttp('merchant/capabilities');
export const sessionStates = inHttp('merchant/session-states');
export const fieldLimits = inHttp('merchant/field-limits');
export const pageView = inHttp('checkout/page-view');
export const forms = inHttp('checkout/forms');
export const protection = inHttp('merchant/protection');
export const agent = inHttp('agent/agent');
export const agentCreation = inHttp('agent/creation');
export const agentPreparation = inHttp('agent/preparation');
export const openApi = inHttp('openapi');
export const examples = inHttp('docs/openapi-examples');
export const rateLimit = inHttp('rate-limit');
export const limits = inHttp('docs/limits');

const inServer = (file: string) => (name: string) => [`server/src/${file}.test.ts`, name] as const;
export const catalog = inServer('catalog/product');
export const decoder = inServer('catalog/images/process-decoder');
export const intake = inServer('catalog/images/intake');
export const imageRetry = inServer('catalog/images/retry');
export const account = inServer('merchants/account');
export const apiKey = inServer('merchants/api-key');
export const apiKeyLimits = inServer('merchants/api-key-limits');
export const condition = inServer('chains/condition');
export const tokenSigning = inServer('chains/token-signing');
export const canonicalBody = inServer('merchants/canonical-body');
export const linkRace = inServer('links/link-race');
export const linkTerms = inServer('links/link-terms');
export const linkVersion = inServer('links/link-version');
export const machine = inServer('sessions/session.machine');
export const quote = inServer('sessions/quote');
export const settlementMode = inServer('sessions/settlement-mode');
export const webhook = inServer('webhooks/webhook');
export const delivery = inServer('webhooks/delivery');
export const deliveryFailure = inServer('webhooks/delivery-failure');
export const egressCorpus = inServer('outside/egress-corpus');
export const fairness = inServer('webhooks/fairness');
export const fixture = inServer('webhooks/event-fixture');
export const misbehaviour = inServer('webhooks/misbehaviour');
export const pythonReceiver = inServer('webhooks/python-receiver');
export const resend = inServer('webhooks/resend');
export const reseal = inServer('webhooks/reseal');
export const outbox = inServer('webhooks/outbox');
export const eventBody = inServer('webhooks/event-body');
export const retry = inServer('webhooks/retry');
export const urlPolicy = inServer('webhooks/url-policy');
export const signedWebhook = inServer('webhooks/signature');
export const egress = inServer('outside/egress');
export const signature = inServer('authorizations/signature');
export const offer = inServer('authorizations/offer');
export const merchantText = inServer('authorizations/merchant-text');

export const pageSafety = (name: string) => ['server/test/browser/safety.test.ts', name] as const;

const inLife = (file: string) => (name: string) => [`server/test/life/${file}.test.ts`, name] as const;
export const deliveryKill = inLife('delivery-kill');
export const payment = inLife('payment');
export const reorg = inLife('reorg');
export const refusal = inLife('refusal');
export const delay = inLife('delay');
export const imageLife = inLife('image');
export const kill = inLife('kill');
export const mcp = inLife('mcp');
export const replicas = inLife('replicas');
export const stranger = inLife('stranger');
export const refundLife = inLife('refund');
export const gaslessLife = inLife('gasless');
export const depositLife = inLife('deposit');
export const x402Life = inLife('x402');
export const directLife = inLife('direct');

const inProtocol = (file: string) => (name: string) => [`protocol/src/${file}.test.ts`, name] as const;
export const money = inProtocol('money');
export const fee = inProtocol('fee');
export const ids = inProtocol('id');
export const errors = inProtocol('error');
export const stages = inProtocol('agent');

const inContract = (file: string) => (name: string) => [`contracts/test/${file}.t.sol`, name] as const;
export const pay = inContract('pay');

/** The name of the test of an image's whole way. */
export const imageShown =
  'a product’s image is shown wherever the product is, and moves the version of its links';

/** The proof that one field, or one kind of line item, has its limit on both sides. */
export function limitOf(path: string, name: string, param = name): TestName {
  return fieldLimits(
    `${name} of ${path}: what is just within is taken, what is just beyond is refused at ${param}`,
  );
}

/** The proof that a session in this state is not cancelled. */
export function cancelRefusal(state: string, code: number): TestName {
  return sessionStates(`cancelling a session that is ${state} is refused with ${code}, and it stays so`);
}

/** A rule with what proves it. */
export function rule(text: string, proof: TestName | readonly TestName[] | 'not yet'): Rule {
  if (proof === 'not yet') return { rule: text, proofs: [] };
  return { rule: text, proofs: isTestName(proof) ? [proof] : proof };
}

function isTestName(proof: TestName | readonly TestName[]): proof is TestName {
  return typeof proof[0] === 'string';
}
