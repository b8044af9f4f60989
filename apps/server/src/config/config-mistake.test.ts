import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  bucket,
  changed,
  completeFile,
  configFiles,
  gateway,
  type Json,
  masterKey,
  orderKey,
  settlerKey,
  usdc,
} from '../../test/harness/config-files.ts';
import type { Environment } from './setting.ts';

const { read, mistakeIn, close } = await configFiles();
after(close);

const smtp = { host: 'smtp.example.com', from: 'pay@example.com' };
const wrongSender = (from: string) =>
  `smtp.from is ${from}: give an e-mail address in lower case, such as pay@example.com`;

type Mistake = readonly [change: (file: Json) => void, sentence: string];
const mistakes: readonly Mistake[] = [
  [(file) => (file.colour = 1), 'colour is not a known setting: remove it'],
  [(file) => (file.http.prot = 1), 'http.prot is not a known setting: remove it'],
  [(file) => (file.chains[0].color = 1), 'chains[0].color is not a known setting: remove it'],
  [
    (file) => (file.chains[0].tokens[0].permit = 1),
    'chains[0].tokens[0].permit is not a known setting: remove it',
  ],
  [(file) => (file.fees = { sameToken: 1 }), 'fees.sameToken is not a known setting: remove it'],
  [(file) => (file.signer.key = 1), 'signer.key is not a known setting: remove it'],
  [(file) => delete file.origin, 'origin is missing: add it to the file'],
  [
    (file) => (file.origin = 'http://x.example/'),
    'origin is http://x.example/: give scheme, host and port only, such as https://pay.example.com',
  ],
  [
    (file) => (file.serviceDomain = 'Example.com'),
    'serviceDomain is Example.com: give a lower-case domain name such as example.com',
  ],
  [(file) => (file.environment = 'test'), 'environment must be one of local, production'],
  [(file) => (file.http.port = 65_536), 'http.port must be an integer from 0 to 65535'],
  [(file) => (file.roles = ['api']), 'roles names api: the roles are web, watcher, worker'],
  [(file) => delete file.databaseUrl, 'databaseUrl is missing: set DATABASE_URL, or databaseUrl in the file'],
  [(file) => (file.databaseUrl = 'mysql://x'), 'databaseUrl must be a postgres:// URL'],
  ...[
    'postgres://u:p@one,two/florin',
    'postgres://u@/florin?host=a,b',
    'postgres://one/x?target_session_attrs=any',
  ].map(
    (url): Mistake => [
      (file) => (file.databaseUrl = url),
      'databaseUrl names several hosts or target_session_attrs: give one address that leads to the primary, such as that of HAProxy (section 4 of the runbook production.md)',
    ],
  ),
  [(file) => (file.databaseWaitSeconds = 61), 'databaseWaitSeconds must be an integer from 0 to 60'],
  [
    (file) => (file.databaseReplicaUrl = 'postgres://admin@10.0.0.2/florin'),
    'databaseReplicaUrl must name the role and the database of databaseUrl',
  ],
  [
    (file) => (file.databaseReplicaMaxLagSeconds = 0),
    'databaseReplicaMaxLagSeconds must be an integer from 1 to 60',
  ],
  [(file) => (file.chains = []), 'chains must be a list with at least one entry'],
  [(file) => file.chains.push(file.chains[0]), 'chains has chain id 8453 twice: list each chain once'],
  [
    (file) => (file.chains[0].name = 'Base'),
    'chains[0].name is Base: use lower-case letters, digits and hyphens',
  ],
  [(file) => (file.chains[0].chainId = '0x2105'), 'chains[0].chainId must be a number written in digits'],
  [(file) => (file.chains[0].chainId = 8453), 'chains[0].chainId must be a string'],
  [(file) => (file.chains[0].rpcUrls = ['ws://x']), 'chains[0].rpcUrls[0] must be an http or https URL'],
  [
    (file) => (file.chains[0].gateway = gateway.replace('FbDB', 'fbDB')),
    'chains[0].gateway must be an EVM address with its checksum',
  ],
  [
    (file) => delete (file.chains[0] as { gateway?: string }).gateway,
    'chains[0].gateway is missing: make the contracts with florin deploy, then run florin init again',
  ],
  [(file) => (file.chains[0].wsUrls = ['http://x']), 'chains[0].wsUrls[0] must be a ws or wss URL'],
  [(file) => (file.chains[0].wsUrls = ['wss://x/#y']), 'chains[0].wsUrls[0] must have no #fragment'],
  [(file) => (file.chains[0].proofs = 'none'), 'chains[0].proofs must be one of required, quorum'],
  [
    (file) => (file.chains[0].finality = { tag: 'final' }),
    'chains[0].finality.tag must be one of finalized, safe, latest',
  ],
  [
    (file) => (file.chains[0].pollIntervalMs = 1),
    'chains[0].pollIntervalMs must be an integer from 50 to 60000',
  ],
  [
    (file) => (file.chains[0].tokens[0].decimals = 4),
    'chains[0].tokens[0].decimals is 4: a token needs 6 to 18 decimals',
  ],
  [
    (file) => (file.chains[0].tokens[0].tokenId = 'ethereum::usdc'),
    'chains[0].tokens[0].tokenId is ethereum::usdc: it must be base:: and a lower-case symbol',
  ],
  [
    (file) => file.chains[0].tokens.push({ ...file.chains[0].tokens[0], tokenId: 'base::usdt' }),
    `chains[0].tokens[1].tokenId: ${usdc} is listed twice`,
  ],
  [(file) => (file.fees = { crossChainPpm: -1 }), 'fees.crossChainPpm must be an integer from 0 to 500000'],
  [(file) => (file.settlement = { mode: 'instant' }), 'settlement.mode must be one of escrow, direct'],
  [(file) => (file.settlement = { batchSize: 51 }), 'settlement.batchSize must be an integer from 1 to 50'],
  [
    (file) => (file.signer.orderKey = '0x12'),
    'signer.orderKey must be a private key: 0x and 64 hexadecimal digits',
  ],
  [
    (file) => (file.signer.orderKey = `0x${'00'.repeat(32)}`),
    'signer.orderKey must be a private key: 0x and 64 hexadecimal digits',
  ],
  [
    (file) => delete file.signer.settlerKey,
    'signer.settlerKey is missing: set FLORIN_SETTLER_KEY, or FLORIN_SETTLER_KEYSTORE with its password',
  ],
  [
    (file) => (file.signer.settlerKey = orderKey.toUpperCase().replace('0X', '0x')),
    'signer.settlerKey is the same as signer.orderKey: give each role its own key',
  ],
  [
    (file) => (file.masterKey = 'abc'),
    'masterKey must be 64 hexadecimal digits, or several such keys separated by commas, newest first',
  ],
  [(file) => (file.webhooks = { allowLoopback: 'yes' }), 'webhooks.allowLoopback must be true or false'],
  [(file) => (file.images = { folder: 'images' }), 'images.folder is images: give an absolute path'],
  [
    (file) => (file.images = { folder: '/var/images', s3: bucket }),
    'images has folder and s3: keep one of them',
  ],
  [(file) => (file.images = { path: '/var/images' }), 'images.path is not a known setting: remove it'],
  [
    (file) => (file.images = { s3: { ...bucket, endpoint: 'https://s3.example.com/bucket' } }),
    'images.s3.endpoint is https://s3.example.com/bucket: give scheme, host and port only, such as https://s3.example.com',
  ],
  [
    (file) => (file.images = { s3: { ...bucket, bucket: '../x' } }),
    'images.s3.bucket is ../x: a bucket has 3 to 63 lower-case letters, digits, . and -',
  ],
  [
    (file) => (file.images = { s3: { ...bucket, prefix: '/shop' } }),
    'images.s3.prefix is /shop: write names that each end in a slash, such as florin/',
  ],
  [
    (file) => (file.images = { s3: bucket }),
    'imagesSecretKey is missing: set FLORIN_IMAGES_SECRET_KEY, or imagesSecretKey in the file',
  ],
  [(file) => (file.smtp = { from: 'pay@example.com' }), 'smtp.host is missing: add it to the file'],
  [
    (file) => (file.smtp = { ...smtp, from: 'Shop <pay@example.com>' }),
    wrongSender('Shop <pay@example.com>'),
  ],
  [
    (file) => (file.smtp = { ...smtp, from: 'a@b.example\r\nBcc: c@d.example' }),
    wrongSender('a@b.example\r\nBcc: c@d.example'),
  ],
  [
    (file) => (file.smtp = { ...smtp, host: 'smtp.example.com:25\r\n' }),
    'smtp.host is smtp.example.com:25\r\n: give a host name such as smtp.example.com',
  ],
  [
    (file) => (file.smtp = { ...smtp, fromName: 'Shop\r\nBcc: c@d.example' }),
    'smtp.fromName must be one line of at most 100 visible characters',
  ],
  [(file) => (file.smtp = { ...smtp, security: 'ssl' }), 'smtp.security must be one of starttls, tls, none'],
  [(file) => (file.smtp = { ...smtp, pool: true }), 'smtp.pool is not a known setting: remove it'],
  [
    (file) => (file.smtp = { ...smtp, user: 'florin' }),
    'smtpPassword is missing: set FLORIN_SMTP_PASSWORD, or smtpPassword in the file',
  ],
];

