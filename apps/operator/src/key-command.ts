import { CommandError, mandatory, type Options, optional, repeatable, table, UsageError } from '@florin/cli';
import type { Transaction } from '@florin/pg';
import { formatUsd, type MicroUsd, parseUsd } from '@florin/protocol/money.ts';
import { type Permission, permissionPresets, permissions } from '@florin/protocol/permission.ts';
import {
  type ApiKeyRequest,
  type ApiKeySummary,
  createApiKey,
  listApiKeys,
  revokeApiKey,
} from '@florin/server/operator';
import {
  type CommandContext,
  type Commands,
  merchantOption,
  requiredMerchant,
  withDatabase,
} from './command.ts';
import { recordCommand } from './member-command.ts';

const presets = Object.keys(permissionPresets) as (keyof typeof permissionPresets)[];
const keyKinds = ['secret', 'restricted'] as const;

export const keyCommands: Commands = {
  'key create': {
    does: 'creates an API key and shows it once',
    examples: [
      'key create --merchant mer_… --kind secret',
      'key create --merchant mer_… --kind restricted --preset read_only --expires 2031-01-01T00:00:00Z',
    ],
    options: [
      merchantOption,
      mandatory('--kind <kind>', 'the kind of the key').choices(keyKinds),
      optional('--name <name>', 'what the key is for, at most 60 characters'),
      optional('--preset <preset>', 'the permissions of a restricted key').choices(presets),
      repeatable('--permission <name>', 'a permission of a restricted key; excludes --preset'),
      optional('--expires <time>', 'such as 2030-01-31T00:00:00Z'),
      repeatable('--ip <address>', 'an address or CIDR range that may use the key'),
      repeatable('--origin <origin>', 'a web origin that may use the key, such as https://shop.example.com'),
      optional('--max-session <dollars>', 'the largest amount of one session'),
      optional('--max-day <dollars>', 'the largest total of the sessions of a day'),
    ],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const request = keyRequestOf(options, outside);
      const { merchantId } = await requiredMerchant(db, options);
      const { keyId, key, may } = await db.transaction(async (transaction) => {
        const made = await createApiKey(transaction, outside, { ...request, merchantId });
        const created = await findKey(transaction, merchantId, made.keyId);
        const act = { action: 'createApiKey', subject: made.keyId, after: written(created) };
        await recordCommand(transaction, outside, config, { merchantId, act });
        return {
          ...made,
          may: created?.kind === 'secret' ? 'every permission' : created?.permissions.join(', '),
        };
      });
      return {
        text: `created key ${keyId} with ${may}; store it now, because it is not shown again:\n${key}`,
        json: { keyId, key },
      };
    }),
  },
  'key list': {
    does: "lists a merchant's API keys, never the keys themselves",
    examples: ['key list --merchant mer_…'],
    options: [merchantOption],
    run: withDatabase(async ({ options, db, outside }) => {
      const { merchantId } = await requiredMerchant(db, options);
      const keys = await listApiKeys(db, merchantId);
      const now = outside.clock.now();
      const rows = keys.map((key) => keyRow(key, now));
      return {
        text: table(
          ['KEY', 'KIND', 'NAME', 'ENDS IN', 'STATUS', 'EXPIRES', 'LAST USED', 'PERMISSIONS', 'LIMITS'],
          rows,
        ),
        json: keys,
      };
    }),
  },
  'key revoke': {
    does: 'revokes an API key immediately and permanently',
    examples: ['key revoke --key key_…'],
    options: [mandatory('--key <id>', 'the id of the key')],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const keyId = options.required('key');
      await db.transaction(async (transaction) => {
        const merchantId = await revokeApiKey(transaction, keyId, outside.clock.now());
        if (merchantId === undefined)
          throw new CommandError(`there is no key ${keyId}: florin key list shows the keys of a merchant`);
        const after = written(await findKey(transaction, merchantId, keyId));
        const act = { action: 'disableApiKey', subject: keyId, after };
        await recordCommand(transaction, outside, config, { merchantId, act });
      });
      return { text: `revoked key ${keyId}`, json: { keyId, revoked: true } };
    }),
  },
};

