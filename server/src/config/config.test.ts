import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { defaultRateLimits } from '#http/rate-limit.ts';
import { encryptKeystore } from '#outside/keystore.ts';
import { systemRandom } from '#outside/random.ts';
import { Secret } from '#outside/secret.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import type { Environment } from './field.ts';
import type { ConfiguredKey } from './signer.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-config-test-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const orderKey = `0x${'11'.repeat(32)}` as const;
const settlerKey = `0x${'22'.repeat(32)}` as const;
const masterKey = '33'.repeat(32);
const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const gateway = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const vault = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';

const bucket = {
  endpoint: 'http://127.0.0.1:9000',
  region: 'eu-central-1',
  bucket: 'florin-images',
  accessKeyId: 'AKIDEXAMPLE',
};

// biome-ignore lint/suspicious/noExplicitAny: mistakes of every type are put in
type Json = any;

function completeFile(): Json {
  return {
    environment: 'local',
    origin: 'http://127.0.0.1:4000',
    serviceDomain: 'localhost',
    http: { host: '127.0.0.1', port: 4000 },
    databaseUrl: 'postgres://florin@127.0.0.1/florin',
    chains: [
      {
        name: 'base',
        chainId: '8453',
        rpcUrls: ['https://base.example.com/secret-path'],
        gateway,
        vault: vault.toLowerCase(),
        startBlock: '0',
        tokens: [{ tokenId: 'base::usdc', address: usdc, symbol: 'USDC', name: 'USD Coin', decimals: 6 }],
      },
    ],
    signer: { orderKey, settlerKey },
    masterKey,
  };
}

function revealed(key: ConfiguredKey): string {
  assert.ok(key instanceof Secret);
  return key.reveal();
}

