import { Florin, type FlorinEvent } from '@florin/sdk';
import { argument, type CliOutside, type CommandResult, type Options, optional } from './command.ts';
import { UsageError } from './command-error.ts';
import { accessOf, accessOptions } from './connection.ts';
import { subjectOf, subscriptionsOf, tailEvents, typeOf } from './event-tail.ts';
import {
  attemptDelaysMs,
  type Forward,
  type ForwardAttempt,
  forward,
  forwardTo,
  receiverOf,
  secretOf,
} from './forward.ts';
import { isLoopback } from './local-world.ts';
import { paint } from './program.ts';
import type { MerchantCommand } from './resource.ts';

/** Events that wait for their receiver; then no further ones are read. */
const maxWaiting = 1_000;
const pauseMs = 200;
/** Of reading one event, over some two minutes: a service that restarts ends no listening. */
const maxRetries = 20;

export const listenCommand: MerchantCommand = {
  does: 'forwards events to a receiver on this machine as they are raised, signed, until Ctrl-C; shows them without one',
  argument: argument('[receiver]', 'such as localhost:3000/webhooks'),
  examples: [
    'listen localhost:3000/webhooks',
    "listen localhost:3000/webhooks --events 'session.*,refund.*' --fast",
    'listen --print-secret',
    'listen --json',
  ],
  options: [
    optional('--forward-to <url>', 'the receiver, in place of the argument'),
    optional('--events <types>', 'only these, such as session.*,refund.* (default: all)'),
    optional('--from <event>', 'start after this event (default: now)'),
    optional('--fast', 'tries again at once, not at the times of the service (5 s, 5 min, 30 min, …)'),
    optional('--secret <key>', 'signs the events, such as whsec_… (default: one that is kept)'),
    optional('--print-secret', 'prints the secret and ends'),
    optional('--anywhere', 'also forwards to another machine, which then reads the secrets of payment pages'),
    ...accessOptions,
  ],
  async run(options, outside) {
    const { url, key } = accessOf(options, outside);
    const receiver = options.optional('receiver') ?? options.optional('forward-to');
    const texts = new EventTexts();
    const florin = new Florin(key, { baseUrl: url, fetch: texts.fetch });
    if (options.flag('print-secret')) {
      const secret = secretOf(options, outside, new URL(url).origin);
      return { text: secret, json: { secret } };
    }
    if (receiver === undefined) return showEvents(florin, options, outside);
    const to = receiverOf(
      options.optional('receiver') === undefined ? '--forward-to' : 'the receiver',
      receiver,
    );
    if (!isLoopback(to) && !options.flag('anywhere'))
      throw new UsageError(
        `${to} is not on this machine, and events have the secrets of payment pages: --anywhere forwards them`,
      );
    // The kept secret is only made for a receiver that can be one.
    const target = forwardTo(to, secretOf(options, outside, new URL(url).origin));
    return forwardEvents(florin, texts, target, options, outside);
  },
};

async function showEvents(florin: Florin, options: Options, outside: CliOutside): Promise<CommandResult> {
  let shown = 0;
  await tailEvents(florin, outside, {
    subscriptions: subscriptionsOf(options),
    from: options.optional('from'),
    signal: endingOf(outside),
    async handle(event) {
      shown += 1;
      report(
        options,
        outside,
        event,
        `${event.timestamp}  ${typeOf(event)}  ${subjectOf(event)}  ${event.id}`,
      );
    },
  });
  return { text: `showed ${shown} events`, json: { shown }, isLine: true };
}

/** A line for a person, or the same as JSON. */
function report(options: Options, outside: CliOutside, json: object, line: string): void {
  if (options.flag('json')) outside.emit?.(JSON.stringify(json));
  else outside.tell(line);
}