async function findKey(transaction: Transaction, merchantId: string, keyId: string) {
  return (await listApiKeys(transaction, merchantId)).find((key) => key.keyId === keyId);
}

/** A key as the audit log has it. */
function written(key: ApiKeySummary | undefined): string {
  return JSON.stringify(key, (_name, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
}

const maxNameLength = 60;

function keyRequestOf(options: Options, outside: CommandContext): Omit<ApiKeyRequest, 'merchantId'> {
  const kind = options.choice('kind', keyKinds);
  const preset = options.choice('preset', presets);
  const granted = options.all('permission').map(permissionOf);
  if (kind === undefined) throw new UsageError('--kind is missing');
  if (kind === 'secret' && (preset !== undefined || granted.length > 0)) {
    throw new UsageError(
      '--preset and --permission are for restricted keys: a secret key holds every permission',
    );
  }
  if (preset !== undefined && granted.length > 0) {
    throw new UsageError(
      '--preset and --permission exclude each other: list every permission, or name a preset',
    );
  }
  if (kind === 'restricted' && preset === undefined && granted.length === 0) {
    throw new UsageError(
      `--kind is restricted without permissions: give --preset ${presets.join(', ')}, or each --permission`,
    );
  }
  const name = options.optional('name') ?? '';
  if (name.length > maxNameLength)
    throw new UsageError(`--name has ${name.length} characters: give at most ${maxNameLength}`);
  const expiresAt = expiryOf(options, outside);
  const maxSessionAmount = amountOf(options, 'max-session');
  const maxDayAmount = amountOf(options, 'max-day');
  return {
    kind,
    name,
    ipAllowList: options.all('ip'),
    origins: options.all('origin'),
    ...(preset === undefined ? {} : { preset }),
    ...(granted.length === 0 ? {} : { permissions: [...new Set(granted)] }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(maxSessionAmount === undefined ? {} : { maxSessionAmount }),
    ...(maxDayAmount === undefined ? {} : { maxDayAmount }),
  };
}

function permissionOf(name: string): Permission {
  const found = permissions.find((permission) => permission === name);
  if (found !== undefined) return found;
  throw new UsageError(`--permission is ${name}: the permissions are ${permissions.join(', ')}`);
}

function amountOf(options: Options, name: string): MicroUsd | undefined {
  const text = options.optional(name);
  if (text === undefined) return undefined;
  const amount = parseUsd(text);
  if (amount === undefined || amount === 0n)
    throw new UsageError(`--${name} is ${text}: give US dollars such as 4.50`);
  return amount;
}

function expiryOf(options: Options, outside: CommandContext): Date | undefined {
  const text = options.optional('expires');
  if (text === undefined) return undefined;
  const expiresAt = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(expiresAt.getTime())) {
    throw new UsageError(`--expires is ${text}: give a time such as 2030-01-31T00:00:00Z`);
  }
  if (expiresAt <= outside.clock.now())
    throw new UsageError(`--expires is ${text}: give a time in the future`);
  return expiresAt;
}

function keyRow(key: ApiKeySummary, now: Date): string[] {
  const isExpired = key.expiresAt !== undefined && key.expiresAt <= now;
  const status = key.revokedAt !== undefined ? 'revoked' : isExpired ? 'expired' : 'active';
  const { maxSessionAmount, maxDayAmount } = key;
  const limits = [
    ...key.ipAllowList.map((network) => `ip ${network}`),
    ...key.origins.map((origin) => `origin ${origin}`),
    ...(maxSessionAmount === undefined ? [] : [`session $${formatUsd(maxSessionAmount)}`]),
    ...(maxDayAmount === undefined ? [] : [`day $${formatUsd(maxDayAmount)}`]),
  ];
  return [
    key.keyId,
    key.kind,
    key.name,
    `…${key.last4}`,
    status,
    key.expiresAt?.toISOString() ?? 'never',
    key.lastUsedAt?.toISOString() ?? 'never',
    key.kind === 'secret' ? 'all' : key.permissions.join(','),
    limits.length === 0 ? 'none' : limits.join(', '),
  ];
}
