import Type, { type Static } from 'typebox';
import { idText, strictObject, text } from './schema.ts';
import { sessionStatuses, sessionTypes, sessionView } from './session.ts';

/** Sessions that one search looks at before it answers with what it has found so far. */
export const searchReach = 5_000;

/** Different words of one session that a search by text can find; longer texts are searched by their beginning. */
export const maxSearchedWords = 500;

const unixTime = (description: string) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: 9_999_999_999, description: `Unix seconds. ${description}` }),
  );

const microUsd = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }));

export const sessionSearchBody = strictObject({
  status: Type.Optional(Type.Enum(sessionStatuses)),
  sessionType: Type.Optional(Type.Enum(sessionTypes)),
  isRefunded: Type.Optional(Type.Boolean({ description: 'At least in part' })),
  accountId: Type.Optional(idText),
  linkId: Type.Optional(idText),
  productId: Type.Optional(idText),
  payer: Type.Optional(text({ min: 1, max: 64, description: 'The wallet that paid, in either case' })),
  payerEmail: Type.Optional(
    text({
      min: 1,
      max: 254,
      description: 'The whole address, in either case. Needs `payer_pii:read`, else 200103',
    }),
  ),
  paidToken: Type.Optional(text({ min: 1, max: 64, description: 'Token id: `<chain>::<token>`' })),
  txHash: Type.Optional(text({ min: 1, max: 80, description: 'Of payment or settlement, in either case' })),
  createdFrom: unixTime('Created in this second or later'),
  createdTo: unixTime('Created in this second or before'),
  paidFrom: unixTime('Paid in this second or later'),
  paidTo: unixTime('Paid in this second or before'),
  amountFrom: microUsd('Micro-USD: `amount` is this or more'),
  amountTo: microUsd('Micro-USD: `amount` is this or less'),
  metadata: Type.Optional(
    Type.Record(
      Type.String({ minLength: 1, maxLength: 200 }),
      Type.Union([text({ max: 1000 }), Type.Number(), Type.Boolean()]),
      { maxProperties: 10, description: 'Top-level members of the metadata, with these values' },
    ),
  ),
  text: Type.Optional(
    text({
      min: 1,
      max: 200,
      description:
        'Words that must all begin a word of the session: of its ids, its product names, its metadata values, the name of ' +
        'its payment link, and the payer’s e-mail address with `payer_pii:read`. The last four characters or more of the ' +
        'session’s id find it, and so does a shortened one, `sess_w…1QzY`. In either case',
    }),
  ),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  after: Type.Optional(
    text({
      min: 1,
      max: 64,
      description: '`nextCursor` of the answer before',
    }),
  ),
});
export type SessionSearchBody = Static<typeof sessionSearchBody>;

export const sessionSearchReply = Type.Object({
  sessions: Type.Array(sessionView),
  nextCursor: Type.String({ description: 'What `after` takes to go on; empty when there is no more' }),
  hasMore: Type.Boolean({
    description: 'Whether there may be more. An answer with few sessions, or none, can have more',
  }),
});
