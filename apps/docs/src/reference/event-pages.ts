import { defaultRetrySettings, maxBodyBytes } from '@florin/outbox';
import { type EventType, eventPatterns, events, eventTypes } from '@florin/protocol/event.ts';
import { eventLifeDays } from '@florin/protocol/event-api.ts';
import { eventDataSchema } from '@florin/protocol/event-data.ts';
import { eventFixture, exceptionFixture } from '@florin/protocol/event-fixture.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { eventExample } from '@florin/protocol/example-event.ts';
import { type ExceptionKind, exceptionKinds } from '@florin/protocol/exception.ts';
import { type DocsPage, heading, json, linkTo, list, orderedList, table } from './page.ts';

/** The types of events. */
export function eventPage(): DocsPage {
  return {
    path: '/docs/events',
    title: 'Event types',
    summary: 'What a webhook can subscribe to, when each event is raised, and what its `data` holds.',
    blocks: [
      json(eventExample(exampleOrigin)),
      list(
        '`id` is the same on every retry and equals the header `webhook-id`: handle each id once.',
        '`sequence` counts the events of one object from 1. Events of one object arrive in order.',
        '`data` is what the matching read returned when the event happened.',
        `Over ${maxBodyBytes / 1024} KiB line items lose \`productData\`, and the body says \`"truncated": true\`.`,
        '`"fixture": true` marks an example from `POST /webhook/test` or of `florin trigger` with `--webhook` or `--forward-to`: nothing happened, and its ids exist nowhere.',
        `${linkTo('GET /event/list', '/docs/api/events')} gives the same bodies again for ${eventLifeDays} days.`,
      ),
      `\`subscribedEvents\` takes exact names and these patterns: ${eventPatterns
        .map((pattern) => `\`${pattern}\``)
        .join(', ')}.`,
      ...eventTypes.flatMap((type) => [
        heading(type, 3),
        `${events[type].when} \`data\` is ${dataText(type)}.`,
        json(eventFixture(type, exampleOrigin)),
        ...(type === 'session.exception' ? exceptionBlocks() : []),
      ]),
    ],
  };
}

/** The members of an event's `data`. */
function dataText(type: EventType): string {
  const members = `\`{${Object.keys(eventDataSchema(type).properties).join(', ')}}\``;
  return type === 'webhook.paused' ? `${members}, without its key` : members;
}

const kindTexts: Readonly<Record<ExceptionKind, string>> = {
  duplicate:
    'A second payment. The service returns it to its payer, unless it is settled first: then `duplicate_settled` follows.',
  duplicate_settled: 'A second payment was settled before it could go back: you have to return it.',
  refunded: 'A refund returned the counted payment to its payer.',
  reclaimed: 'The payment was not settled in time and went back to its payer.',
  unsettled:
    'Half of the time in which the payment can be settled is over. It goes back to its payer at the end of that time: ask the operator what holds it up.',
  underpaid:
    'A deposit is too small. With `decision` `accept` the operator adds the missing amount. With a `decideBy` you can decide. Otherwise it goes back.',
  overpaid: 'A deposit is larger than the total. The service returns the rest.',
  late: 'A deposit came after the session’s end. With `decision` `accept` it becomes the payment. With a `decideBy` you can decide. Otherwise it goes back.',
  wrong_token: 'A deposit is in another token. The service returns it.',
};

function exceptionBlocks(): string[] {
  return [
    table(
      ['`kind`', 'What happened, and where the money goes'],
      exceptionKinds.map((kind) => [`\`${kind}\``, kindTexts[kind]]),
    ),
    'Amounts below what the service returns (one dollar, unless the operator sets it) stay at the deposit address until a wallet sends them back, from the payer’s page or without it.',
    'For example a late deposit that waits for your decision:',
    json(exceptionFixture('late', exampleOrigin)['exception']),
  ];
}

/** How notifications are signed, sent and retried. */
export function webhookPage(): DocsPage {
  return {
    path: '/docs/webhooks',
    title: 'Signatures and retries of webhooks',
    summary: 'How to verify a notification, when it is repeated, and when a webhook is paused.',
    blocks: [...verificationBlocks(), ...deliveryBlocks()],
  };
}

