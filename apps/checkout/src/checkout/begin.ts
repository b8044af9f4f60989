import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import { readAmount } from './amount-field.ts';
import { api, type WantedOrder } from './api.ts';
import { elementOf, fieldOf } from './dom.ts';
import { chosenOf, type Model } from './model.ts';
import { ExplainedFailure, type Page } from './page.ts';
import { problemOf } from './problem.ts';

/** The e-mail address that the payer typed; empty where none is needed. Throws when it is missing or no whole address. */
export function readEmail({ data }: Model): string {
  if (!data.isEmailRequired) return '';
  const input = fieldOf('email-input');
  const email = input?.value.trim() ?? '';
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) return email;
  input?.focus();
  const { emailMissing, emailWrong } = data.texts;
  throw new ExplainedFailure(email === '' ? emailMissing : emailWrong);
}

/** Only such pages have a script that reads amounts. */
declare const HAS_AMOUNT: boolean;

/** Begins a session on a link's page. Only now: viewing the link alone stores nothing. */
export async function beginSession(page: Page): Promise<void> {
  const { data } = page.model;
  if (data.link === undefined) return;
  const { linkId, version, isCustom } = data.link;
  const amount = HAS_AMOUNT && isCustom ? readAmount(page) : undefined;
  const begun = await api.begin({ linkId, linkVersion: version, amount: amount?.toString() });
  const { link: _link, ...rest } = data;
  // From here on the URL is the session's: reloading it, here or elsewhere, shows its state.
  const { pathname, hash } = new URL(begun.paymentUrl);
  history.replaceState(null, '', pathname + location.search + hash);
  leadAgents(begun.state.sessionId);
  page.change({
    data: { ...rest, state: begun.state, options: begun.options, amount: begun.state.amount },
    clientCode: begun.clientCode,
  });
  page.followSession?.();
}

/** Does what takes the service a moment. The page is busy meanwhile, and shows a failure. */
export async function whileBusy(page: Page, work: () => Promise<void>): Promise<void> {
  page.change({ step: page.model.data.texts.stepSession, problem: '' });
  try {
    await work();
    page.change({ step: '' });
  } catch (error) {
    page.change({ step: '', ...problemOf(page.model, error) });
  }
}

/** Points agents to the new session: the link would begin another. */
function leadAgents(sessionId: string): void {
  const link = elementOf('agent-link') as HTMLLinkElement;
  link.href = link.href.replace(/\/payment\/link\/[^/]+$/, `/session/${sessionId}`);
}

/** What the server needs to sign an order of the session for a payer. */
export function wantedOrder(
  { data, clientCode }: Model,
  order: Omit<WantedOrder['body'], 'sessionId'>,
): WantedOrder {
  const sessionId = data.state?.sessionId ?? '';
  return { body: { sessionId, ...order }, clientCode };
}

/** The chosen token. Throws when no token is available. */
export function chosenOption(model: Model): CheckoutOption {
  const option = chosenOf(model);
  if (option === undefined) throw new ExplainedFailure(model.data.texts.noRoute);
  return option;
}
