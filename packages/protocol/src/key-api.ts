import Type from 'typebox';
import { permissions } from './permission.ts';
import { route } from './route.ts';
import { idText, nameText, strictObject, text } from './schema.ts';

/** A secret key may do everything, a restricted one what its permissions say. */
export const keyKind = Type.Union([Type.Literal('secret'), Type.Literal('restricted')]);
const amount = Type.Integer({ minimum: 1, maximum: 9_000_000_000_000_000, description: 'Micro-USD' });

const keyName = nameText({ min: 0, max: 60, description: 'What the key is for; empty: no name' });

const write = { method: 'POST', tag: 'API keys', permissions: ['keys:write'], effect: 'update' } as const;

/** API keys, which only members make and disable. */
export const keyRoutes = {
  listApiKeys: route({
    method: 'GET',
    path: '/key/list',
    summary: 'List the API keys',
    tag: 'API keys',
    reply: Type.Object({
      keys: Type.Array(
        Type.Object({
          keyId: Type.String(),
          kind: keyKind,
          name: Type.String({ description: 'What the key is for; empty without a name' }),
          last4: Type.String(),
          createdBy: Type.String({ description: 'The id of the member who made it; empty: the operator' }),
          permissions: Type.Array(Type.String()),
          ipAllowList: Type.Array(Type.String()),
          origins: Type.Array(Type.String()),
          maxSessionAmount: Type.Union([Type.Integer(), Type.Null()]),
          maxDayAmount: Type.Union([Type.Integer(), Type.Null()]),
          createAt: Type.String(),
          expiresAt: Type.String({ description: 'Empty: never' }),
          lastUsedAt: Type.String({ description: 'Empty: never; at most a minute behind' }),
          revokedAt: Type.String({ description: 'Empty: in use' }),
        }),
      ),
    }),
    permissions: ['keys:read'],
    effect: 'query',
  }),
  createApiKey: route({
    ...write,
    path: '/key/create',
    summary: 'Create an API key',
    description: 'The key is shown this once. It has no permission that the member’s role lacks.',
    body: strictObject({
      kind: keyKind,
      name: Type.Optional(keyName),
      permissions: Type.Optional(Type.Array(Type.Enum(permissions))),
      expiresAt: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 9_999_999_999, description: 'Unix seconds' }),
      ),
      ipAllowList: Type.Optional(Type.Array(text({ max: 64 }))),
      origins: Type.Optional(Type.Array(text({ max: 300 }))),
      maxSessionAmount: Type.Optional(amount),
      maxDayAmount: Type.Optional(amount),
    }),
    reply: Type.Object({ keyId: Type.String(), key: Type.String() }),
    effect: 'create',
    errors: ['field_invalid', 'role_forbidden'],
  }),
  renameApiKey: route({
    ...write,
    path: '/key/rename',
    summary: 'Give an API key another name',
    body: strictObject({ keyId: idText, name: keyName }),
    errors: ['api_key_not_found', 'field_invalid'],
  }),
  disableApiKey: route({
    ...write,
    path: '/key/disable',
    summary: 'Disable an API key for good',
    body: strictObject({ keyId: idText }),
    errors: ['api_key_not_found'],
  }),
} as const;