test('every mistake is one sentence that says what to change', async () => {
  for (const [change, sentence] of mistakes) assert.equal(await mistakeIn(changed(change)), sentence);
});

test('mistakes in the environment are reported in one sentence too', async () => {
  const cases: readonly [environment: Environment, sentence: string][] = [
    [{ FLORIN_CONFIG: '' }, 'FLORIN_CONFIG is not set: give the path of the configuration file'],
    [{ FLORIN_PORT: '80a' }, 'FLORIN_PORT is 80a: give a port from 0 to 65535'],
    [{ FLORIN_LOG_REQUESTS: '2' }, 'FLORIN_LOG_REQUESTS is 2: give a share from 0 to 1, such as 0.01'],
    [{ FLORIN_MONITORING_PORT: '70000' }, 'FLORIN_MONITORING_PORT is 70000: give a port from 0 to 65535'],
    [{ FLORIN_ROLES: 'web,,worker' }, 'roles names : the roles are web, watcher, worker'],
    [{ FLORIN_RATE_LIMITS: 'none' }, 'FLORIN_RATE_LIMITS is none: write on or off'],
    [
      { FLORIN_LOG_LEVEL: 'loud' },
      'FLORIN_LOG_LEVEL is loud: the levels are debug, info, warn, error, silent',
    ],
    [
      { FLORIN_MASTER_KEY: masterKey, FLORIN_MASTER_KEY_FILE: '/x' },
      'FLORIN_MASTER_KEY and FLORIN_MASTER_KEY_FILE are both set: keep one of them',
    ],
    [
      { FLORIN_ORDER_SIGNER_KEYSTORE: '/x' },
      'FLORIN_ORDER_SIGNER_KEYSTORE is set without FLORIN_ORDER_SIGNER_PASSWORD',
    ],
  ];
  for (const [environment, sentence] of cases) {
    assert.equal(await mistakeIn(completeFile(), environment), sentence);
  }
});

