import { configOf } from './config.ts';
import type { SettingForm } from './field.ts';
import { settingTable } from './setting-table.ts';

const address = '0x0000000000000000000000000000000000000001';
const other = '0x0000000000000000000000000000000000000002';
const keyVersion = 'projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1';
const token = { tokenId: 'base::usdc', address, name: 'USD Coin', symbol: 'USDC', decimals: 6 };

/** Files that together have every setting. Local, because some settings are for local worlds alone. */
export const sampleFiles: readonly Readonly<Record<string, unknown>>[] = [
  {
    images: { folder: '/images' },
    signer: {
      orderKey: `0x${'11'.repeat(32)}`,
      settlerKey: `0x${'22'.repeat(32)}`,
      otherSettlers: [{ kind: 'key', number: 2 }],
      settler2Key: `0x${'33'.repeat(32)}`,
    },
  },
  {
    images: {
      s3: {
        endpoint: 'https://s3.example.com',
        region: 'eu',
        bucket: 'images',
        prefix: 'a/',
        accessKeyId: 'A',
      },
    },
    imagesSecretKey: 'secret',
    signer: {
      order: { kind: 'aws_kms', region: 'eu', keyId: 'k', endpoint: 'https://kms.example.com', address },
      settler: { kind: 'web3signer', url: 'https://signer.example.com', address: other },
      otherSettlers: [
        {
          ...{ kind: 'aws_kms', region: 'eu', keyId: 'k', endpoint: 'https://kms.example.com' },
          address: '0x0000000000000000000000000000000000000003',
        },
        {
          kind: 'web3signer',
          url: 'https://signer.example.com',
          address: '0x0000000000000000000000000000000000000004',
        },
        {
          ...{ kind: 'google_kms', keyVersion, endpoint: 'https://cloudkms.example.com' },
          address: '0x0000000000000000000000000000000000000005',
        },
      ],
    },
  },
].map((part) => ({
  environment: 'local',
  origin: 'http://127.0.0.1:4000',
  serviceDomain: 'localhost',
  databaseUrl: 'postgres://florin@127.0.0.1/florin',
  databaseReplicaUrl: 'postgres://florin@127.0.0.2/florin',
  masterKey: '33'.repeat(32),
  displayName: 'Florin',
  fundingUrl: 'https://bridge.example.com',
  walletConnect: { projectId: '0'.repeat(32), script: '/opt/florin-walletconnect.js' },
  attestationUrl: 'https://iris-api.circle.com',
  roles: ['web'],
  http: { trustedProxies: ['127.0.0.1'] },
  monitoring: { backups: '/backups' },
  tracing: { url: 'http://127.0.0.1:4318/v1/traces' },
  smtp: {
    host: 'smtp.example.com',
    from: 'pay@example.com',
    fromName: 'Pay',
    user: 'pay',
    payerMailsPerDay: 5,
  },
  smtpPassword: 'secret',
  gasless: { deposits: { underpaidAmount: 1 } },
  retention: { unpaidSessionsDays: 90, paidSessionsDays: 730, payerEmailDays: 730, payerNetworkDays: 30 },
  settlement: {
    maxBaseFeeGwei: 1,
    reclaimAfterSeconds: 172_800,
    outflow: { perOrderUsd: 1, hourlyUsd: 1, dailyUsd: 1 },
  },
  chains: [
    {
      ...{
        name: 'base',
        chainId: '8453',
        rpcUrls: ['https://base.example.com'],
        gateway: address,
        vault: other,
      },
      ...{ startBlock: '0', wsUrls: ['wss://base.example.com'], finality: { expectedSeconds: 1 } },
      previousGateways: [{ gateway: address, vault: other, cctpRoute: address }],
      cctp: { domain: 6, transmitter: address, messenger: address, route: address, tokenId: 'base::usdc' },
      tokens: [{ ...token, permits: ['eip2612'] }],
    },
  ],
  ...part,
}));

/** Settings of local worlds, which are in no document, and the schema's own name. */
const undocumented = new Set(['$schema', 'demoPayerKey', 'clockOffsetSeconds', 'consoleUrl']);

/** One setting as the readers ask for it. */
export interface KnownSetting {
  readonly form: SettingForm;
  /** Without a fallback, and asked for in every file. */
  readonly isRequired: boolean;
}

