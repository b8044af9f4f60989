import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { encryptKeystore } from '@florin/signing';
import { defaultRateLimits } from '#http/rate-limit.ts';
import { systemRandom } from '#outside/random.ts';
import { Secret } from '#outside/secret.ts';
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
  vault,
} from '../../test/harness/config-files.ts';
import type { ConfiguredKey } from './signer.ts';

const { written, read, mistakeIn, close } = await configFiles();
after(close);

function revealed(key: ConfiguredKey): string {
  assert.ok(key instanceof Secret);
  return key.reveal();
}

const smartAccounts = { perPayment: 600_000, failuresPerMerchant: 20 };

// proves W1.28
test('omitted settings have documented defaults', async () => {
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
      ...{ masterKeys: [], configuration: {} },
    },
    {
      ...{ environment: 'local', origin: 'http://127.0.0.1:4000', serviceDomain: 'localhost' },
      ...{ http: { host: '127.0.0.1', port: 4000, trustedProxies: [] } },
      ...{ monitoring: undefined, tracing: undefined },
      databaseUrl: '',
      roles: new Set(['web', 'watcher', 'worker']),
      chains: {
        name: 'base',
        chainId: 8453,
        rpcUrls: ['https://base.example.com/secret-path'],
        gateway,
        vault,
        startBlock: 0n,
        ...{ wsUrls: undefined, previousContracts: undefined, cctp: undefined },
        finality: { tag: 'finalized', depth: 0, quorum: 1, expectedSeconds: undefined },
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
            permits: undefined,
          },
        ],
      },
      fees: { sameToken: 2000, sameChain: 3000, crossChain: 6000 },
      orderKey: '',
      settlerKey: '',
      otherSettlerKeys: [],
      ...{ masterKeys: [], configuration: {} },
      webhooks: { allowLoopback: false, pauseAfterFailures: 10, pauseAfterHours: 72 },
      gasless: {
        minAmount: 1_000_000n,
        budgets: { perPayer: 3e6, perLink: 1e8, perNetwork: 2e7, smartAccounts },
        depositBudgets: { collections: 1_000_000_000, returns: 20_000_000 },
        totals: { payments: { perMerchant: 5e8, all: 2e9 }, returns: { perMerchant: 5e7, all: 2e8 } },
        ...{ relayer: 'orderSigner', depositWindowMs: 2_000, balanceWindowMs: 10_000, mostNamed: 1_000 },
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
        ...{ mode: 'escrow', batchSize: 50, windowMs: 2000, windowSeconds: 0 },
        ...{ notMinedAfterSeconds: 600, keepAfterSeconds: 1_800, reclaimAfterSeconds: undefined },
        ...{ maxBaseFeeGwei: undefined, outflow: undefined, maxFeePerGasGwei: 500 },
      },
      ...{ attestationUrl: undefined, walletConnect: undefined },
      ...{ walletDelaySeconds: 0, databaseWaitSeconds: 10, databaseReplica: undefined },
      retention: { unpaidAfterDays: 90, paidAfterDays: 730, emailsAfterDays: 730, networksAfterDays: 30 },
      maxOpenSessions: 20,
      rateLimits: defaultRateLimits,
      ...{ demoPayerKey: undefined, clockOffsetSeconds: 0, consoleUrl: undefined, smtp: undefined },
      ...{ displayName: undefined, fundingUrl: undefined, logLevel: 'info', requestLogShare: 1 },
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
      await quorumOf(['one.a.com', 'two.a.com']),
      await quorumOf(['a.com', 'b.com', 'c.com']),
    ],
    [1, 1, 1, 2],
  );
  assert.equal(await quorumOf(['a.com', 'b.com'], { quorum: 1 }), 1);
  assert.equal(
    await mistakeIn(changed((file) => Object.assign(file.chains[0], { finality: { quorum: 2 } }))),
    'chains[0].finality.quorum is 2, but rpcUrls has a provider count of 1: add nodes of other providers, on hosts of other domains',
  );
});

test('a chain states when its blocks are final, and how long that usually takes', async () => {
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
  assert.throws(() => JSON.stringify(config), /a secret cannot be serialized/);
});

test('the environment wins over the file, and an empty variable counts as unset', async () => {
  const config = await read(completeFile(), {
    DATABASE_URL: 'postgresql://db.example.com/florin',
    FLORIN_HOST: '0.0.0.0',
    FLORIN_PORT: '8080',
    FLORIN_MONITORING_PORT: '9465',
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
    monitoring: config.monitoring,
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
    monitoring: { host: '127.0.0.1', port: 9465, backups: undefined },
    roles: ['web', 'watcher'],
    keys: [`0x${'44'.repeat(32)}`, settlerKey],
    masterKeys: ['55'.repeat(32), masterKey],
    maxOpenSessions: undefined,
    rateLimits: undefined,
    logLevel: 'warn',
  });
});

test('keys may also come from files and keystores', async () => {
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
  const { accessKeyId, ...place } = bucket;
  const { credentials, ...rest } = store;
  assert.deepEqual(rest, { kind: 's3', ...place, prefix: 'shop/' });
  assert.equal(credentials?.accessKeyId, accessKeyId);
  assert.equal(credentials.secretAccessKey.reveal(), 'secret');
});

test('a bucket without an access key uses the machine’s credentials', async () => {
  const { accessKeyId: _, ...place } = bucket;
  const { images } = await read({ ...completeFile(), images: { s3: place } });
  assert.ok(images.store?.kind === 's3');
  assert.equal(images.store.credentials, undefined);
});

test('gasless payments are sent within budgets, or not at all', async () => {
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
  assert.match(
    await mistakeIn({ ...completeFile(), gasless: { gasPerMerchantPerDay: 6, gasPerDay: 11 } }),
    /gasless.gasPerMerchantPerDay is over half of gasless.gasPerDay/,
  );
});

test('gasless payments leave from the order signer’s wallet unless settlers are to send them', async () => {
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

test('short and late deposits go back unless the operator accepts them', async () => {
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

test('a token may state which signatures it accepts', async () => {
  const withPermits = (permits: Json) => changed((file) => (file.chains[0].tokens[0].permits = permits));
  const config = await read(withPermits(['eip3009', 'permit2']));
  assert.deepEqual(config.chains.token('base::usdc')?.permits, ['eip3009', 'permit2']);
  assert.equal(
    await mistakeIn(withPermits(['eip-3009'])),
    'chains[0].tokens[0].permits: write any of eip2612, eip3009, permit2',
  );
});

test('in production an added wallet waits a day, or as long as the file says', async () => {
  const production = { ...completeFile(), environment: 'production', origin: 'https://pay.example.com' };
  assert.equal((await read(production)).walletDelaySeconds, 86_400);
  assert.equal((await read({ ...production, walletDelaySeconds: 60 })).walletDelaySeconds, 60);
});