test('a file that is not JSON is reported without quoting it', async () => {
  const sentence = await mistakeIn(`{"masterKey": "${masterKey}" "x"}`);
  assert.equal(sentence, 'FILE is not JSON: correct it (check line 1 column 82)');
  assert.equal((await mistakeIn(`{"masterKey": ${masterKey}z}`)).includes('333'), false);
});

function productionFile(): Json {
  return { ...completeFile(), environment: 'production', origin: 'https://pay.example.com' };
}

test('production refuses settings that only a local world may have', async () => {
  const production = productionFile();
  assert.equal(await mistakeIn(production), 'accepted');
  assert.equal(
    await mistakeIn({ ...production, origin: 'http://pay.example.com' }),
    'origin is http://pay.example.com: production needs https',
  );
  assert.equal(
    await mistakeIn({ ...production, smtp: { ...smtp, security: 'none' } }),
    'smtp.security is none: production needs starttls or tls',
  );
  assert.equal(
    await mistakeIn({ ...production, webhooks: { allowLoopback: true } }),
    'webhooks.allowLoopback is true: remove it, because production must not call its own machine',
  );
  assert.equal(
    await mistakeIn({ ...production, images: { folder: '/var/images', allowLoopback: true } }),
    'images.allowLoopback is true: remove it, because production must not call its own machine',
  );
  assert.equal(
    await mistakeIn({ ...production, images: { s3: bucket } }),
    'images.s3.endpoint is http://127.0.0.1:9000: production needs https',
  );
  assert.equal(
    await mistakeIn({ ...production, demoPayerKey: orderKey }),
    'demoPayerKey is only for the environment local: remove it',
  );
  assert.equal(
    await mistakeIn({ ...production, clockOffsetSeconds: 0 }),
    'clockOffsetSeconds is only for the environment local: remove it',
  );
  assert.equal(
    await mistakeIn({ ...production, displayName: 'Pay\nhere' }),
    'displayName must be one line of 1 to 60 visible characters, without spaces around it',
  );
  assert.equal(
    await mistakeIn({ ...production, consoleUrl: 'http://127.0.0.1:4001' }),
    'consoleUrl is only for the environment local: remove it',
  );
  assert.equal(
    await mistakeIn({ ...production, fundingUrl: 'http://bridge.example' }),
    'fundingUrl is http://bridge.example: give an https URL',
  );
  for (const [walletConnect, sentence] of [
    [
      { projectId: 'mine' },
      'walletConnect.projectId is mine: give the 32 hexadecimal digits of your project',
    ],
    [{ projectId: '4f'.repeat(16) }, 'walletConnect.script is missing: add it to the file'],
    [{ projectId: '4f'.repeat(16), script: 'wc.js' }, 'walletConnect.script is wc.js: give an absolute path'],
  ] as const)
    assert.equal(await mistakeIn({ ...production, walletConnect }), sentence);
});

test('production refuses secrets in a file that others can read', async () => {
  const production = productionFile();
  for (const mode of [0o640, 0o604, 0o644]) {
    assert.equal(
      await mistakeIn(production, {}, mode),
      'FILE holds databaseUrl and can be read by others: chmod 600 it, or use the environment',
    );
  }
  const { databaseUrl: _, signer: __, masterKey: ___, ...withoutSecrets } = production;
  const environment = {
    DATABASE_URL: 'postgres://127.0.0.1/florin',
    FLORIN_ORDER_SIGNER_KEY: orderKey,
    FLORIN_SETTLER_KEY: settlerKey,
    FLORIN_MASTER_KEY: masterKey,
  };
  assert.equal(await mistakeIn(withoutSecrets, environment, 0o644), 'accepted');
});

test('a configuration without an environment counts as production', async () => {
  const { environment: _, ...file } = productionFile();
  assert.equal((await read(file)).environment, 'production');
});
