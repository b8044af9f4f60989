import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { isVisibleLine } from '@florin/protocol/visible-text.ts';
import Type, { type Static } from 'typebox';
import { defaultRateLimits } from '#http/rate-limit.ts';
import { parseEmail } from '#members/email.ts';
import type { ProcessRole } from '#service/options.ts';
import { address, chain } from './chain-settings.ts';
import { gasless, retention, settlement } from './payment-settings.ts';
import { choice, flag, group, integer, list, secret, section, text } from './setting.ts';

/** What a process of the service does. */
export const roles = ['web', 'watcher', 'worker'] as const satisfies readonly ProcessRole[];

const path = { accepts: isAbsolute, wrong: 'is {}: give an absolute path' };

const isOrigin = (given: string) => URL.canParse(given) && new URL(given).origin === given;

/** An http or https URL without a slash at its end. */
const isPlainUrl = (given: string) =>
  URL.canParse(given) && /^https?:$/.test(new URL(given).protocol) && !given.endsWith('/');

const port = (normal: number) => integer(0, 65_535, { default: normal });

const fee = (normal: number, meaning?: string) => integer(0, 500_000, { default: normal, meaning });

const rate = ({ count }: { readonly count: number }, meaning?: string) =>
  integer(1, 1_000_000, { default: count, meaning });

const serviceUrl = text({
  accepts: isPlainUrl,
  wrong: 'must be an http or https URL without a slash at its end',
});

