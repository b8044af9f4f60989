import Type from 'typebox';

/** A new invitation, with its link. */
export const invitationReply = Type.Object({
  invitationId: Type.String(),
  url: Type.String(),
  expiresAt: Type.String(),
  isMailed: Type.Boolean({ description: 'The link also goes to `email`' }),
});
