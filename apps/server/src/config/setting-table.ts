/** One row of the table of settings. */
export interface SettingRow {
  /** The paths that the row names: `[]` stands for any place in a list. */
  readonly names: readonly string[];
  /** Members that the row explains in its text. */
  readonly covers?: readonly string[];
  /** The value when the setting is absent; empty: it must be given, or its absence needs no word. */
  readonly fallback: string;
  /** Markdown, as a part of a sentence. */
  readonly meaning: string;
}

/** What each setting of the configuration means. Documents and the schema for editors print it. */
export const settingTable: readonly SettingRow[] = [
  {
    names: ['environment'],
    fallback: '`production`',
    meaning: '`local` allows plain HTTP and is for one machine',
  },
  { names: ['origin'], fallback: '', meaning: 'public origin without a path; https in production' },
  {
    names: ['displayName'],
    fallback: 'the host of `origin`',
    meaning: 'the name of your installation, which the page at `/` shows',
  },
  {
    names: ['serviceDomain'],
    fallback: '',
    meaning: 'payers sign for the EIP-712 domain `aipay.<serviceDomain>`',
  },
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
      'the folder of the backups: an absolute path. Metrics then have the age of the newest file that ends in `.gz`',
  },
  {
    names: ['http.trustedProxies'],
    fallback: 'none',
    meaning:
      "addresses and networks of the proxies in front, such as `127.0.0.1` and `10.0.0.0/8`. Only from them does `X-Forwarded-For` count. Without them all clients have the proxy's address: they share its rate limits, keys bound to addresses refuse them, and the audit log has no other (`http.proxy_not_trusted` in the log, and `doctor`, say so)",
  },
  { names: ['databaseUrl'], fallback: '', meaning: '`postgres://…`; also `DATABASE_URL`' },
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
    fallback: '',
    meaning: 'the name is the first half of its token ids; the id is a text of digits',
  },
  {
    names: ['chains[].rpcUrls'],
    fallback: '',
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
  {
    names: ['chains[].gateway', 'chains[].vault', 'chains[].startBlock'],
    fallback: '',
    meaning: 'as printed by `deploy`',
  },
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
    fallback: '',
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
    fallback: '',
    meaning: "`tokenId`, `address`, `name`, `symbol`, `decimals`; symbol and decimals must be the contract's",
  },
  {
    names: ['fees.sameTokenPpm', 'fees.sameChainPpm', 'fees.crossChainPpm'],
    fallback: '2000, 3000, 6000',
    meaning: 'millionths of the amount, at most 500,000',
  },
  {
    names: ['signer.orderKey', 'signer.settlerKey'],
    fallback: '',
    meaning: 'private keys; better as keystores, below',
  },
  {
    names: ['signer.order', 'signer.settler'],
    fallback: '',
    meaning:
      'a remote signer instead of the key: `{"kind":"web3signer","url","address"}` or `{"kind":"aws_kms","region","keyId","address"}` ([keys](../runbook/keys.md))',
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
      'signer.otherSettlers[].endpoint',
      'signer.otherSettlers[].address',
    ],
    fallback: 'none',
    meaning:
      'more wallets that settle, each with its own nonces: `{"kind":"key","number":2}` reads `FLORIN_SETTLER_2_KEY` or `FLORIN_SETTLER_2_KEYSTORE`; or a remote signer',
  },
  {
    names: ['masterKey'],
    fallback: '',
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
    names: ['images.folder'],
    fallback: '',
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
    fallback: '',
    meaning:
      'instead of a folder: a private bucket of an S3-compatible store, addressed by path; the secret is `imagesSecretKey`. Without `.accessKeyId` the service uses the credentials that the machine has, such as its role',
  },
  { names: ['images.allowLoopback'], fallback: 'false', meaning: 'refused in production' },
  {
    names: ['smtp.host'],
    fallback: '',
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
    fallback: '',
    meaning: 'where the server asks for a login; the secret is `smtpPassword`',
  },
  {
    names: ['smtp.from', 'smtp.fromName'],
    fallback: '',
    meaning:
      'the address that e-mails come from, and the name shown in e-mails to members; the address when absent',
  },
  {
    names: ['chains[].tokens[].permits'],
    fallback: 'what the chain says',
    meaning:
      'signatures that a token must take: `eip2612`, `eip3009`, `permit2`; the service does not start when the token differs',
  },
  {
    names: ['gasless.enabled'],
    fallback: 'true',
    meaning: 'payments by signature, deposit addresses and x402, sent at your cost',
  },
  {
    names: ['gasless.minAmount'],
    fallback: '1000000',
    meaning: 'Micro-USD; less is not sent, collected or sent back. Raise it where gas is expensive',
  },
  {
    names: ['gasless.gasPerPayerPerDay', 'gasless.gasPerLinkPerDay', 'gasless.gasPerNetworkPerDay'],
    fallback: '3000000, 100000000, 20000000',
    meaning: 'units of gas for submissions',
  },
  {
    names: ['gasless.gasPerSmartAccountPayment'],
    fallback: '600000',
    meaning:
      'units of gas for one payment whose payer has code at its address (smart accounts, EIP-7702). Such code can fail and cost its owner nothing; this is what you lose by it. Set it higher where gas includes the cost of another chain (Arbitrum)',
  },
  {
    names: ['gasless.smartAccountFailuresPerMerchantPerDay'],
    fallback: '20',
    meaning:
      "payments of such payers for one merchant, on all chains, that have reverted within 24 hours or may still revert. Beyond it the merchant's smart accounts get 100612 and send their own transactions; plain keys continue. Smart accounts get at most a fifth of the two totals below ([decision 71](../decisions/0071-limit-gas-for-smart-accounts.md))",
  },
  {
    names: ['gasless.gasPerMerchantPerDay', 'gasless.gasPerDay'],
    fallback: '500000000, 2000000000',
    meaning:
      'units of gas on each chain for everything that is sent for payers: submissions, x402, collections and additions; for one merchant (at most half of the other), and in total. At 1 gwei, 2000000000 are 2 of the native coin a day: set both by what you want to lose at most. Beyond it the methods are not available (100612), and collections wait; `gas.running_out` is logged at three quarters ([decision 62](../decisions/0062-cap-gas-per-merchant-and-in-total.md))',
  },
  {
    names: ['gasless.gasForReturnsPerMerchantPerDay', 'gasless.gasForReturnsPerDay'],
    fallback: '50000000, 200000000',
    meaning: 'the same for what is sent back from deposit addresses',
  },
  {
    names: ['gasless.gasForCollectionsPerLinkPerDay', 'gasless.gasForReturnsPerLinkPerDay'],
    fallback: '1000000000, 20000000',
    meaning:
      "units of gas for deposit addresses, for each payment link, or for all of a merchant's sessions without a link: collecting, additions included, and sending back what cannot pay. Beyond it they wait (`deposits.gas_exhausted` in the log, once); anyone may make these calls. A payer's first return of a day may use all of the budget for returns, further ones a twentieth, out of the first half ([decision 46](../decisions/0046-share-the-return-budget-among-payers.md))",
  },
  {
    names: ['gasless.relayer'],
    fallback: '`orderSigner`',
    meaning:
      "whose wallet sends payments of others. The order signer's transaction needs no signature of the order, which saves 4,500 gas each; when its wallet has no gas, settlers send them. `settler`: always settlers ([decision 42](../decisions/0042-send-payers-payments-from-the-order-signers-wallet.md))",
  },
  {
    names: ['gasless.depositWindowMs', 'gasless.balanceWindowMs'],
    fallback: '2000, 10000',
    meaning:
      'time between two searches for deposits: in new blocks, and in balances. With more than 1,000 open orders on a chain, each new block takes one request for all transfers of your tokens in it: some 100 kB on a busy chain ([decision 58](../decisions/0058-find-deposits-by-receiver.md))',
  },
  {
    names: ['gasless.deposits.underpaidPpm', 'gasless.deposits.underpaidAmount'],
    fallback: '0, none',
    meaning:
      "what a deposit may lack and still count as paid, where a link says nothing: a share, and Micro-USD. A settler's wallet adds it: keep a day's additions of each token there (`deposits.additions_low` in the log, and `doctor`, say when there is less)",
  },
  {
    names: ['gasless.deposits.addedAboveFee'],
    fallback: '0',
    meaning: 'Micro-USD that you add to one deposit besides the fee that you earn by it',
  },
  {
    names: ['gasless.deposits.addedPerDay'],
    fallback: '100000000',
    meaning:
      'Micro-USD that you add to all short deposits of 24 hours together; beyond it they wait, and go back in the end',
  },
  {
    names: ['gasless.deposits.latePayment', 'gasless.deposits.lateHours'],
    fallback: 'return, 24',
    meaning:
      "what happens to deposits after a session's end (`return`, `ask`, `accept`), where a link says nothing",
  },
  {
    names: ['gasless.x402WaitMs'],
    fallback: '20000',
    meaning: 'how long an x402 request waits for its payment to be seen',
  },
  {
    names: ['settlement.mode'],
    fallback: 'escrow',
    meaning:
      '`direct` passes payments in the settlement token straight to the merchant, where an account says nothing',
  },
  {
    names: ['settlement.batchSize', 'settlement.windowMs'],
    fallback: '50, 2000',
    meaning: 'settlements gathered into one transaction',
  },
  {
    names: ['settlement.windowSeconds'],
    fallback: '0',
    meaning: 'how long the first order of a batch waits for others',
  },
  {
    names: ['settlement.maxBaseFeeGwei'],
    fallback: 'none',
    meaning: 'settlements wait while the base fee is higher',
  },
  {
    names: ['settlement.outflow.perOrderUsd', 'settlement.outflow.hourlyUsd', 'settlement.outflow.dailyUsd'],
    fallback: 'none',
    meaning: "payouts of one chain's vaults over these wait for a person's release",
  },
  {
    names: ['settlement.notMinedAfterSeconds'],
    fallback: '600',
    meaning: 'when a transaction counts as stuck',
  },
  {
    names: ['settlement.reclaimAfterSeconds'],
    fallback: '30 days, or 7 for another token or chain',
    meaning:
      'how long after the end of its session a payment can be settled; then it goes back to its payer. From 2 to 83 days',
  },
  { names: ['settlement.maxFeePerGasGwei'], fallback: '500', meaning: 'the settler never pays more' },
  {
    names: ['rateLimits.keyReadsPerSecond', 'rateLimits.keyWritesPerSecond', 'rateLimits.keyListsPerSecond'],
    fallback: '100, 50, 20',
    meaning: 'requests of one API key to one process; twice as many may come at once',
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
];