/** Every setting that the readers of the configuration ask for, by its path; found by reading files that have all of them. */
export function readSettings(): ReadonlyMap<string, KnownSetting> {
  const known = new Map<string, KnownSetting>();
  for (const sample of sampleFiles) {
    const optional = new Set<string>();
    configOf(sample, {}, 'sample', (path, form) => {
      if (undocumented.has(path)) return;
      if (form.type === 'optional') optional.add(path);
      else {
        const hasFallback = 'fallback' in form && form.fallback !== undefined;
        const isRequired = !hasFallback && !optional.has(path) && form.type !== 'object';
        known.set(path, { form, isRequired: isRequired && known.get(path)?.isRequired !== false });
      }
    });
  }
  return known;
}

type JsonSchema = Record<string, unknown>;

/** The configuration file as a JSON Schema (2020-12), by which editors complete and check it. */
export function settingsSchema(): JsonSchema {
  const meanings = new Map(
    settingTable.flatMap(({ names, covers = [], meaning }) =>
      [...names, ...covers].map((name) => [name.replace(/\[\]$/, ''), meaning] as const),
    ),
  );
  const root = objectSchema();
  root['properties'] = { $schema: { type: 'string' } };
  for (const [path, { form, isRequired }] of readSettings()) {
    const [names, parent] = [path.split('.'), parentOf(root, path)];
    const name = names.at(-1) ?? '';
    const meaning = meanings.get(path);
    const properties = parent['properties'] as Record<string, JsonSchema>;
    properties[name] = {
      ...properties[name],
      ...schemaOf(form),
      ...(meaning === undefined ? {} : { description: plain(meaning) }),
    };
    // Secrets may come from the environment instead.
    if (isRequired && !secrets.test(path)) parent['required'] = [...(parent['required'] as string[]), name];
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The configuration of Florin',
    ...root,
  };
}

const secrets =
  /^(databaseUrl|databaseReplicaUrl|masterKey|smtpPassword|imagesSecretKey)$|^signer\.|^chains\[\]\.cctp\./;

function objectSchema(): JsonSchema {
  return { type: 'object', additionalProperties: false, properties: {}, required: [] };
}

/** The schema of the object that has a setting; made where it is missing. */
function parentOf(root: JsonSchema, path: string): JsonSchema {
  let at = root;
  for (const part of path.split('.').slice(0, -1)) {
    const name = part.replace('[]', '');
    const properties = at['properties'] as Record<string, JsonSchema>;
    const found = properties[name] ?? {};
    properties[name] = found;
    if (part.endsWith('[]')) {
      found['type'] = 'array';
      found['items'] =
        typeof found['items'] === 'object' && 'properties' in (found['items'] as object)
          ? found['items']
          : objectSchema();
      at = found['items'] as JsonSchema;
    } else {
      if (!('properties' in found)) Object.assign(found, objectSchema());
      at = found;
    }
  }
  return at;
}

function schemaOf(form: SettingForm): JsonSchema {
  const fallback = 'fallback' in form && form.fallback !== undefined ? { default: form.fallback } : {};
  switch (form.type) {
    case 'text':
      return { type: 'string', minLength: 1, ...fallback };
    case 'flag':
      return { type: 'boolean', ...fallback };
    case 'integer':
      return { type: 'integer', minimum: form.least, maximum: form.most, ...fallback };
    case 'choice':
      return { enum: [...form.choices], ...fallback };
    case 'list':
      return { type: 'array', minItems: 1 };
    default:
      return { type: 'object' };
  }
}

/** Markdown without links and marks: editors show descriptions as text. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}

/** The table of settings as Markdown. */
export function settingsMarkdown(): string {
  const rows = settingTable.map(({ names, fallback = '', meaning }) => {
    const [first = ''] = names;
    const group = first.slice(0, first.lastIndexOf('.') + 1);
    const shown = names.map((name, place) =>
      place > 0 && group !== '' && name.startsWith(group)
        ? `\`.${name.slice(group.length)}\``
        : `\`${name}\``,
    );
    return `| ${shown.join(', ')} | ${fallback} | ${meaning} |`;
  });
  return ['| setting | default | meaning |', '|---|---|---|', ...rows].join('\n');
}
