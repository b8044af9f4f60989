import Type from 'typebox';
import { type EventType, events, eventTypes } from './event.ts';
import { event } from './event-api.ts';
import { eventDataSchema } from './event-data.ts';
import { type Json, type JsonObject, plainSchema } from './openapi-schema.ts';

/** The component that describes events of one type: `SessionPaidEvent`. */
export function eventName(type: EventType): string {
  return `${type.replaceAll(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Event`;
}

function eventSchema(type: EventType): JsonObject {
  const data = eventDataSchema(type);
  return plainSchema(
    Type.Object({ ...event.properties, type: Type.Literal(type), data }, { description: events[type].when }),
  );
}

/** The components of all types of events, and `Event`, which is one of them. */
export function eventSchemas(): Readonly<Record<string, Json>> {
  const refs = eventTypes.map((type) => [type, `#/components/schemas/${eventName(type)}`] as const);
  return {
    Event: {
      description:
        'One event, told apart by `type`. Version 1 can get further types: answer 2xx to a type that you do not know',
      oneOf: refs.map(([, $ref]) => ({ $ref })),
      discriminator: { propertyName: 'type', mapping: Object.fromEntries(refs) },
    },
    ...Object.fromEntries(eventTypes.map((type) => [eventName(type), eventSchema(type)])),
  };
}
