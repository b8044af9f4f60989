import { clientOf } from './client.ts';
import { type Report, Rules } from './rule.ts';
import { checkAccounts } from './rules/accounts.ts';
import { checkAgent } from './rules/agent.ts';
import { checkAuthentication, checkEnvelope } from './rules/authentication.ts';
import { checkLinks } from './rules/links.ts';
import { checkProducts } from './rules/products.ts';
import { checkSessions } from './rules/sessions.ts';
import { checkWebhooks } from './rules/webhooks.ts';
import { checkClosedX402, checkX402 } from './rules/x402.ts';

export interface ConformanceOptions {
  /** Base URLs without a trailing slash. */
  readonly merchantApi: string;
  /** Absent: the suite omits the AI protocol and x402. */
  readonly aiApi?: string;
  /** A secret key of a merchant with at least one account. */
  readonly key: string;
  /** A restricted key that may read accounts and write nothing. Absent: the suite omits its rule. */
  readonly restrictedKey?: string;
  /** Receives one line for each rule. */
  readonly tell: (line: string) => void;
}

/**
 * Checks a running installation against the specification, rule by rule, through HTTP alone. Everything it creates
 * has a name that starts with "Conformance". At the end it deletes webhooks and disables links. It cancels sessions
 * or lets them expire unpaid.
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const { merchantApi, aiApi, key, restrictedKey, tell } = options;
  const rules = new Rules(tell);
  const merchant = clientOf(merchantApi, key);
  const mark = `Conformance ${new Date().toISOString().slice(0, 19)}`;
  const subject = { rules, merchant, merchantApi, key, restrictedKey, mark };
  await checkAuthentication(subject);
  await checkEnvelope(subject);
  const collection = await checkAccounts(subject);
  const productId = await checkProducts(subject);
  const linkId = await checkLinks(subject, { collection, productId });
  const sessionId = await checkSessions(subject, { collection, productId });
  await checkWebhooks(subject);
  const x402 = aiApi?.replace(/\/api\/v1$/, '/x402');
  if (aiApi !== undefined) await checkAgent(subject, aiApi, { linkId, sessionId });
  if (x402 !== undefined) await checkX402(subject, x402, { collection, linkId, sessionId });
  if (linkId !== undefined) await merchant.post('/payment/link/disable', { linkId });
  if (sessionId !== undefined) await merchant.post('/session/checkout/cancel', { sessionId });
  if (x402 !== undefined && linkId !== undefined) await checkClosedX402(subject, x402, linkId);
  if (productId !== undefined) await merchant.post('/product/archive', { productId });
  const { report } = rules;
  tell(`\n${report.passed} passed, ${report.failed} failed`);
  return report;
}