let count = 0;
async function written(content: unknown, mode = 0o600): Promise<string> {
  count += 1;
  const path = join(folder, `${count}.json`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  await chmod(path, mode);
  return path;
}

async function read(file: unknown, environment: Environment = {}, mode = 0o600): Promise<Config> {
  return readConfig({ FLORIN_CONFIG: await written(file, mode), ...environment });
}

async function mistakeIn(file: unknown, environment: Environment = {}, mode = 0o600): Promise<string> {
  const path = await written(file, mode);
  try {
    readConfig({ FLORIN_CONFIG: path, ...environment });
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message.replaceAll(path, 'FILE');
  }
  return 'accepted';
}

function changed(change: (file: Json) => void): Json {
  const file = completeFile();
  change(file);
  return file;
}

test('what the file leaves out has documented defaults', async () => {
  const config = await read(completeFile());
  const [chain] = config.chains.all;
  assert.deepEqual(
    {
      ...config,
      chains: chain,
      databaseUrl: '',
      orderKey: '',
      settlerKey: '',
      otherSettlerKeys: [],
      masterKeys: [],
    },
    {
      environment: 'local',
      origin: 'http://127.0.0.1:4000',
      serviceDomain: 'localhost',
      http: { host: '127.0.0.1', port: 4000, trustedProxies: [] },
      databaseUrl: '',
      roles: new Set(['web', 'watcher', 'worker']),
      chains: {
        name: 'base',
        chainId: 8453,
        rpcUrls: ['https://base.example.com/secret-path'],
        gateway,
        vault,
        startBlock: 0n,
        finality: { tag: 'finalized', depth: 0, quorum: 1 },
        proofs: 'required',
        pollIntervalMs: 1000,
        tokens: [
          {
            tokenId: 'base::usdc',
            chainName: 'base',
            chainId: 8453,
            address: usdc,
            name: 'USD Coin',
            symbol: 'USDC',
            decimals: 6,
          },
        ],
      },
      fees: { sameToken: 2000, sameChain: 3000, crossChain: 6000 },
      orderKey: '',
      settlerKey: '',
      otherSettlerKeys: [],
      masterKeys: [],
      webhooks: { allowLoopback: false, pauseAfterFailures: 10, pauseAfterHours: 72 },
      gasless: {
        minAmount: 1_000_000n,
        budgets: { perPayer: 3_000_000, perLink: 100_000_000, perNetwork: 20_000_000 },
        depositBudgets: { collections: 1_000_000_000, returns: 20_000_000 },
        relayer: 'orderSigner',
        depositWindowMs: 2_000,
        balanceWindowMs: 10_000,
        deposits: {
          underpaidPpm: 0,
          underpaidAmount: undefined,
          latePayment: 'return',
          lateHours: 24,
          ...{ addedAboveFee: 0n, addedPerDay: 100_000_000n },
        },
        x402WaitMs: 20_000,
      },
      images: { allowLoopback: false, store: undefined },
      settlement: {
        ...{ mode: 'escrow', batchSize: 50 },
        ...{ windowMs: 2000, windowSeconds: 0 },
        notMinedAfterSeconds: 600,
        reclaimAfterSeconds: 604_800,
        maxFeePerGasGwei: 500,
      },
      attestationUrl: undefined,
      maxOpenSessions: 20,
      rateLimits: defaultRateLimits,
      demoPayerKey: undefined,
      logLevel: 'info',
    },
  );
  assert.equal(revealed(config.orderKey), orderKey);
  assert.ok(Object.isFrozen(config) && Object.isFrozen(config.fees));
});

test('two providers must agree where there are two, and two addresses of one host are one provider', async () => {
  const quorumOf = async (hosts: readonly string[], finality: object = {}) => {
    const rpcUrls = hosts.map((host, index) => `https://${host}/${index}`);
    const config = await read(changed((file) => Object.assign(file.chains[0], { rpcUrls, finality })));
    return config.chains.all[0]?.finality.quorum;
  };
  assert.deepEqual(
    [
      await quorumOf(['a.com']),
      await quorumOf(['a.com', 'a.com']),
      await quorumOf(['a.com', 'b.com', 'c.com']),
    ],
    [1, 1, 2],
  );
  assert.equal(await quorumOf(['a.com', 'b.com'], { quorum: 1 }), 1);
  assert.equal(
    await mistakeIn(changed((file) => Object.assign(file.chains[0], { finality: { quorum: 2 } }))),
    'chains[0].finality.quorum is 2, and rpcUrls has 1 different hosts: add nodes of other providers',
  );
});

test('a chain says when its blocks are final, and how long that usually takes', async () => {
  const finality = { tag: 'safe', depth: 3, quorum: 1, expectedSeconds: 700 };
  const withFinality = (given: object) =>
    changed((file) => Object.assign(file.chains[0], { finality: given }));
  assert.deepEqual((await read(withFinality(finality))).chains.all[0]?.finality, finality);
  assert.match(
    await mistakeIn(withFinality({ ...finality, expectedSeconds: 0 })),
    /^chains\[0\]\.finality\.expectedSeconds /,
  );
});

test('a configuration cannot be printed by accident', async () => {
  const config = await read(completeFile());
  assert.throws(() => JSON.stringify(config), /a secret was about to be written out/);
});

test('the environment wins over the file, and an empty variable counts as unset', async () => {
  const config = await read(completeFile(), {
    DATABASE_URL: 'postgresql://db.example.com/florin',
    FLORIN_HOST: '0.0.0.0',
    FLORIN_PORT: '8080',
    FLORIN_ROLES: 'web, watcher',
    FLORIN_ORDER_SIGNER_KEY: `0x${'44'.repeat(32)}`,
    FLORIN_SETTLER_KEY: '',
    FLORIN_MASTER_KEY: `${'55'.repeat(32)},${masterKey}`,
    FLORIN_RATE_LIMITS: 'off',
    FLORIN_LOG_LEVEL: 'warn',
  });
  const told = {
    databaseUrl: config.databaseUrl.reveal(),
    http: config.http,
    roles: [...config.roles],
    keys: [revealed(config.orderKey), revealed(config.settlerKey)],
    masterKeys: config.masterKeys.map((key) => key.reveal()),
    maxOpenSessions: config.maxOpenSessions,
    rateLimits: config.rateLimits,
    logLevel: config.logLevel,
  };
  assert.deepEqual(told, {
    databaseUrl: 'postgresql://db.example.com/florin',
    http: { host: '0.0.0.0', port: 8080, trustedProxies: [] },
    roles: ['web', 'watcher'],
    keys: [`0x${'44'.repeat(32)}`, settlerKey],
    masterKeys: ['55'.repeat(32), masterKey],
    maxOpenSessions: undefined,
    rateLimits: undefined,
    logLevel: 'warn',
  });
});

test('keys come from files and keystores too', async () => {
  const keyFile = await written(`${orderKey}\n`);
  const secrets = { privateKey: settlerKey, password: 'correct horse' } as const;
  const keystore = await written(encryptKeystore(systemRandom, secrets, { scryptN: 1024 }));
  const passwordFile = await written('correct horse\n');
  const file = changed((draft) => delete draft.signer);
  const environment = {
    FLORIN_ORDER_SIGNER_KEY_FILE: keyFile,
    FLORIN_SETTLER_KEYSTORE: keystore,
    FLORIN_SETTLER_PASSWORD_FILE: passwordFile,
  };
  const config = await read(file, environment);
  assert.deepEqual([revealed(config.orderKey), revealed(config.settlerKey)], [orderKey, settlerKey]);
  const wrong = { ...environment, FLORIN_SETTLER_PASSWORD_FILE: keyFile };
  assert.equal(
    await mistakeIn(file, wrong),
    `the keystore ${keystore} cannot be opened: the password is wrong`,
  );
});

const mistakes: readonly [change: (file: Json) => void, sentence: string][] = [
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
  [(file) => (file.chains = []), 'chains must be a list with at least one entry'],
  [(file) => file.chains.push(file.chains[0]), 'chains has chain id 8453 twice: each chain stands once'],
  [
    (file) => (file.chains[0].name = 'Base'),
    'chains[0].name is Base: use lower-case letters, digits and hyphens',
  ],
  [(file) => (file.chains[0].chainId = '0x2105'), 'chains[0].chainId must be a number written in digits'],
  [(file) => (file.chains[0].chainId = 8453), 'chains[0].chainId must be a text in quotes'],
  [(file) => (file.chains[0].rpcUrls = ['ws://x']), 'chains[0].rpcUrls[0] must be an http or https URL'],
  [
    (file) => (file.chains[0].gateway = gateway.replace('FbDB', 'fbDB')),
    'chains[0].gateway must be an EVM address with its checksum',
  ],
  [(file) => (file.chains[0].wsUrls = ['http://x']), 'chains[0].wsUrls[0] must be a ws or wss URL'],
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
    'chains[0].tokens[0].tokenId is ethereum::usdc: it must read base:: and a lower-case symbol',
  ],
  [
    (file) => file.chains[0].tokens.push({ ...file.chains[0].tokens[0], tokenId: 'base::usdt' }),
    `chains[0].tokens[1].tokenId: ${usdc} stands twice`,
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
    'signer.settlerKey is the same as signer.orderKey: give each role a key of its own',
  ],
  [
    (file) => (file.masterKey = 'abc'),
    'masterKey must be 64 hexadecimal digits; several keys, the newest first, are joined by commas',
  ],
  [(file) => (file.webhooks = { allowLoopback: 'yes' }), 'webhooks.allowLoopback must be true or false'],
  [
    (file) => (file.images = { folder: 'images' }),
    'images.folder is images: give a path that starts at the root',
  ],
  [(file) => (file.images = { folder: '/var/images', s3: {} }), 'images has folder and s3: keep one of them'],
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
];