function verificationBlocks(): string[] {
  return [
    heading('Verify the signature of a webhook'),
    'Notifications are signed as [Standard Webhooks](https://www.standardwebhooks.com) prescribes, so any of its ' +
      'libraries verifies them with the webhook’s `key`. ' +
      `${linkTo('Receive webhooks', '/docs/guide/receive-webhooks')} is a receiver in twenty lines.`,
    table(
      ['Header', 'Content'],
      [
        ['`webhook-id`', 'The id of the event: the same on every retry.'],
        ['`webhook-timestamp`', 'When this attempt was sent, in Unix seconds.'],
        ['`webhook-signature`', 'One or more signatures with a space between: `v1,` and base64.'],
      ],
    ),
    'By hand:',
    orderedList(
      'Take the body as it came, byte for byte, before anything parses it.',
      'Join `webhook-id`, `webhook-timestamp` and the body with dots.',
      'The secret is the part of `key` after `whsec_`, decoded from base64: 32 bytes.',
      'Compute HMAC-SHA256 of the joined text with the secret, and write it as base64.',
      'Compare it in constant time with each signature after `v1,`. One match is enough.',
      'Refuse a timestamp that is more than five minutes away from your clock.',
    ),
    '`POST /webhook/key/refresh` makes a new key. The old one is invalid at once, unless `overlapSeconds` keeps both ' +
      'signing for a while: then the header carries two signatures.',
  ];
}

function deliveryBlocks(): string[] {
  const { delaysMs, jitter, pauseAfterFailures, pauseAfterMs, retryAfterLimitMs } = defaultRetrySettings;
  const hours = (ms: number) => ms / 3_600_000;
  return [
    heading('Answer'),
    'Any 2xx status within 15 seconds counts as received. Redirects are failures and are never followed; bodies are ' +
      'not read beyond 64 KiB. Answer first and work afterwards.',
    heading('Retries'),
    table(
      ['Attempt', 'Wait before it'],
      delaysMs.map((delayMs, index) => [String(index + 1), waitText(delayMs)]),
    ),
    list(
      `Each wait varies by up to ${jitter * 100} %. All attempts span ${
        Math.round(hours(delaysMs.reduce((sum, delayMs) => sum + delayMs, 0)) * 10) / 10
      } hours.`,
      `A longer \`Retry-After\` is honoured up to ${hours(retryAfterLimitMs)} hours; a shorter one changes nothing.`,
      'Later events of the same session wait for the earlier one; other sessions do not.',
    ),
    heading('Pause'),
    `A webhook is paused after ${pauseAfterFailures} failed attempts in a row that span at least ${hours(pauseAfterMs)} ` +
      'hours, or at once when it answers HTTP 410. Any success starts the count anew. `POST /webhook/enable` starts it ' +
      'again, and `replaySince` sends events that were skipped or failed since then. The operator can change both numbers.',
    heading('Send again'),
    list(
      `${linkTo('POST /webhook/delivery/resend', '/docs/api/webhooks')} sends one delivery again, ${linkTo(
        'POST /webhook/delivery/resend/all',
        '/docs/api/webhooks',
      )} an event, or the failed and skipped deliveries of a webhook since a time. On the command line: \`florin resend\`.`,
      'A resent delivery keeps its `webhook-id` and its body, and starts a new schedule.',
      'After failures a receiver gets few requests at a time, and more as it answers.',
      `${linkTo('GET /webhook/delivery/detail', '/docs/api/webhooks')} shows every attempt with its request, its answer, and what changed since the previous attempt.`,
    ),
    heading('Addresses'),
    'Only https, to public addresses: private, loopback, link-local and other special ranges are refused in any ' +
      'spelling, when the URL is given and again at every connection. Any port may be named. Webhook URLs carry no credentials, white space or control characters; they are stored and ' +
      'answered in their normal form. The local environment alone also takes loopback, over http or https.',
  ];
}

function waitText(delayMs: number): string {
  if (delayMs === 0) return 'none';
  if (delayMs < 60_000) return `${delayMs / 1000} seconds`;
  return delayMs < 3_600_000 ? `${delayMs / 60_000} minutes` : `${delayMs / 3_600_000} hours`;
}
