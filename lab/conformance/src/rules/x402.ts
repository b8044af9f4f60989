import { clientOf } from '../client.ts';
import { newSession, success } from '../resource.ts';
import { answeredWith, demand, found, succeeded } from '../rule.ts';
import { type Collection, prices, type Subject } from '../subject.ts';

interface Known {
  readonly collection: Collection | undefined;
  readonly linkId: string | undefined;
  readonly sessionId: string | undefined;
}

const payer = `0x${'1'.repeat(40)}`;

/** The parts of x402 that need no wallet. Checks nothing if the installation has no x402. */
export async function checkX402(
  { rules, merchant, mark }: Subject,
  x402: string,
  known: Known,
): Promise<void> {
  const client = clientOf(x402);
  const unknown = await client.get('/link/lnk_unknown');
  if (unknown.code === 404_000) return;
  await rules.rule('x402: what is unknown is HTTP 404', async () => {
    answeredWith(unknown, 404, 100101);
    answeredWith(await client.get(`/session/sess_unknown?payer=${payer}`), 404, 100201);
  });
  await rules.rule('x402: a session without the address of its payer is HTTP 400', async () => {
    const sessionId = found(known.sessionId, 'a session');
    answeredWith(await client.get(`/session/${sessionId}`), 400, 400101);
    answeredWith(await client.get(`/session/${sessionId}?payer=0x12`), 400, 400101);
  });
  await rules.rule('x402: a header that is no payment is HTTP 400', async () => {
    const path = `/link/${found(known.linkId, 'a link')}`;
    for (const header of ['no base64 of JSON', btoa('{"x402Version":1}')]) {
      const headers = { 'payment-signature': header };
      answeredWith(await client.get(path, { headers }), 400, 400101);
    }
  });
  await rules.rule('x402: a session is HTTP 402 with what to pay, and 410 once it is cancelled', async () => {
    const productData = { productName: `${mark} cake` };
    const item = { itemType: 'one_time', quantity: 1, unitPrice: prices.oneTime, productData };
    const body = { ...found(known.collection, 'an account'), lineItems: [item] };
    const { sessionId } = succeeded(await merchant.post('/session/checkout/create', body), newSession);
    const path = `/session/${sessionId}?payer=${payer}`;
    await demandOffer(x402 + path);
    succeeded(await merchant.post('/session/checkout/cancel', { sessionId }), success);
    answeredWith(await client.get(path), 410, 100205);
  });
}

/** A 402 has the same requirements in its header and in its body, without the envelope. */
async function demandOffer(url: string): Promise<void> {
  const response = await fetch(url);
  const body = await response.text();
  demand(response.status === 402, `expected HTTP 402, got ${response.status}: ${body.slice(0, 200)}`);
  const header = JSON.parse(atob(response.headers.get('payment-required') ?? '')) as Required402;
  demand(JSON.stringify(JSON.parse(body)) === JSON.stringify(header), 'header and body differ');
  demand(header.x402Version === 2 && header.accepts.length > 0, 'there is nothing to pay');
  const addresses = header.accepts.map(({ payTo }) => payTo);
  demand(new Set(addresses).size === addresses.length, 'two ways to pay have one address');
}

interface Required402 {
  readonly x402Version: number;
  readonly accepts: readonly { readonly payTo: string }[];
}

/** The link after it is disabled. */
export async function checkClosedX402(
  { rules }: Pick<Subject, 'rules'>,
  x402: string,
  linkId: string,
): Promise<void> {
  const client = clientOf(x402);
  if ((await client.get('/link/lnk_unknown')).code === 404_000) return;
  await rules.rule('x402: a link that is disabled is HTTP 410', async () =>
    answeredWith(await client.get(`/link/${linkId}`), 410, 100103),
  );
}
