import Type from 'typebox';
import { route } from './route.ts';
import { strictObject, text, timestampText } from './schema.ts';

const rfcTime = Type.String({ description: 'RFC 3339; empty: unknown' });
/** What becomes of e-mails; apps/server/src/mail/mail.machine.ts. */
export const mailStatuses = ['pending', 'sent', 'failed', 'bounced', 'suppressed'] as const;

/** When the mail server last refused an address for good. */
export const bouncedAt = Type.String({
  description:
    'YYYY-MM-DD HH:MM:SS, UTC: when the mail server last refused this address for good. It gets no e-mails. Empty: it did not',
});

/** The e-mails to the payer of one session. Their address is in the session. */
export const payerMail = Type.Object({
  kind: Type.Enum(['receipt', 'refund']),
  isLoss: Type.Boolean({
    description:
      'It tells that the chain took the payment or the refund back, and waits a quarter of an hour',
  }),
  status: Type.Enum(mailStatuses),
  isTooMany: Type.Boolean({
    description: 'suppressed because a day had too many, and not because the address was refused before',
  }),
  at: Type.String({
    ...timestampText,
    description: 'When it was sent or given up; while pending, when it was stored',
  }),
});

/** The own address, where the mail server refuses it. */
export const ownBounce = Type.Union([
  Type.Null(),
  Type.Object({ bouncedAt: timestampText, reason: Type.String({ description: 'The mail server’s answer' }) }),
]);

const address = Type.String({
  description: 'In full where it is a person’s of this installation; else its first letter and its domain',
});
const reason = Type.String({
  description: 'The mail server’s answer. Where the address is not shown in full: its code alone',
});

/** What the operator’s staff sees of e-mails. It may not see payers’ addresses. */
export const staffMailRoutes = {
  listMailTrouble: route({
    method: 'GET',
    path: '/staff/mail/list',
    summary: 'E-mails that did not go out, and addresses that the mail server refuses for good',
    description: 'The newest first, at most 200 of each.',
    tag: 'Operator: e-mail',
    reply: Type.Object({
      isConfigured: Type.Boolean({ description: 'false: there is no mail server, and nothing is sent' }),
      mails: Type.Array(
        Type.Object({
          mailId: Type.String(),
          kind: Type.String(),
          merchantId: Type.String({ description: 'Empty: it is about a person alone' }),
          address,
          status: Type.Enum(mailStatuses),
          attempts: Type.Integer(),
          reason,
          createAt: rfcTime,
          nextAt: Type.String({ description: 'The next attempt; RFC 3339; empty: given up' }),
        }),
      ),
      bounces: Type.Array(Type.Object({ address, reason, bouncedAt: rfcTime })),
    }),
    permissions: ['installation:read'],
    effect: 'query',
  }),
  releaseMailAddress: route({
    method: 'POST',
    path: '/staff/mail/release',
    summary: 'Send e-mails to an address again that the mail server refused for good',
    description: 'What was not sent meanwhile is not sent later.',
    tag: 'Operator: e-mail',
    body: strictObject({
      address: text({ min: 3, max: 254 }),
      reason: text({ min: 1, max: 300, description: 'For the audit log' }),
    }),
    reply: Type.Object({ address }),
    permissions: ['installation:write'],
    effect: 'update',
    errors: ['field_invalid'],
  }),
} as const;
