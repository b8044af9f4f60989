import { permissionPresets } from '@florin/protocol/permission.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '@florin/server/src/merchants/api-key.ts';
import {
  type Command,
  type Options,
  type Outside,
  requiredMerchant,
  table,
  withDatabase,
} from './command.ts';
import { CommandError, UsageError } from './command-error.ts';

const presets = Object.keys(permissionPresets) as (keyof typeof permissionPresets)[];

export const createKeyCommand: Command = {
  usage: `--merchant ID --kind secret|restricted [--preset ${presets.join('|')}] [--expires 2030-01-31T00:00:00Z]`,
  does: 'creates an API key and shows it, this once',
  options: ['merchant', 'kind', 'preset', 'expires'],
  run: (options, outside) =>
    withDatabase(outside, async (db) => {
      const kind = options.choice('kind', ['secret', 'restricted']);
      const preset = options.choice('preset', presets);
      const expiresAt = expiryOf(options, outside);
      if (kind === undefined) throw new UsageError('--kind is missing');
      if (kind === 'secret' && preset !== undefined) {
        throw new UsageError('--preset is for restricted keys: a secret key holds every permission');
      }
      const { merchantId } = await requiredMerchant(db, options);
      const request = {
        merchantId,
        kind,
        ...(preset === undefined ? {} : { preset }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      };
      const { keyId, key } = await db.transaction((transaction) =>
        createApiKey(transaction, outside, request),
      );
      return {
        text: `created key ${keyId}; keep it now, it is never shown again:\n${key}`,
        json: { keyId, key },
      };
    }),
};

function expiryOf(options: Options, outside: Outside): Date | undefined {
  const text = options.optional('expires');
  if (text === undefined) return undefined;
  const expiresAt = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(expiresAt.getTime())) {
    throw new UsageError(`--expires is ${text}: give a time such as 2030-01-31T00:00:00Z`);
  }
  if (expiresAt <= outside.clock.now()) throw new UsageError(`--expires is ${text}: it must lie ahead`);
  return expiresAt;
}

export const listKeysCommand: Command = {
  usage: '--merchant ID',
  does: "lists a merchant's API keys, never the keys themselves",
  options: ['merchant'],
  run: (options, outside) =>
    withDatabase(outside, async (db) => {
      const { merchantId } = await requiredMerchant(db, options);
      const keys = await listApiKeys(db, merchantId);
      const now = outside.clock.now();
      const rows = keys.map((key) => {
        const isExpired = key.expiresAt !== undefined && key.expiresAt <= now;
        const status = key.revokedAt !== undefined ? 'revoked' : isExpired ? 'expired' : 'active';
        const until = key.expiresAt?.toISOString() ?? 'never';
        const granted = key.kind === 'secret' ? 'all' : key.permissions.join(',');
        return [key.keyId, key.kind, `…${key.last4}`, status, until, granted];
      });
      return {
        text: table(['KEY', 'KIND', 'ENDS IN', 'STATUS', 'EXPIRES', 'PERMISSIONS'], rows),
        json: keys,
      };
    }),
};

export const revokeKeyCommand: Command = {
  usage: '--key ID',
  does: 'revokes an API key at once and for ever',
  options: ['key'],
  run: (options, outside) =>
    withDatabase(outside, async (db) => {
      const keyId = options.required('key');
      const isKnown = await db.transaction((transaction) =>
        revokeApiKey(transaction, keyId, outside.clock.now()),
      );
      if (!isKnown) throw new CommandError(`there is no key ${keyId}: florin key list shows a merchant's`);
      return { text: `revoked key ${keyId}`, json: { keyId, revoked: true } };
    }),
};
