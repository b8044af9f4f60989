import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { errorAdvice } from '@florin/protocol/error-advice.ts';
import { openLinkWorld } from '../../../test/harness/agent-payer.ts';

const { world, linkId, createSession } = await openLinkWorld();
after(() => world.close());

/** The answer's text without the parts that are new each time: the nonce of the message to sign, and the request id. */
async function textOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  return (await world.get(path, headers)).text.replaceAll(/0x[0-9a-f]{64}|req_\w{22}/g, '');
}

// proves W1.7
test('an API key has no effect: the base path alone decides the shape', async () => {
  const headers = { authorization: 'Bearer sk_live_unknown' };
  for (const path of [`/payment/link/${linkId}`, '/session/sess_unknown'])
    assert.equal(await textOf(path, headers), await textOf(path));
});

// proves S5.5, W1.8
test('the Host header has no effect on the signed data or on links in the answer', async () => {
  const { view } = await createSession();
  for (const path of [`/payment/link/${linkId}`, `/session/${view.sessionId}`, '/session/sess_unknown']) {
    const forged = await textOf(path, { host: 'evil.example', 'x-forwarded-host': 'evil.example' });
    assert.equal(forged, await textOf(path));
  }
});

// proves W1.10
test('unknown links and sessions are refused in the envelope', async () => {
  const link = await world.get('/payment/link/lnk_unknown');
  const session = await world.get('/session/sess_unknown');
  const refusal = (code: number, slug: 'link_not_found' | 'session_not_found', message: string) => ({
    code,
    message,
    data: null,
    error: {
      ...{ slug, param: '', retryable: false, remedy: errorAdvice[slug].remedy },
      docUrl: `https://pay.example.com/docs/errors/${code}`,
    },
  });
  const shown = [link, session].map(({ httpStatus, body }) => {
    const { requestId, ...error } = body['error'] as { requestId: string };
    assert.match(requestId, /^req_[0-9A-Za-z]{22}$/);
    return [httpStatus, { ...body, error }];
  });
  assert.deepEqual(shown, [
    [200, refusal(100101, 'link_not_found', 'Payment link not found: lnk_unknown')],
    [200, refusal(100201, 'session_not_found', 'Session not found: sess_unknown')],
  ]);
});