const web3signer = { kind: Type.Literal('web3signer'), url: serviceUrl, address: address() };
const awsKms = {
  ...{ kind: Type.Literal('aws_kms'), region: text(), keyId: text() },
  ...{ endpoint: Type.Optional(serviceUrl), address: address() },
};
const googleKms = {
  kind: Type.Literal('google_kms'),
  keyVersion: text({
    pattern:
      /^projects\/[\w.:-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+\/cryptoKeyVersions\/\d+$/,
    wrong:
      'must name one version of a key: projects/…/locations/…/keyRings/…/cryptoKeys/…/cryptoKeyVersions/1',
  }),
  ...{ endpoint: Type.Optional(serviceUrl), address: address() },
};
const remoteKinds = [group(web3signer), group(awsKms), group(googleKms)] as const;

/** Wallets that settle, the first included. */
export const maxSettlers = 16;

/** A remote service that holds a key and signs with it. */
export const remoteSigner = Type.Union([...remoteKinds]);
export type RemoteSigner = Static<typeof remoteSigner>;

/** The variables of further settlers' keys have their numbers. */
const furtherSettlers = Array.from({ length: maxSettlers - 1 }, (_, index) => index + 2);

const signer = section({
  orderKey: secret({ meaning: 'private keys; better as keystores, below' }),
  settlerKey: secret(),
  order: Type.Optional(
    Type.Union([...remoteKinds], {
      absent: '',
      meaning:
        'a remote signer instead of the key: `{"kind":"web3signer","url","address"}`, `{"kind":"aws_kms","region","keyId","address"}` or `{"kind":"google_kms","keyVersion","address"}` ([keys](../runbook/keys.md))',
    }),
  ),
  settler: Type.Optional(Type.Union([...remoteKinds], { absent: '' })),
  otherSettlers: Type.Optional(
    list(
      Type.Union([group({ kind: Type.Literal('key'), number: integer(2, maxSettlers) }), ...remoteKinds]),
      {
        meaning:
          'more wallets that settle, each with its own nonces: `{"kind":"key","number":2}` reads `FLORIN_SETTLER_2_KEY` or `FLORIN_SETTLER_2_KEYSTORE`; or a remote signer',
      },
    ),
  ),
  ...Object.fromEntries(furtherSettlers.map((number) => [`settler${number}Key`, secret({ meaning: '' })])),
});

const http = section({
  host: text({
    default: '127.0.0.1',
    meaning: 'where the service listens; also `FLORIN_HOST`, `FLORIN_PORT`',
  }),
  port: port(4000),
  trustedProxies: Type.Optional(
    list(
      text({
        accepts: (given) => isIP(given.split('/', 1)[0] ?? '') !== 0,
        wrong: 'must be an IP address or a network such as 10.0.0.0/8',
      }),
      {
        meaning:
          "addresses and networks of the proxies in front, such as `127.0.0.1` and `10.0.0.0/8`. Only from them does `X-Forwarded-For` count. Without them all clients have the proxy's address: they share its rate limits, keys bound to addresses refuse them, and the audit log has no other (`http.proxy_not_trusted` in the log, and `doctor`, say so)",
      },
    ),
  ),
});

export const monitoring = group({
  host: text({
    default: '127.0.0.1',
    absent: 'none; `127.0.0.1`, `9464` within the setting',
    meaning:
      'the private port of [health and metrics](../runbook/monitoring.md); also `FLORIN_MONITORING_HOST`, `FLORIN_MONITORING_PORT`',
  }),
  port: integer(0, 65_535, { default: 9464, absent: '' }),
  backups: Type.Optional(
    text({
      ...path,
      meaning:
        'the folder of the backups: an absolute path. Metrics then have the age of the newest file that ends in `.gz` or `.gz.age`',
    }),
  ),
});

const tracing = group({
  url: text({
    ...{ shown: 'host', absent: 'none', pattern: /^https?:\/\/[^/?#@]+\/[^?#]*$/ },
    wrong:
      'must be the address of a collector with its path, without a name or a password: http://127.0.0.1:4318/v1/traces',
    meaning:
      'where [traces](../runbook/monitoring.md#traces) go: the address of a collector that takes OTLP over HTTP, with its path. Their software is loaded only then',
  }),
  sharePpm: integer(1, 1_000_000, {
    default: 1_000_000,
    meaning: 'how many of a million traces are sent; the same ones by every process',
  }),
});

const webhooks = section({
  allowLoopback: flag({
    default: false,
    meaning: 'refused in production; webhooks and `successUrl` may then be plain http to loopback',
  }),
  pauseAfterFailures: integer(1, 1_000, { default: 10, meaning: 'when a failing webhook is paused' }),
  pauseAfterHours: integer(0, 720, { default: 72 }),
});

const walletConnect = group({
  projectId: text({
    ...{ absent: 'none', pattern: /^[0-9a-f]{32}$/ },
    wrong: 'is {}: give the 32 hexadecimal digits of your project',
    meaning:
      'the id of your project at WalletConnect, by which payment pages offer wallets on other devices ([WalletConnect](../runbook/production.md#walletconnect))',
  }),
  script: text({
    ...{ ...path, shown: 'never' },
    meaning:
      'the absolute path of the module that you built for it; processes with the role `web` read it at the start',
  }),
});

const bucket = group({
  endpoint: text({
    accepts: isOrigin,
    wrong: 'is {}: give scheme, host and port only, such as https://s3.example.com',
    meaning:
      'instead of a folder: a private bucket of an S3-compatible store, addressed by path; the secret is `imagesSecretKey`. Without `.accessKeyId` the service uses the credentials that the machine has, such as its role',
  }),
  region: text(),
  bucket: text({
    pattern: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    wrong: 'is {}: a bucket has 3 to 63 lower-case letters, digits, . and -',
  }),
  prefix: Type.Optional(
    text({
      ...{ absent: '', pattern: /^([A-Za-z0-9_-]+\/)*$/ },
      wrong: 'is {}: write names that each end in a slash, such as florin/',
    }),
  ),
  accessKeyId: Type.Optional(text({ absent: '' })),
});

const images = section({
  folder: Type.Optional(
    text({
      ...{ ...path, shown: 'never' },
      meaning:
        'where the images of products are kept: an absolute path; several processes need one that all of them see',
    }),
  ),
  s3: Type.Optional(bucket),
  allowLoopback: flag({ default: false, meaning: 'refused in production' }),
});

const smtp = group({
  host: text({
    pattern: /^[A-Za-z0-9.:-]{1,253}$/,
    wrong: 'is {}: give a host name such as smtp.example.com',
    meaning: 'your mail server; without `smtp` no e-mail is sent or stored ([E-mail](../runbook/e-mail.md))',
  }),
  security: choice(['starttls', 'tls', 'none'], {
    default: 'starttls',
    meaning:
      '`starttls` refuses a server that offers no TLS; `tls` is TLS from the start, on port 465; `none` is refused in production',
  }),
  port: Type.Optional(integer(1, 65_535, { absent: '587' })),
  user: Type.Optional(
    text({
      shown: 'never',
      meaning: 'where the server asks for a login; the secret is `smtpPassword`',
    }),
  ),
  from: text({
    accepts: (given) => parseEmail(given) === given,
    wrong: 'is {}: give an e-mail address in lower case, such as pay@example.com',
    meaning:
      'the address that e-mails come from, and the name shown in e-mails to members; the address when absent',
  }),
  fromName: Type.Optional(
    text({
      absent: '',
      accepts: (given) => given.length <= 100 && isVisibleLine(given),
      wrong: 'must be one line of at most 100 visible characters',
    }),
  ),
  payerMailsPerDay: integer(1, 1_000_000, {
    default: 1_000,
    meaning:
      'the most receipts and e-mails about refunds of one merchant in 24 hours; more are not sent for payments below 5 USD ([E-mail](../runbook/e-mail.md))',
  }),
});

const rateLimits = section({
  keyReadsPerSecond: rate(
    defaultRateLimits.keyReads,
    'requests of one API key, over all processes ([how exactly](../scaling.md#rate-limits-with-several-processes)); twice as many may come at once',
  ),
  keyWritesPerSecond: rate(defaultRateLimits.keyWrites),
  keyListsPerSecond: rate(defaultRateLimits.keyLists),
  failedAuthenticationsPerMinute: rate(
    defaultRateLimits.failedAuthentications,
    'requests of one client address without a valid key, and with a signature',
  ),
  signedRequestsPerMinute: rate(defaultRateLimits.signedRequests),
  publicReadsPerSecond: rate(
    defaultRateLimits.publicReads,
    'public reads of one client address; twice as many may come at once',
  ),
  createsPerLinkPerMinute: rate(
    defaultRateLimits.linkCreations,
    'sessions that payers sign for, of one payment link; and signatures of smart accounts, of one client address',
  ),
  smartAccountChecksPerMinute: rate(defaultRateLimits.walletCalls),
  openSessionsPerPayer: rate({ count: 20 }, 'sessions of the AI protocol that one payer may have open'),
});

/** Every setting of the configuration file, with its range, its default and its words in the documents. */
export const settings = Type.Object({
  $schema: Type.Optional(text({ meaning: '', shown: 'never' })),
  environment: choice(['local', 'production'], {
    default: 'production',
    meaning: '`local` allows plain HTTP and is for one machine',
  }),
  origin: text({
    accepts: isOrigin,
    wrong: 'is {}: give scheme, host and port only, such as https://pay.example.com',
    meaning: 'public origin without a path; https in production',
  }),
  displayName: Type.Optional(
    text({
      accepts: (given) => given.trim() === given && given.length <= 60 && isVisibleLine(given),
      wrong: 'must be one line of 1 to 60 visible characters, without spaces around it',
      absent: 'the host of `origin`',
      meaning: 'the name of your installation, which the page at `/` shows',
    }),
  ),
  serviceDomain: text({
    pattern: /^[a-z0-9.-]{1,253}$/,
    wrong: 'is {}: give a lower-case domain name such as example.com',
    meaning: 'payers sign for the EIP-712 domain `aipay.<serviceDomain>`',
  }),
  http,
  monitoring: Type.Optional(monitoring),
  tracing: Type.Optional(tracing),
  databaseUrl: secret({ meaning: '`postgres://…`; also `DATABASE_URL`' }),
  databaseWaitSeconds: integer(0, 60, {
    default: 10,
    meaning:
      'how long requests wait at the beginning of an outage of the database, before they fail with a code that may be retried: a restart or a failover within that time costs them no error. 0: they fail at once',
  }),
  databaseReplicaUrl: secret({
    absent: 'none',
    meaning:
      '`postgres://…` of one standby, with no balancer before it and with the role and database of `databaseUrl`; also `DATABASE_REPLICA_URL`. It answers lists, search and sums, and nothing else',
  }),
  databaseReplicaMaxLagSeconds: integer(1, 60, {
    default: 2,
    meaning:
      'how old the answers of the standby may be, from 1 to 60. While it is further behind, or away, the primary answers. What a merchant changes through a process shows in the next lists of that process; searches find changes that much later',
  }),
  walletDelaySeconds: Type.Optional(
    integer(0, 2_592_000, {
      absent: '86400; 0 in a local world',
      meaning:
        "how long a wallet waits that a member adds, except a merchant's first. `account create` adds at once",
    }),
  ),
  roles: Type.Optional(
    list(choice(roles), {
      absent: 'all three',
      wrong: ` names {}: the roles are ${roles.join(', ')}`,
      meaning: 'list of `web`, `watcher`, `worker`; also `FLORIN_ROLES=web,worker`',
    }),
  ),
  chains: list(chain),
  attestationUrl: Type.Optional(
    text({
      ...{ shown: 'host', accepts: isPlainUrl },
      wrong: 'is {}: give an http or https URL without a slash at its end',
      meaning: 'where burns are attested, such as `https://iris-api.circle.com`; needed with `cctp`',
    }),
  ),
  fees: section({
    sameTokenPpm: fee(2_000, 'millionths of the amount, at most 500,000'),
    ...{ sameChainPpm: fee(3_000), crossChainPpm: fee(6_000) },
  }),
  signer,
  masterKey: secret({
    meaning: '64 hexadecimal digits, seals webhook secrets; several are joined by commas, the newest first',
  }),
  webhooks,
  fundingUrl: Type.Optional(
    text({
      // A page shows it to payers.
      accepts: (given) => given.startsWith('https://') && URL.canParse(given),
      ...{ shown: 'host', wrong: 'is {}: give an https URL' },
      meaning:
        "where payers whose wallet has too little get tokens, such as a bridge or an on-ramp: https. The page replaces `{ADDRESS}` by the payer's wallet, `{TOKEN}` by the symbol, `{CHAIN_ID}` and `{AMOUNT}` by the network's id and what is missing",
    }),
  ),
  walletConnect: Type.Optional(walletConnect),
  images,
  imagesSecretKey: secret({ meaning: 'the secret of `images.s3.accessKeyId`' }),
  smtp: Type.Optional(smtp),
  smtpPassword: secret({ meaning: 'the password of `smtp.user`' }),
  rateLimits,
  gasless,
  settlement,
  retention,
  // Every visitor's request may spend from this plain-text key, so it is for play money only.
  demoPayerKey: Type.Optional(
    text({
      ...{ isLocal: true, shown: 'never', pattern: /^0x[0-9a-fA-F]{64}$/ },
      wrong: 'must be a private key: 0x and 64 hexadecimal digits',
    }),
  ),
  // A clock that can be moved would let its mover expire sessions and end delays that guard wallets.
  clockOffsetSeconds: Type.Optional(integer(0, 1_000_000_000, { isLocal: true })),
  consoleUrl: Type.Optional(text({ isLocal: true, accepts: URL.canParse, wrong: 'is {}: give a URL' })),
});
export type Settings = Static<typeof settings>;
