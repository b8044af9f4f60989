import Type from 'typebox';
import { text } from './schema.ts';

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

export const auditQuery = Type.Object(
  {
    after: Type.Optional(text({ min: 1, max: 64, description: '`nextCursor` of the page before' })),
    format: Type.Optional(Type.Union([Type.Literal('json'), Type.Literal('csv')])),
  },
  { additionalProperties: false },
);
export const auditReply = Type.Object({ entries: Type.Array(auditEntry), nextCursor: Type.String() });
