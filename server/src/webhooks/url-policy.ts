import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { type AddressPolicy, isHostAllowed } from '#outside/address.ts';

/**
 * Refuses a webhook URL that may never be called: not https, with credentials, or at a private address in any spelling
 * (100503); a text that is no URL at all is 400101. Names are judged again by what they resolve to, at each connection.
 */
export function checkWebhookUrl(text: string, policy: AddressPolicy): void {
  const url = URL.parse(text);
  if (url === null) throw fieldRefusal('webhookUrl', 'is not a URL');
  if (url.protocol !== 'https:') throw notAllowed('must use https');
  if (url.username !== '' || url.password !== '') throw notAllowed('must not carry credentials');
  if (!isHostAllowed(url.hostname, policy)) throw notAllowed('must lead to the public internet');
}

function notAllowed(detail: string): Refusal {
  return new Refusal('webhook_url_not_allowed', { param: 'webhookUrl', detail });
}
