import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { AttestationUnavailable, attestationSource } from './attestation.ts';

let answer = { status: 200, body: '' };
const asked: string[] = [];
const service = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.writeHead(answer.status).end(answer.body);
});
let source: ReturnType<typeof attestationSource>;
before(async () => {
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
  source = attestationSource(`http://127.0.0.1:${(service.address() as AddressInfo).port}`);
});
after(async () => {
  await source.close();
  service.close();
});

const txHash = `0x${'7a'.repeat(32)}` as const;
const messages = (...entries: object[]) => JSON.stringify({ messages: entries });
const pending = { status: 'pending_confirmations', message: '0x12', attestation: 'PENDING' };

test('a burn that is unknown or not attested yet has no message, and an attested one has its own', async () => {
  for (const [status, body, found] of [
    [404, '', []],
    [200, messages(), []],
    [200, messages(pending), []],
    [200, messages({ ...pending, status: 'complete' }), []],
    [
      200,
      messages(pending, { status: 'complete', message: '0xab', attestation: '0xcd' }),
      [{ message: '0xab', attestation: '0xcd' }],
    ],
  ] as const) {
    answer = { status, body };
    assert.deepEqual(await source.messagesOf(6, txHash), found, body);
  }
  assert.deepEqual(new Set(asked), new Set([`/v2/messages/6?transactionHash=${txHash}`]));
});

test('an answer without meaning, or none, may be asked for again', async () => {
  for (const [status, body] of [
    [500, messages()],
    [429, ''],
    [200, '<html>'],
    [200, '{}'],
    [200, messages({ status: 'complete', message: 'x'.repeat(1024 * 1024) })],
  ] as const) {
    answer = { status, body };
    await assert.rejects(source.messagesOf(0, txHash), AttestationUnavailable, body.slice(0, 80));
  }
  // No service answers at this port.
  const gone = attestationSource('http://127.0.0.1:9');
  await assert.rejects(gone.messagesOf(0, txHash), AttestationUnavailable);
  await gone.close();
});
