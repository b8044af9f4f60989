import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { discovery } from '@florin/protocol/discovery.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { discoveryDocument, discoveryDoor } from './discovery.ts';
import { compileCheck } from './schema-check.ts';
import { buildServer } from './server.ts';

const options = {
  origin: 'https://pay.example.com',
  serviceDomain: 'pay.example.com',
  chains: fixtureChains,
  hasX402: true,
};

test('the document matches its schema, with x402 and without', () => {
  const check = compileCheck(discovery, 'reply');
  assert.equal(check(discoveryDocument(options)), undefined);
  const { x402, ...rest } = discoveryDocument(options);
  assert.deepEqual(discoveryDocument({ ...options, hasX402: false }), rest);
  assert.equal(x402?.link, 'https://pay.example.com/aipay/x402/link/{linkId}');
});

test('the document names every operation of the AI protocol and every payment token', () => {
  const { aiProtocol, chains } = discoveryDocument(options);
  assert.deepEqual(Object.keys(aiProtocol.endpoints), Object.keys(agentApi.routes));
  assert.deepEqual(aiProtocol.endpoints['getPaymentLink'], {
    method: 'GET',
    url: 'https://pay.example.com/aipay/api/v1/payment/link/{linkId}',
  });
  assert.deepEqual(aiProtocol.domain, { name: 'aipay.pay.example.com', version: '1' });
  assert.deepEqual(
    chains.flatMap(({ tokens }) => tokens.map(({ tokenId }) => tokenId)),
    fixtureChains.tokens.map(({ tokenId }) => tokenId),
  );
});

test('the Host header does not change the document, on either path', async () => {
  const server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: options.origin,
    doors: [discoveryDoor(options)],
    ready: async () => ({ ready: true, checks: {} }),
  });
  try {
    const bodies = await Promise.all(
      ['/.well-known/ai-pay.json', '/aipay/.well-known/ai-pay.json'].flatMap((url) =>
        ['pay.example.com', 'evil.example'].map(async (host) => {
          const headers = { host, 'x-forwarded-host': host };
          return (await server.inject({ url, headers })).json();
        }),
      ),
    );
    for (const body of bodies) assert.deepEqual(body, discoveryDocument(options));
  } finally {
    await server.close();
  }
});
