import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '#outside/clock.ts';
import type { Log } from './log.ts';
import { openTraces } from './otlp-traces.ts';

test('a collector that refuses spans or never answers is told once, and holds up neither work nor the end of the process', async (t) => {
  let answer: number | 'none' = 400;
  const server = createServer((request, response) => {
    request.resume();
    if (answer !== 'none') response.writeHead(answer, { 'content-type': 'application/json' }).end('{}');
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const told: string[] = [];
  const tell = (event: string) => void told.push(event);
  const log: Log = { info: tell, warn: tell, error: tell };
  const { port } = server.address() as AddressInfo;
  const traces = openTraces({
    ...{ url: `http://127.0.0.1:${port}/v1/traces`, share: 1, clock: systemClock, log },
    process: { version: '1', roles: ['web'], instance: 'here' },
  });
  const trace = (traceparent?: string) => {
    const request = traces.request(traceparent);
    request.enter(() => traces.record({ name: 'statement', ms: 1 }));
    request.end({ name: 'GET /' });
  };
  const exchange = async () => {
    const asked = once(server, 'request');
    trace();
    trace('no traceparent at all');
    await asked;
  };
  const isTold = async (event: string) => {
    while (!told.includes(event)) await systemClock.sleep(20);
  };
  await exchange();
  await isTold('tracing.not_sent');
  await exchange();
  answer = 200;
  await exchange();
  await isTold('tracing.sent_again');
  // A batch is sent once the one before it has ended.
  await exchange();
  assert.deepEqual(told, ['tracing.not_sent', 'tracing.sent_again']);
  answer = 'none';
  await exchange();
  const start = systemClock.monotonicMs();
  await traces.close();
  // The exchange itself may take five seconds.
  assert.ok(systemClock.monotonicMs() - start < 4_000);
});
