import { clientOf } from '../client.ts';
import { answeredWith, demand, refused, succeeded } from '../rule.ts';
import { anyObject } from '../shape.ts';
import type { Subject } from '../subject.ts';

/** Strings that are never a valid id. */
const impossibleIds = ['x'.repeat(65), 'x'.repeat(2_000), 'sess_%zz', 'sess_%00'];

/** Requests that the merchant API answers with 401, on every path. */
export async function checkAuthentication({
  rules,
  merchantApi,
  key,
  restrictedKey,
}: Subject): Promise<void> {
  const headers: Record<string, Record<string, string>> = {
    'no Authorization header': {},
    'an empty Authorization header': { authorization: '' },
    'Bearer alone': { authorization: 'Bearer' },
    'two spaces before the key': { authorization: `Bearer  ${key}` },
    'a tab before the key': { authorization: `Bearer\t${key}` },
    'bearer in lower case': { authorization: `bearer ${key}` },
    'the key alone': { authorization: key },
    'another scheme': { authorization: `Basic ${key}` },
    'two keys': { authorization: `Bearer ${key} ${key}` },
    'an unknown key': { authorization: `Bearer sk_live_${'0'.repeat(49)}` },
    'a key of another kind': { authorization: `Bearer ${key.replace(/^\w\w_live_/, 'pk_live_')}` },
    'a key cut short': { authorization: `Bearer ${key.slice(0, -1)}` },
    'a key with more behind it': { authorization: `Bearer ${key}x` },
    'the key in other case': { authorization: `Bearer ${key.toUpperCase()}` },
  };
  const paths: readonly (readonly ['GET' | 'POST', string])[] = [
    ['GET', '/account/list'],
    ['GET', '/session/list/all/1/1'],
    ['GET', '/session/anything'],
    ['GET', '/payment/link/anything'],
    ['POST', '/product/create'],
    ['POST', '/webhook/create'],
  ];
  const anonymous = clientOf(merchantApi);
  for (const [name, sent] of Object.entries(headers)) {
    await rules.rule(`${name} is answered 401`, async () => {
      for (const [method, path] of paths)
        answeredWith(await anonymous.send(method, path, { headers: sent }), 401);
    });
  }
  await rules.rule(
    'without a key a path is 401 for every id, even a too long or undecodable one',
    async () => {
      for (const id of impossibleIds) answeredWith(await anonymous.get(`/session/${id}`), 401);
    },
  );
  await rules.rule('a body does not matter before the key: 401 comes first', async () => {
    const sent = { headers: { 'content-type': 'application/json' }, body: '{"broken"' };
    answeredWith(await anonymous.send('POST', '/product/create', sent), 401);
  });
  if (restrictedKey === undefined) return;
  const restricted = clientOf(merchantApi, restrictedKey);
  await rules.rule('a restricted key reads, and may not write: 403, never 401', async () => {
    demand((await restricted.get('/account/list')).code === 0, 'the restricted key could not read accounts');
    const body = { name: 'never stored', commonPrices: [1_000_000] };
    answeredWith(await restricted.post('/product/create', body), 403, 200103);
  });
}

/** The envelope, and answers outside of any operation. */
export async function checkEnvelope({ rules, merchant, merchantApi, key }: Subject): Promise<void> {
  await rules.rule('a business error is HTTP 200 with a code that is not 0', async () => {
    refused(await merchant.get('/session/sess_unknown'), 100201);
    refused(await merchant.get('/payment/link/lnk_unknown'), 100101);
    refused(await merchant.get('/account/detail/acc_unknown'), 100401);
    refused(await merchant.get('/webhook/detail/wkid_unknown'), 100501);
    refused(await merchant.post('/product/archive', { productId: 'prd_unknown' }), 100301);
  });
  await rules.rule('an id that cannot exist is answered like one that does not', async () => {
    for (const id of impossibleIds) {
      refused(await merchant.get(`/session/${id}`), 100201);
      refused(await merchant.get(`/webhook/detail/${id}`), 100501);
    }
  });
  await rules.rule('an error names its slug, and its request by the id of the answer', async () => {
    const answer = await merchant.get('/session/sess_unknown');
    const error = answer.body['error'] as Record<string, unknown> | undefined;
    demand(error?.['slug'] === 'session_not_found', `error.slug is ${String(error?.['slug'])}`);
    demand(
      error?.['requestId'] === answer.headers.get('request-id'),
      'error.requestId is not the Request-Id',
    );
  });
  await rules.rule('an unknown path is 404, a known one with another method 405', async () => {
    answeredWith(await merchant.get('/no/such/path'), 404, 404000);
    answeredWith(await merchant.send('DELETE', '/product/create'), 405, 405000);
  });
  await rules.rule('what is not JSON is 400, or 415 by its type', async () => {
    answeredWith(await merchant.post('/product/create', '{"name":'), 400, 400100);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/plain' };
    answeredWith(await clientOf(merchantApi).post('/product/create', '{}', { headers }), 415, 400111);
  });
  await rules.rule('a body over 256 KiB is 413', async () => {
    answeredWith(await merchant.post('/product/create', `{}${' '.repeat(256 * 1024)}`), 413, 400110);
  });
  await rules.rule('unknown fields of a create are refused', async () => {
    const body = { name: 'never stored', commonPrices: [1_000_000], merchantId: 'mer_other' };
    refused(await merchant.post('/product/create', body), 400101);
  });
  await rules.rule('unknown query parameters are refused', async () => {
    refused(await merchant.get('/account/list?page=1'), 400101);
    refused(await merchant.get('/event/list/1/1?status=all'), 400101);
  });
  await rules.rule('a request with an Idempotency-Key is carried out once', async () => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': `conformance-${crypto.randomUUID()}`,
    };
    const ask = (name: string) =>
      clientOf(merchantApi).post('/product/create', { name, commonPrices: [1_000_000] }, { headers });
    const first = succeeded(await ask('Conformance: once'), anyObject);
    const again = await ask('Conformance: once');
    demand(
      succeeded(again, anyObject)['productId'] === first['productId'],
      'a retry created a second product',
    );
    demand(
      again.headers.get('idempotent-replayed') === 'true',
      'a replay does not say Idempotent-Replayed: true',
    );
    answeredWith(await ask('Conformance: other'), 422, 400401);
    succeeded(await merchant.post('/product/remove', { productId: first['productId'] }), anyObject);
  });
}
