import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openTestService } from './service.fixture.ts';

const folder = new URL('../', import.meta.url);

test('the example of the README creates a session for the only account and lists paid ones', async () => {
  // Inside the package, so that its own name is found.
  const scratch = await mkdtemp(fileURLToPath(new URL('.readme-', folder)));
  const account = { accountId: 'acc_1', settlementCurrencies: ['base::usdc'] };
  await using service = await openTestService((response, { path }) => {
    const session = { sessionId: 'sess_1', paymentUrl: 'https://pay.example.com/checkout/sess_1' };
    const page = { sessions: [{ session }], hasMore: false, nextCursor: '' };
    const data = path.endsWith('/account/list') ? [account] : path.includes('/list/') ? page : session;
    response.end(JSON.stringify({ code: 0, message: 'success', data }));
  });
  try {
    const readme = await readFile(new URL('README.md', folder), 'utf8');
    const file = `${scratch}/example.ts`;
    await writeFile(file, /```ts\n([\s\S]*?)\n```/.exec(readme)?.[1] ?? '');
    const env = { ...process.env, FLORIN_KEY: 'sk_live_test', FLORIN_URL: service.baseUrl };
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', file], { env });
    assert.equal(stdout, 'send the payer to https://pay.example.com/checkout/sess_1\nsess_1\n');
  } finally {
    await rm(scratch, { recursive: true });
  }
  const [, create, list] = service.seen;
  assert.deepEqual(
    [create?.headers['idempotency-key'], list?.path],
    ['A-1042', '/payment/v1/session/list/paid/1/100'],
  );
});
