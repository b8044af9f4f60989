import type { Config } from '#config/config.ts';
import { type Clock, clockAhead, systemClock } from '#outside/clock.ts';

/** The channel to the process that started this one. */
interface Channel {
  on(event: 'message', handle: (message: unknown) => void): unknown;
  send?(message: unknown): unknown;
}

/**
 * The clock of the service. In production it is the machine's, and the channel is not read. In the local environment it
 * runs ahead of the machine's by `clockOffsetSeconds`. The local world changes that by a message
 * `{clockOffsetSeconds}`, and gets the same message back once the clock is changed.
 */
export function serviceClock(
  { environment, clockOffsetSeconds }: Pick<Config, 'environment' | 'clockOffsetSeconds'>,
  channel: Channel,
): Clock {
  if (environment !== 'local') return systemClock;
  let offsetMs = clockOffsetSeconds * 1_000;
  channel.on('message', (message) => {
    const seconds = offsetIn(message);
    if (seconds === undefined) return;
    offsetMs = seconds * 1_000;
    channel.send?.({ clockOffsetSeconds: seconds });
  });
  return clockAhead(systemClock, () => offsetMs);
}

function offsetIn(message: unknown): number | undefined {
  if (typeof message !== 'object' || message === null || !('clockOffsetSeconds' in message)) return undefined;
  const seconds = message.clockOffsetSeconds;
  return typeof seconds === 'number' && Number.isSafeInteger(seconds) && seconds >= 0 ? seconds : undefined;
}
