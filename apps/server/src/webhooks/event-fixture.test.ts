import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTypes } from '@florin/protocol/event.ts';
import { eventDataSchema } from '@florin/protocol/event-data.ts';
import { eventFixture, exceptionFixture } from '@florin/protocol/event-fixture.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { exceptionKinds } from '@florin/protocol/exception.ts';
import { Ajv } from 'ajv';

const ajv = new Ajv({ strict: false, validateFormats: false });

/** The same schema, which takes no members that it does not describe. */
function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key !== 'properties' &&
    typeof value === 'object' &&
    value !== null &&
    'properties' in value &&
    'type' in value
      ? { ...value, additionalProperties: false }
      : value,
  ) as object;
}

// proves W6.23
test('every event type has a fixture that fits the schema of its data, member by member', () => {
  for (const type of eventTypes) {
    const validate = ajv.compile(closed(eventDataSchema(type)));
    validate(eventFixture(type, exampleOrigin));
    assert.deepEqual(validate.errors ?? [], [], type);
  }
});

test('the status in a fixture is the one that its event reports', () => {
  const statuses = eventTypes
    .filter((type) => /^session\.(?!exception|payment_detected)/.test(type))
    .map((type) => [type, (eventFixture(type, exampleOrigin)['session'] as { status: string }).status]);
  assert.deepEqual(
    statuses,
    statuses.map(([type = '']) => [type, type === 'session.created' ? 'initialized' : type.split('.')[1]]),
  );
});

test('every kind of exception has a fixture that fits the schema', () => {
  const validate = ajv.compile(closed(eventDataSchema('session.exception')));
  for (const kind of exceptionKinds) {
    const fixture = exceptionFixture(kind, exampleOrigin);
    validate(fixture);
    assert.deepEqual([validate.errors ?? [], (fixture['exception'] as { kind: string }).kind], [[], kind]);
  }
});
