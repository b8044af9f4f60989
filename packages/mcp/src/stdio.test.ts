import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { speakMcp } from './stdio.ts';

test('an API key goes by plain http to this machine alone', async () => {
  const speak = (origin: string, apiKey: string | undefined) =>
    speakMcp({
      ...{ origin, apiKey, input: new PassThrough().end(), output: new PassThrough() },
      onReady: () => {},
    });
  for (const origin of ['http://pay.example.com', 'http://10.0.0.7:4000', 'http://localhost.example.com'])
    await assert.rejects(speak(origin, 'sk_live_a'), {
      message: `http would show the API key to everyone on the way to ${origin}: give https`,
    });
  // Without a key there is nothing to see.
  await speak('http://pay.example.com', undefined);
  await speak('http://127.0.0.1:9', 'sk_live_a');
});

test('a line that is no JSON is answered as such, and the next message as always', {
  timeout: 20_000,
}, async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const spoken = speakMcp({
    ...{ origin: 'http://127.0.0.1:9', apiKey: undefined, input, output, onReady: () => {} },
  });
  const answers = createInterface({ input: output })[Symbol.asyncIterator]();
  const answer = async (): Promise<unknown> => JSON.parse(String((await answers.next()).value));
  input.write('not json\n\n');
  assert.deepEqual(await answer(), {
    ...{ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error' } },
  });
  input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  assert.deepEqual(await answer(), { jsonrpc: '2.0', id: 1, result: {} });
  input.end();
  await spoken;
});
