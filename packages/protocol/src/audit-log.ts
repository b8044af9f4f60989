import Type from 'typebox';
import { strictObject, text } from './schema.ts';

/** An entry of the audit log. */
const auditEntry = Type.Object({
  entryId: Type.String(),
  at: Type.String({ description: 'RFC 3339' }),
  actorKind: Type.String(),
  actorId: Type.String(),
  actorName: Type.String(),
  action: Type.String(),
  subject: Type.String(),
  before: Type.String({ description: 'JSON; empty where there was none' }),
  after: Type.String({ description: 'JSON; empty where there is none' }),
  clientAddress: Type.String(),
  userAgent: Type.String(),
  requestId: Type.String(),
});

/** A time of a query, whose values are texts. */
function secondsText(description: string) {
  return Type.String({ pattern: '^(0|[1-9][0-9]{0,10})$', description: `Unix seconds. ${description}` });
}

export const auditQuery = strictObject({
  after: Type.Optional(text({ min: 1, max: 64, description: '`nextCursor` of the page before' })),
  format: Type.Optional(Type.Union([Type.Literal('json'), Type.Literal('csv')])),
  actor: Type.Optional(
    text({ min: 1, max: 254, description: 'Whose acts: the id or the whole e-mail address of who acted' }),
  ),
  action: Type.Optional(text({ min: 1, max: 64, description: 'The act, such as `createApiKey`' })),
  subject: Type.Optional(text({ min: 1, max: 64, description: 'The id of what was acted on' })),
  from: Type.Optional(secondsText('Acts of this second or later')),
  to: Type.Optional(secondsText('Acts until this second, which is included')),
});
export const auditReply = Type.Object({ entries: Type.Array(auditEntry), nextCursor: Type.String() });
