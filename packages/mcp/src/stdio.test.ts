import assert from 'node:assert/strict';
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