async function forwardEvents(
  florin: Florin,
  texts: EventTexts,
  target: Forward,
  options: Options,
  outside: CliOutside,
): Promise<CommandResult> {
  const signal = endingOf(outside);
  const subscriptions = subscriptionsOf(options);
  const counts = { forwarded: 0, taken: 0 };
  /** What each object's events wait for: a later one is never sent before an earlier one. */
  const last = new Map<string, Promise<void>>();
  let waiting = 0;
  outside.tell(`Forwarding to ${target.url}. Verify with this key: ${target.secret}`);
  const deliver = async (event: FlorinEvent, before: Promise<void>, body: string): Promise<void> => {
    await before;
    if (signal.aborted) return;
    counts.forwarded += 1;
    if (await attemptAll(target, event, body, { options, outside, signal })) counts.taken += 1;
  };
  await tailEvents(florin, outside, {
    subscriptions,
    from: options.optional('from'),
    signal,
    async handle(event) {
      while (waiting >= maxWaiting && !signal.aborted) await outside.clock.sleep(pauseMs, signal);
      await florin.events.retrieve(event.id, { signal, maxRetries });
      const subject = subjectOf(event);
      waiting += 1;
      const delivery = deliver(event, last.get(subject) ?? Promise.resolve(), texts.take(event.id)).finally(
        () => {
          waiting -= 1;
          if (last.get(subject) === delivery) last.delete(subject);
        },
      );
      last.set(subject, delivery);
    },
  });
  await Promise.all(last.values());
  const text = `forwarded ${counts.forwarded}, of which ${counts.taken} were accepted`;
  return { text, json: counts, isLine: true };
}

/** Tries until the receiver accepts, at the times of the service; returns whether it did. */
async function attemptAll(
  target: Forward,
  event: FlorinEvent,
  body: string,
  context: { readonly options: Options; readonly outside: CliOutside; readonly signal: AbortSignal },
): Promise<boolean> {
  const { options, outside, signal } = context;
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await forward(target, outside.clock, { id: event.id, body });
    const waitMs = outcome.isTaken ? undefined : nextWaitMs(attempt, options.flag('fast'));
    const facts = { eventId: event.id, type: typeOf(event), subject: subjectOf(event), attempt };
    report(
      options,
      outside,
      { ...facts, isTaken: outcome.isTaken, httpStatus: outcome.httpStatus, status: outcome.status },
      lineOf(event, attempt, outcome, waitMs, outside),
    );
    if (waitMs === undefined) return outcome.isTaken;
    await outside.clock.sleep(waitMs, signal);
    if (signal.aborted) return false;
  }
}

/** The wait after so many failed attempts; undefined after the last one. */
function nextWaitMs(attemptsMade: number, isFast: boolean): number | undefined {
  const delayMs = attemptDelaysMs[attemptsMade];
  if (delayMs === undefined) return undefined;
  return isFast ? 0 : delayMs;
}

function lineOf(
  event: FlorinEvent,
  attempt: number,
  { isTaken, status }: ForwardAttempt,
  waitMs: number | undefined,
  { colors }: CliOutside,
): string {
  const verdict = isTaken ? paint(colors?.err, 'green', 'ok  ') : paint(colors?.err, 'red', 'FAIL');
  // Events of one object never overtake each other.
  const held = waitMs === 0 ? '' : `; later events of ${subjectOf(event)} wait`;
  const next = isTaken ? '' : waitMs === undefined ? '; given up' : `; again ${spanText(waitMs)}${held}`;
  const count = attempt === 1 ? '' : `attempt ${attempt}: `;
  return `${verdict}  ${typeOf(event)}  ${subjectOf(event)}  ${event.id}  ${count}${status}${next}`;
}

/** `at once`, `in 5 s`, `in 30 min`, `in 2 h`. */
function spanText(ms: number): string {
  if (ms === 0) return 'at once';
  if (ms < 60_000) return `in ${Math.round(ms / 1_000)} s`;
  return ms < 3_600_000 ? `in ${Math.round(ms / 60_000)} min` : `in ${Math.round(ms / 3_600_000)} h`;
}

function endingOf({ ending }: CliOutside): AbortSignal {
  return ending?.() ?? new AbortController().signal;
}

/**
 * The texts of events, byte for byte as the service answers them: a webhook has the same. Parsing and rewriting would change numbers
 * and repeated names.
 */
class EventTexts {
  readonly #texts = new Map<string, string>();

  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const id = /\/event\/(evt_\w+)$/.exec(String(input))?.[1];
    if (id === undefined || !response.ok) return response;
    const text = await response.text();
    this.#texts.set(id, dataText(text));
    const { status, headers } = response;
    return new Response(text, { status, headers });
  };

  /** The text of an event that was read last. */
  take(id: string): string {
    const text = this.#texts.get(id);
    this.#texts.delete(id);
    if (text === undefined) throw new Error(`${id} was not read`);
    return text;
  }
}

/** `data` is the last member of a good answer. */
function dataText(text: string): string {
  return text.slice(text.indexOf('"data":') + '"data":'.length, text.lastIndexOf('}'));
}
