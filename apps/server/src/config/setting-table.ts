import { paymentSettings } from './payment-settings.ts';
import type { SettingRow } from './setting-row.ts';

/** What each setting of the configuration means. Documents and the schema for editors print it. */
export const settingTable: readonly SettingRow[] = [
  {
    names: ['environment'],
    fallback: '`production`',
    meaning: '`local` allows plain HTTP and is for one machine',
  },
  { names: ['origin'], meaning: 'public origin without a path; https in production' },
  {
    names: ['displayName'],
    fallback: 'the host of `origin`',
    meaning: 'the name of your installation, which the page at `/` shows',
  },
  { names: ['serviceDomain'], meaning: 'payers sign for the EIP-712 domain `aipay.<serviceDomain>`' },
  {
    names: ['http.host', 'http.port'],
    fallback: '`127.0.0.1`, `4000`',
    meaning: 'where the service listens; also `FLORIN_HOST`, `FLORIN_PORT`',
  },
  {
    names: ['monitoring.host', 'monitoring.port'],
    fallback: 'none; `127.0.0.1`, `9464` within the setting',
    meaning:
      'the private port of [health and metrics](../runbook/monitoring.md); also `FLORIN_MONITORING_HOST`, `FLORIN_MONITORING_PORT`',
  },
  {
    names: ['monitoring.backups'],
    fallback: 'none',
    meaning:
      'the folder of the backups: an absolute path. Metrics then have the age of the newest file that ends in `.gz` or `.gz.age`',
  },
  {
    names: ['tracing.url'],
    fallback: 'none',
    meaning:
      'where [traces](../runbook/monitoring.md#traces) go: the address of a collector that takes OTLP over HTTP, with its path. Their software is loaded only then',
  },
  {
    names: ['tracing.sharePpm'],
    fallback: '1000000',
    meaning: 'how many of a million traces are sent; the same ones by every process',
  },
  {
    names: ['http.trustedProxies'],
    fallback: 'none',
    meaning:
      "addresses and networks of the proxies in front, such as `127.0.0.1` and `10.0.0.0/8`. Only from them does `X-Forwarded-For` count. Without them all clients have the proxy's address: they share its rate limits, keys bound to addresses refuse them, and the audit log has no other (`http.proxy_not_trusted` in the log, and `doctor`, say so)",
  },
  { names: ['databaseUrl'], meaning: '`postgres://…`; also `DATABASE_URL`' },
  {
    names: ['databaseWaitSeconds'],
    fallback: '10',
    meaning:
      'how long requests wait at the beginning of an outage of the database, before they fail with a code that may be retried: a restart or a failover within that time costs them no error. 0: they fail at once',
  },
  {
    names: ['databaseReplicaUrl'],
    fallback: 'none',
    meaning:
      '`postgres://…` of one standby, with no balancer before it and with the role and database of `databaseUrl`; also `DATABASE_REPLICA_URL`. It answers lists, search and sums, and nothing else',
  },
  {
    names: ['databaseReplicaMaxLagSeconds'],
    fallback: '2',
    meaning:
      'how old the answers of the standby may be, from 1 to 60. While it is further behind, or away, the primary answers. What a merchant changes through a process shows in the next lists of that process; searches find changes that much later',
  },
  {
    names: ['walletDelaySeconds'],
    fallback: '86400; 0 in a local world',
    meaning:
      "how long a wallet waits that a member adds, except a merchant's first. `account create` adds at once",
  },
  {
    names: ['roles'],
    fallback: 'all three',
    meaning: 'list of `web`, `watcher`, `worker`; also `FLORIN_ROLES=web,worker`',
  },
  {
    names: ['chains[].name', 'chains[].chainId'],
    covers: ['chains'],
    meaning: 'the name is the first half of its token ids; the id is a text of digits',
  },
  {
    names: ['chains[].rpcUrls'],
    meaning:
      'in order of preference; a node that is slow, fails or lags moves behind the others for a while. Use two providers or more; with several chains you must',
  },
  {
    names: ['chains[].wsUrls'],
    fallback: 'none',
    meaning: 'WebSocket addresses that announce new blocks. The service then asks over HTTP',
  },
  {
    names: ['chains[].proofs'],
    fallback: '`required`',
    meaning:
      'blocks and receipts must hash to what they claim. `quorum` is for chains where they cannot: then `finality.quorum` nodes must agree ([decision 19](../decisions/0019-verify-blocks-by-hash-and-quorum.md)). With a quorum of 1, nothing finds a log that the node leaves out at every reading before the books first agree ([decision 78](../decisions/0078-open-books-after-a-second-reading.md))',
  },
  { names: ['chains[].gateway', 'chains[].vault', 'chains[].startBlock'], meaning: 'as printed by `deploy`' },
  {
    names: ['chains[].previousGateways[]'],
    covers: [
      'chains[].previousGateways',
      'chains[].previousGateways[].gateway',
      'chains[].previousGateways[].vault',
      'chains[].previousGateways[].cctpRoute',
    ],
    fallback: 'none',
    meaning:
      'earlier `gateway`, `vault` and `cctpRoute`, newest first: open orders are watched, settled and paid out there ([settlement](../runbook/settlement.md))',
  },
  {
    names: ['chains[].cctp'],
    covers: [
      'chains[].cctp',
      'chains[].cctp.domain',
      'chains[].cctp.transmitter',
      'chains[].cctp.messenger',
      'chains[].cctp.route',
      'chains[].cctp.tokenId',
      'chains[].cctp.maxPerOrderUsd',
    ],
    fallback: 'none',
    meaning:
      "Circle's CCTP: `domain`, `transmitter`, `messenger`, `route`, `tokenId`, and `maxPerOrderUsd` (1000000)",
  },
  {
    names: ['attestationUrl'],
    meaning: 'where burns are attested, such as `https://iris-api.circle.com`; needed with `cctp`',
  },
  {
    names: ['chains[].finality'],
    covers: [
      'chains[].finality',
      'chains[].finality.tag',
      'chains[].finality.depth',
      'chains[].finality.quorum',
      'chains[].finality.expectedSeconds',
    ],
    fallback: '`finalized`, 0',
    meaning:
      'a block is final when it is at or below the tag `finalized`, `safe` or `latest`, is at least `depth` blocks under the head, and `quorum` nodes of different providers say so (2 where there are two, else 1; hosts of one domain are one provider). With several chains each needs 2, or the service does not start, because vaults pay out for payments on other chains ([decision 63](../decisions/0063-require-two-providers-for-cross-chain-payouts.md)). `expectedSeconds` is used for `etaSeconds` of the capabilities until it is measured',
  },
  { names: ['chains[].pollIntervalMs'], fallback: '1000', meaning: '50 to 60,000' },
  {
    names: ['chains[].tokens[]'],
    covers: [
      'chains[].tokens',
      'chains[].tokens[].tokenId',
      'chains[].tokens[].address',
      'chains[].tokens[].name',
      'chains[].tokens[].symbol',
      'chains[].tokens[].decimals',
    ],
    meaning: "`tokenId`, `address`, `name`, `symbol`, `decimals`; symbol and decimals must be the contract's",
  },
  {
    names: ['fees.sameTokenPpm', 'fees.sameChainPpm', 'fees.crossChainPpm'],
    fallback: '2000, 3000, 6000',
    meaning: 'millionths of the amount, at most 500,000',
  },
  { names: ['signer.orderKey', 'signer.settlerKey'], meaning: 'private keys; better as keystores, below' },
  {
    names: ['signer.order', 'signer.settler'],
    meaning:
      'a remote signer instead of the key: `{"kind":"web3signer","url","address"}`, `{"kind":"aws_kms","region","keyId","address"}` or `{"kind":"google_kms","keyVersion","address"}` ([keys](../runbook/keys.md))',
  },
  {
    names: ['signer.otherSettlers[]'],
    covers: [
      'signer.otherSettlers',
      'signer.otherSettlers[].kind',
      'signer.otherSettlers[].number',
      'signer.otherSettlers[].url',
      'signer.otherSettlers[].region',
      'signer.otherSettlers[].keyId',
      'signer.otherSettlers[].keyVersion',
      'signer.otherSettlers[].endpoint',
      'signer.otherSettlers[].address',
    ],
    fallback: 'none',
    meaning:
      'more wallets that settle, each with its own nonces: `{"kind":"key","number":2}` reads `FLORIN_SETTLER_2_KEY` or `FLORIN_SETTLER_2_KEYSTORE`; or a remote signer',
  },
  {
    names: ['masterKey'],
    meaning: '64 hexadecimal digits, seals webhook secrets; several are joined by commas, the newest first',
  },
  {
    names: ['webhooks.allowLoopback'],
    fallback: 'false',
    meaning: 'refused in production; webhooks and `successUrl` may then be plain http to loopback',
  },
  {
    names: ['webhooks.pauseAfterFailures', 'webhooks.pauseAfterHours'],
    fallback: '10, 72',
    meaning: 'when a failing webhook is paused',
  },
  {
    names: ['fundingUrl'],
    fallback: 'none',
    meaning:
      "where payers whose wallet has too little get tokens, such as a bridge or an on-ramp: https. The page replaces `{ADDRESS}` by the payer's wallet, `{TOKEN}` by the symbol, `{CHAIN_ID}` and `{AMOUNT}` by the network's id and what is missing",
  },
  {
    names: ['walletConnect.projectId'],
    fallback: 'none',
    meaning:
      'the id of your project at WalletConnect, by which payment pages offer wallets on other devices ([WalletConnect](../runbook/production.md#walletconnect))',
  },
  {
    names: ['walletConnect.script'],
    meaning:
      'the absolute path of the module that you built for it; processes with the role `web` read it at the start',
  },
  {
    names: ['images.folder'],
    meaning:
      'where the images of products are kept: an absolute path; several processes need one that all of them see',
  },
  {
    names: [
      'images.s3.endpoint',
      'images.s3.region',
      'images.s3.bucket',
      'images.s3.prefix',
      'images.s3.accessKeyId',
    ],
    covers: ['imagesSecretKey'],
    meaning:
      'instead of a folder: a private bucket of an S3-compatible store, addressed by path; the secret is `imagesSecretKey`. Without `.accessKeyId` the service uses the credentials that the machine has, such as its role',
  },
  { names: ['images.allowLoopback'], fallback: 'false', meaning: 'refused in production' },
  {
    names: ['smtp.host'],
    meaning: 'your mail server; without `smtp` no e-mail is sent or stored ([E-mail](../runbook/e-mail.md))',
  },
  {
    names: ['smtp.security', 'smtp.port'],
    fallback: 'starttls, 587',
    meaning:
      '`starttls` refuses a server that offers no TLS; `tls` is TLS from the start, on port 465; `none` is refused in production',
  },
  {
    names: ['smtp.user'],
    covers: ['smtpPassword'],
    meaning: 'where the server asks for a login; the secret is `smtpPassword`',
  },
  {
    names: ['smtp.from', 'smtp.fromName'],
    meaning:
      'the address that e-mails come from, and the name shown in e-mails to members; the address when absent',
  },
  {
    names: ['smtp.payerMailsPerDay'],
    fallback: '1000',
    meaning:
      'the most receipts and e-mails about refunds of one merchant in 24 hours; more are not sent for payments below 5 USD ([E-mail](../runbook/e-mail.md))',
  },
  {
    names: ['chains[].tokens[].permits'],
    fallback: 'what the chain says',
    meaning:
      'signatures that a token must take: `eip2612`, `eip3009`, `permit2`; the service does not start when the token differs',
  },
  {
    names: ['rateLimits.keyReadsPerSecond', 'rateLimits.keyWritesPerSecond', 'rateLimits.keyListsPerSecond'],
    fallback: '100, 50, 20',
    meaning:
      'requests of one API key, over all processes ([how exactly](../scaling.md#rate-limits-with-several-processes)); twice as many may come at once',
  },
  {
    names: ['rateLimits.failedAuthenticationsPerMinute', 'rateLimits.signedRequestsPerMinute'],
    fallback: '60, 60',
    meaning: 'requests of one client address without a valid key, and with a signature',
  },
  {
    names: ['rateLimits.publicReadsPerSecond'],
    fallback: '20',
    meaning: 'public reads of one client address; twice as many may come at once',
  },
  {
    names: ['rateLimits.createsPerLinkPerMinute', 'rateLimits.smartAccountChecksPerMinute'],
    fallback: '600, 20',
    meaning:
      'sessions that payers sign for, of one payment link; and signatures of smart accounts, of one client address',
  },
  {
    names: ['rateLimits.openSessionsPerPayer'],
    fallback: '20',
    meaning: 'sessions of the AI protocol that one payer may have open',
  },
  ...paymentSettings,
];