test('every mistake is one sentence that says what to change', async () => {
  for (const [change, sentence] of mistakes) assert.equal(await mistakeIn(changed(change)), sentence);
});

test('mistakes in the environment are told in a sentence too', async () => {
  const cases: readonly [environment: Environment, sentence: string][] = [
    [{ FLORIN_CONFIG: '' }, 'FLORIN_CONFIG is not set: give the path of the configuration file'],
    [{ FLORIN_PORT: '80a' }, 'FLORIN_PORT is 80a: give a port from 0 to 65535'],
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

test('a file that is not JSON is told without quoting it', async () => {
  const sentence = await mistakeIn(`{"masterKey": "${masterKey}" "x"}`);
  assert.equal(sentence, 'FILE is not JSON: correct it (look at line 1 column 82)');
  assert.equal((await mistakeIn(`{"masterKey": ${masterKey}z}`)).includes('333'), false);
});

function productionFile(): Json {
  return { ...completeFile(), environment: 'production', origin: 'https://pay.example.com' };
}

test('production refuses what only a local world may do', async () => {
  const production = productionFile();
  assert.equal(await mistakeIn(production), 'accepted');
  assert.equal(
    await mistakeIn({ ...production, origin: 'http://pay.example.com' }),
    'origin is http://pay.example.com: production needs https',
  );
  assert.equal(
    await mistakeIn({ ...production, webhooks: { allowLoopback: true } }),
    'webhooks.allowLoopback is true: production must not call its own machine, remove it',
  );
  assert.equal(
    await mistakeIn({ ...production, images: { folder: '/var/images', allowLoopback: true } }),
    'images.allowLoopback is true: production must not call its own machine, remove it',
  );
  assert.equal(
    await mistakeIn({ ...production, images: { s3: bucket } }),
    'images.s3.endpoint is http://127.0.0.1:9000: production needs https',
  );
  assert.equal(
    await mistakeIn({ ...production, demoPayerKey: orderKey }),
    'demoPayerKey is for environment local alone: remove it',
  );
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

test('images are kept in a folder, or in a bucket whose secret comes from the environment', async () => {
  const inFolder = await read({ ...completeFile(), images: { folder: '/var/images', allowLoopback: true } });
  assert.deepEqual(inFolder.images, {
    allowLoopback: true,
    store: { kind: 'folder', folder: '/var/images' },
  });
  const inBucket = await read(
    { ...completeFile(), images: { s3: { ...bucket, prefix: 'shop/' } } },
    { FLORIN_IMAGES_SECRET_KEY: 'secret' },
  );
  const { store } = inBucket.images;
  assert.ok(store?.kind === 's3');
  const { secretAccessKey, ...rest } = store;
  assert.deepEqual(rest, { kind: 's3', ...bucket, prefix: 'shop/' });
  assert.equal(secretAccessKey.reveal(), 'secret');
});

test('payments of others are sent within budgets, or not at all', async () => {
  const off = await read({ ...completeFile(), gasless: { enabled: false } });
  assert.equal(off.gasless, undefined);
  const given = { minAmount: 0, gasPerPayerPerDay: 1, gasForReturnsPerLinkPerDay: 2 };
  const on = await read({ ...completeFile(), gasless: given });
  const { minAmount, budgets, depositBudgets } = on.gasless ?? {};
  assert.deepEqual([minAmount, budgets?.perPayer, depositBudgets?.returns], [0n, 1, 2]);
  assert.equal(
    await mistakeIn({ ...completeFile(), gasless: { minAmount: -1 } }),
    'gasless.minAmount must be an integer from 0 to 1000000000000',
  );
});

test('payments of others leave from the order signer’s wallet unless settlers are to send them', async () => {
  const relayerOf = async (gasless: Json) => (await read({ ...completeFile(), gasless })).gasless?.relayer;
  assert.equal(await relayerOf({}), 'orderSigner');
  assert.equal(await relayerOf({ relayer: 'settler' }), 'settler');
  const mistakes = [
    [{ relayer: 'signer' }, 'gasless.relayer must be one of orderSigner, settler'],
    [{ relaysAsOrderSigner: true }, 'gasless.relaysAsOrderSigner is not a known setting: remove it'],
  ] as const;
  for (const [gasless, mistake] of mistakes)
    assert.equal(await mistakeIn({ ...completeFile(), gasless }), mistake);
});

test('deposits that are short or late go back unless the operator says otherwise', async () => {
  const said = {
    underpaidPpm: 5_000,
    underpaidAmount: 1_000_000,
    latePayment: 'ask',
    lateHours: 48,
    addedAboveFee: 7,
    addedPerDay: 50,
  };
  const config = await read({ ...completeFile(), gasless: { deposits: said } });
  assert.deepEqual(config.gasless?.deposits, {
    ...said,
    underpaidAmount: 1_000_000n,
    addedAboveFee: 7n,
    addedPerDay: 50n,
  });
  const mistakes = [
    [{ underpaidPpm: 100_001 }, 'gasless.deposits.underpaidPpm must be an integer from 0 to 100000'],
    [{ latePayment: 'maybe' }, 'gasless.deposits.latePayment must be one of return, ask, accept'],
    [{ lateHours: 0 }, 'gasless.deposits.lateHours must be an integer from 1 to 168'],
    [{ tolerance: 1 }, 'gasless.deposits.tolerance is not a known setting: remove it'],
  ] as const;
  for (const [deposits, mistake] of mistakes)
    assert.equal(await mistakeIn({ ...completeFile(), gasless: { deposits } }), mistake);
});

test('a token may say which signatures it takes', async () => {
  const withPermits = (permits: Json) => changed((file) => (file.chains[0].tokens[0].permits = permits));
  const config = await read(withPermits(['eip3009', 'permit2']));
  assert.deepEqual(config.chains.token('base::usdc')?.permits, ['eip3009', 'permit2']);
  assert.equal(
    await mistakeIn(withPermits(['eip-3009'])),
    'chains[0].tokens[0].permits: write any of eip2612, eip3009, permit2',
  );
});
