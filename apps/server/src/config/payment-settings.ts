import type { SettingRow } from './setting-row.ts';

/** What the settings of payments and their settlement mean. */
export const paymentSettings: readonly SettingRow[] = [
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
    meaning:
      'Micro-USD that you add to one deposit besides the fee that you earn by it. A lower value, or no `gasless.deposits`, holds at once for addresses that payers have already: a deposit that lacks more goes back in the end (`deposits.above_configured_bound` in the log)',
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
    names: ['retention.unpaidSessionsDays', 'retention.paidSessionsDays'],
    fallback: '90, 730',
    meaning:
      'how long after their end unpaid and paid sessions move to the archive ([growth](../runbook/growth.md))',
  },
  {
    names: ['retention.payerEmailDays', 'retention.payerNetworkDays'],
    fallback: '730, 30',
    meaning: "how long payers' e-mail addresses and the networks of their requests are kept",
  },
];
