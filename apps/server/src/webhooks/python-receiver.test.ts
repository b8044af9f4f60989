import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@florin/world';
import { createEgress } from '#outside/egress.ts';
import { makeCertificate } from '../../test/harness/certificate.ts';
import { addMerchant, addWebhook, selectAttempts } from '../../test/harness/webhook-fixture.ts';
import { openWebhookWorld } from '../../test/harness/webhook-world.ts';

const guide = fileURLToPath(new URL('../../../../docs/guide/receive-webhooks.md', import.meta.url));
const world = await openWebhookWorld();
const folder = await mkdtemp(join(tmpdir(), 'florin-python-'));
after(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});
const hasPython = spawnSync('python3', ['--version'], { stdio: 'ignore' }).status === 0;

/** Starts the guide's receiver, with our certificate and this key. */
async function startReceiver(key: string, port: number): Promise<ChildProcess> {
  const source = /```py receiver\.py\n([\s\S]*?)\n```/.exec(await readFile(guide, 'utf8'))?.[1];
  if (source === undefined) throw new Error('the guide has no receiver.py');
  await writeFile(join(folder, 'receiver.py'), source);
  const env = { ...process.env, WEBHOOK_KEY: key, PORT: String(port) };
  return spawn('python3', ['receiver.py'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The status that the receiver answers to these headers. */
async function statusOf(
  url: string,
  ca: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  const sent = request(url, {
    method: 'POST',
    ca,
    headers: { 'webhook-id': 'evt_1', ...headers },
    agent: false,
  });
  sent.end('{}');
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

// proves W6.27
test("Python's standard library verifies what the engine delivers, and refuses it under another key", {
  skip: hasPython ? false : 'python3 is not installed on this machine',
}, async () => {
  const certificate = makeCertificate({ now: new Date() });
  await writeFile(join(folder, 'receiver.crt'), certificate.cert);
  await writeFile(join(folder, 'receiver.key'), certificate.key);
  const egress = createEgress({ addresses: { allowLoopback: true }, ca: certificate.ca });
  const port = await findFreePort();
  const url = `https://127.0.0.1:${port}/`;
  const [merchantId, strangerId] = [await addMerchant(world.db), await addMerchant(world.db)];
  const { key } = await addWebhook(world.db, merchantId, { webhookUrl: url });
  await addWebhook(world.db, strangerId, { webhookUrl: url });
  const receiver = await startReceiver(key, port);
  try {
    if (receiver.stdout === null) throw new Error('no output');
    const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
    assert.equal((await lines.next()).value, `listening on ${port}`);
    await world.withWorker(
      async () => {
        await world.raise(merchantId, merchantId, ['session.paid', 'session.completed', 'refund.created']);
        await world.raise(strangerId, strangerId);
        await world.untilStatus(merchantId, 'succeeded');
        await world.untilStatus(strangerId, 'failed');
      },
      { egress },
    );
    const attempts = await world.db.query(selectAttempts, { merchantId: strangerId });
    assert.deepEqual(new Set(attempts.map((attempt) => attempt.http_status)), new Set([400]));
    const told = [await lines.next(), await lines.next(), await lines.next()].map(({ value }) =>
      String(value).trim(),
    );
    assert.deepEqual(told, ['session.paid', 'session.completed', 'refund.created']);
    const [time, signature] = ['webhook-timestamp', 'webhook-signature'] as const;
    const present = String(Math.floor(Date.now() / 1_000));
    for (const headers of [
      { [time]: present, [signature]: 'v1,é' },
      { [time]: '9'.repeat(400), [signature]: 'v1,AA==' },
      { [time]: present },
    ])
      assert.equal(await statusOf(url, certificate.ca, headers), 400);
  } finally {
    receiver.kill();
    await once(receiver, 'exit');
    await egress.close();
  }
});
