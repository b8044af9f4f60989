import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { maxWebhookUrlLength } from '@florin/protocol/webhook.ts';
import { type AddressPolicy, isHostAllowed, isPlainHttpAllowed, urlFlaw } from '#outside/address.ts';

/**
 * The normal form (WHATWG) of a webhook's URL. Refuses (100503) URLs without https, with credentials, or with a private address
 * in any spelling. Refuses (400101) texts that are not a URL, name no host, contain white space or control characters, have a
 * fragment, or a masked value in their query. Each connection checks again to which address a name resolves.
 */
export function webhookUrlOf(text: string, policy: AddressPolicy): string {
  const url = URL.parse(text);
  if (url === null) throw fieldRefusal('webhookUrl', 'is not a URL');
  const flaw = urlFlaw(text);
  if (flaw !== undefined) throw fieldRefusal('webhookUrl', flaw);
  // A program that reads with one key and writes with another would lose the receiver's secret.
  if (/[?&](?:[^=&]*=)?\*{4}(?:&|$)/.test(url.search))
    throw fieldRefusal(
      'webhookUrl',
      'has **** in its query, as it is read without webhooks:write: write the value',
    );
  if (text.includes('#'))
    throw fieldRefusal('webhookUrl', 'must have no fragment: no request carries what follows the #');
  if (url.protocol !== 'https:' && !isPlainHttpAllowed(url, policy)) throw notAllowed('must use https');
  if (url.username !== '' || url.password !== '') throw notAllowed('must not carry credentials');
  if (!isHostAllowed(url.hostname, policy)) throw notAllowed('must lead to the public internet');
  if (url.href.length > maxWebhookUrlLength)
    throw fieldRefusal(
      'webhookUrl',
      `must have at most ${maxWebhookUrlLength} characters in its normal form`,
    );
  return url.href;
}

function notAllowed(detail: string): Refusal {
  return new Refusal('webhook_url_not_allowed', { param: 'webhookUrl', detail });
}
