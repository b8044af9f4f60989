import type { CheckoutOption } from '@florin/protocol/checkout-api.ts';
import { readAmount } from './amount-field.ts';
import { api } from './api.ts';
import { elementOf } from './dom.ts';
import type { Model } from './model.ts';
import { type Page, Told } from './page.ts';

/** The e-mail address that the payer has typed; empty where none is asked for. Throws when it is missing. */
export function readEmail({ data }: Model): string {
  if (!data.isEmailRequired) return '';
  const input = document.getElementById('email-input');
  const email = input instanceof HTMLInputElement ? input.value.trim() : '';
  if (/^[^\s@]+@[^\s@]+$/.test(email)) return email;
  input?.focus();
  throw new Told(data.texts.emailWrong);
}

/** On a link's page a session begins now: a mere look at the link leaves nothing behind. */
export async function beginSession(page: Page): Promise<void> {
  const { data } = page.model;
  if (data.link === undefined) return;
  const { linkId, version, isCustom } = data.link;
  const amount = isCustom ? readAmount(page) : undefined;
  const begun = await api.begin({
    linkId,
    linkVersion: version,
    ...(amount === undefined ? {} : { amount: amount.toString() }),
  });
  const { link: _link, ...rest } = data;
  // From here on the address is the session's: loading it again, here or elsewhere, shows how it stands.
  history.replaceState(
    null,
    '',
    new URL(begun.paymentUrl).pathname + location.search + new URL(begun.paymentUrl).hash,
  );
  leadAgents(begun.state.sessionId);
  page.change({
    data: { ...rest, state: begun.state, options: begun.options, amount: begun.state.amount },
    clientCode: begun.clientCode,
  });
  page.followSession?.();
}

/** Leads agents to the session that has begun: the link would begin another. */
function leadAgents(sessionId: string): void {
  const place = elementOf('agent-url');
  const url = (place.textContent ?? '').replace(/\/payment\/link\/[^/]+$/, `/session/${sessionId}`);
  place.textContent = url;
  elementOf('agent-link').setAttribute('href', url);
}

/** The token that is chosen. Throws when none can be. */
export function chosenOption({ data, chosen }: Model): CheckoutOption {
  const option = data.options.find(({ tokenId }) => tokenId === chosen);
  if (option === undefined) throw new Told(data.texts.noRoute);
  return option;
}
