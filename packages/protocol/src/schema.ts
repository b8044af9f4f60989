import Type, { type TProperties } from 'typebox';

/**
 * Building blocks of the wire schemas. `format: 'text'` refuses NUL and lone surrogates, which neither PostgreSQL nor
 * UTF-8 can hold; lengths count Unicode code points.
 */
export function text(options: { min?: number; max: number; description?: string }) {
  return Type.String({
    format: 'text',
    minLength: options.min ?? 0,
    maxLength: options.max,
    ...(options.description === undefined ? {} : { description: options.description }),
  });
}

/**
 * A name that people read: one line of visible characters (the server's format `name`). The server drops the spaces around
 * it.
 */
export function nameText(options: { min?: number; max: number; description?: string }) {
  const { min = 1, max, description } = options;
  const rule =
    'One line of visible characters, without bidi controls and with at most six combining marks in a row; spaces around it are dropped';
  return Type.String({
    format: 'name',
    trimmed: true,
    minLength: min,
    maxLength: max,
    description: description === undefined ? rule : `${description}. ${rule}`,
  });
}

/** An object of a request, which has no other fields. */
export function strictObject<T extends TProperties>(members: T) {
  return Type.Object(members, { additionalProperties: false });
}

/** An id from a client: only its length is checked, so that a malformed id is simply not found. */
export const idText = text({ min: 1, max: 64 });

/**
 * An https URL up to `max` characters. The server's format `https-url` refuses everything else, except plain http to
 * loopback in the local environment.
 */
export function httpsUrl(max: number) {
  return Type.String({ format: 'https-url', maxLength: max });
}

/**
 * An image to be hosted: an https URL, or a URL from a read. The format `image-url` also accepts hosted URLs of a local
 * installation, which are plain http.
 */
export const imageUrl = Type.String({ format: 'image-url', maxLength: 500 });

/** 0 or 1, as the specification writes booleans. */
export const flag = Type.Integer({ minimum: 0, maximum: 1, description: '1: yes; 0: no' });

/** 1: the merchant pays the fee; 2: the payer pays the fee. */
export const feeModel = Type.Union([Type.Literal(1), Type.Literal(2)], {
  description: '1: the merchant pays the fee; 2: the payer pays the fee',
});

/** A price in Micro-USD, 1 to ten million dollars. */
export const price = Type.Integer({
  minimum: 1,
  maximum: 10_000_000_000_000,
  description: 'Micro-USD: 1,000,000 is one US dollar',
});

const timestampPattern = '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$';

/** `YYYY-MM-DD HH:MM:SS`, UTC. */
export const timestampText = Type.String({
  pattern: timestampPattern,
  description: 'YYYY-MM-DD HH:MM:SS, UTC',
});

/** The same, `null` until it has happened. */
export const timestampOrNull = Type.Union([timestampText, Type.Null()], {
  description: 'YYYY-MM-DD HH:MM:SS, UTC; null until then',
});

/**
 * For two people who change one thing at a time: `updateAt` as the caller read it. Each change has a later second than the
 * one before, so it may run ahead of the clock.
 */
export function unchangedSince(thing: string, code: number) {
  return Type.Optional(
    Type.String({
      pattern: timestampPattern,
      description: `\`updateAt\` of the ${thing} as it was read. Refused with ${code} if the ${thing} changed since`,
    }),
  );
}

/** A named string property of a product. */
export const attribute = strictObject({ name: nameText({ max: 40 }), value: text({ max: 200 }) });

/** `:page/:size` of a list: pages count from 1, at most 100 entries each. */
export const pageParams = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  size: Type.Integer({ minimum: 1, maximum: 100 }),
});

/** `?after=` of a list. */
export const listCursor = strictObject({
  after: Type.Optional(
    text({
      min: 1,
      max: 64,
      description: '`nextCursor` of the page before; page 1 then begins behind it',
    }),
  ),
});

const nextCursor = Type.String({
  description: 'What `after` takes for the page behind this one; empty on the last page',
});

/** A page whose `page` and `size` are strings, for product and link lists. */
export function textPage<T extends TProperties>(members: T) {
  return Type.Object({
    total: Type.Integer(),
    page: Type.String(),
    size: Type.String(),
    hasMore: Type.Boolean(),
    nextCursor,
    ...members,
  });
}

/** A page whose `page` and `size` are numbers and that says where the next one begins. */
export function cursorPage<T extends TProperties>(members: T) {
  return numberPage({ nextCursor, ...members });
}

/** A page whose `page` and `size` are numbers. */
export function numberPage<T extends TProperties>(members: T) {
  return Type.Object({
    total: Type.Integer(),
    page: Type.Integer(),
    size: Type.Integer(),
    hasMore: Type.Boolean(),
    ...members,
  });
}

/**
 * Members that an update accepts and ignores: the other fields of its resource's GET, so that read, change, write
 * works.
 */
export function ignored<const Name extends string>(...names: readonly Name[]) {
  const member = Type.Optional(Type.Unknown({ description: 'Taken and ignored.' }));
  return Object.fromEntries(names.map((name) => [name, member])) as Record<Name, typeof member>;
}

/** What the description of an update says first. */
export const replacement =
  'Full replacement: fields left out are reset. `update` of the SDK and of the command line changes only what you name.';

export const successReply = Type.Object({ success: Type.Literal(true) });
