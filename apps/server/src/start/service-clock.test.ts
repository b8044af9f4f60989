import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { systemClock } from '#outside/clock.ts';
import { serviceClock } from './service-clock.ts';

class Channel extends EventEmitter {
  readonly sent: unknown[] = [];
  send(message: unknown): void {
    this.sent.push(message);
  }
}

test('in production the clock is the machine’s, and no message can move it', () => {
  const channel = new Channel();
  const clock = serviceClock({ environment: 'production', clockOffsetSeconds: 0 }, channel);
  assert.equal(clock, systemClock);
  assert.equal(channel.listenerCount('message'), 0);
});

test('in the local environment the clock starts with the configured offset, and a message changes it', () => {
  const channel = new Channel();
  const clock = serviceClock({ environment: 'local', clockOffsetSeconds: 600 }, channel);
  const isAhead = (seconds: number): boolean => {
    const least = Date.now() + seconds * 1_000;
    const now = clock.now().getTime();
    return now >= least && now <= Date.now() + seconds * 1_000;
  };
  assert.ok(isAhead(600));
  channel.emit('message', { clockOffsetSeconds: 3_000 });
  assert.ok(isAhead(3_000));
  for (const other of [{ clockOffsetSeconds: -1 }, { clockOffsetSeconds: '9' }, { offset: 9 }, null, 9])
    channel.emit('message', other);
  assert.ok(isAhead(3_000));
  assert.deepEqual(channel.sent, [{ clockOffsetSeconds: 3_000 }]);
});
