import { orderKinds } from '@florin/protocol/order.ts';

type Shape = Readonly<Record<string, unknown>>;

const text = { type: 'string', minLength: 1 };

/** An object with these members and no others, all of them required but the optional ones. */
const closed = (properties: Shape, optional: readonly string[] = []): Shape => ({
  type: 'object',
  ...{ properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) },
  additionalProperties: false,
});

const recordOf = (value: Shape): Shape => ({ type: 'object', minProperties: 1, additionalProperties: value });
const listOf = (items: Shape): Shape => ({ type: 'array', minItems: 1, uniqueItems: true, items });

const shown = (format: string, params?: Shape): Shape =>
  closed({
    ...{ path: text, label: text, format: { const: format }, visible: { enum: ['always', 'optional'] } },
    ...(params === undefined ? {} : { params }),
  });

const field = {
  oneOf: [
    closed({ path: text, label: text, visible: { const: 'never' } }),
    shown('raw'),
    shown('date', closed({ encoding: { const: 'timestamp' } })),
    shown('enum', closed({ $ref: { type: 'string', pattern: '^\\$\\.metadata\\.enums\\.\\w+$' } })),
    shown('tokenAmount', closed({ tokenPath: text })),
    shown(
      'addressName',
      closed({
        types: listOf({ enum: ['wallet', 'eoa', 'contract', 'token'] }),
        sources: { const: ['local', 'ens'] },
      }),
    ),
  ],
};

const deployments = {
  type: 'array',
  items: closed({ chainId: { type: 'integer', minimum: 1 }, address: { type: 'string', format: 'eip55' } }),
};

/**
 * The part of ERC-7730, version 2, that Florin's descriptors use, as a JSON schema (2020-12, with the format `eip55`). It
 * is narrower than the registry's schema: every object is closed, and a field that is shown has a format with all that
 * the format needs.
 */
export const descriptorShape = closed({
  $schema: {
    const:
      'https://raw.githubusercontent.com/ethereum/clear-signing-erc7730-registry/master/specs/erc7730-v2.schema.json',
  },
  context: {
    oneOf: [
      closed({ $id: text, contract: closed({ deployments }) }),
      closed({
        $id: text,
        eip712: closed(
          {
            deployments,
            domain: { ...closed({ name: text, version: text }, ['name', 'version']), minProperties: 1 },
          },
          ['deployments'],
        ),
      }),
    ],
  },
  metadata: closed({ owner: text, contractName: text, enums: recordOf(recordOf(text)) }, [
    'contractName',
    'enums',
  ]),
  display: closed({
    formats: recordOf(
      closed({ intent: text, interpolatedIntent: text, fields: { type: 'array', items: field } }, [
        'interpolatedIntent',
      ]),
    ),
  }),
});

/** The Solidity types that a format can show. */
export const typesOfFormat: Readonly<Record<string, RegExp>> = {
  raw: /./,
  date: /^uint(64|256)$/,
  enum: /^(uint8|bool)$/,
  tokenAmount: /^uint(112|256)$/,
  addressName: /^address(\[\])?$/,
};

/** What an enumeration of a type has to name. */
export const valuesOfType: Readonly<Record<string, readonly string[]>> = {
  bool: ['false', 'true'],
  uint8: Object.values(orderKinds).map(String).toSorted(),
};
