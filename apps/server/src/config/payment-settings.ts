import { latePayments, maxLateHours, maxUnderpaidPpm } from '@florin/protocol/exception-policy.ts';
import { settlementModes } from '@florin/protocol/order.ts';
import Type from 'typebox';
import { relayers } from '#service/options.ts';
import { choice, flag, group, integer, section } from './setting.ts';

/** Units of gas, or Micro-USD. */
const amount = (normal: number, meaning?: string) =>
  integer(0, 1_000_000_000_000, { default: normal, meaning });

/** By default, short and late deposits are not accepted; the operator or a link can accept them. */
const deposits = section({
  underpaidPpm: integer(0, maxUnderpaidPpm, {
    default: 0,
    meaning:
      "what a deposit may lack and still count as paid, where a link says nothing: a share, and Micro-USD. A settler's wallet adds it: keep a day's additions of each token there (`deposits.additions_low` in the log, and `doctor`, say when there is less)",
  }),
  underpaidAmount: Type.Optional(integer(0, 1_000_000_000_000)),
  addedAboveFee: amount(
    0,
    'Micro-USD that you add to one deposit besides the fee that you earn by it. A lower value, or no `gasless.deposits`, holds at once for addresses that payers have already: a deposit that lacks more goes back in the end (`deposits.above_configured_bound` in the log)',
  ),
  addedPerDay: amount(
    100_000_000,
    'Micro-USD that you add to all short deposits of 24 hours together; beyond it they wait, and go back in the end',
  ),
  latePayment: choice(latePayments, {
    default: 'return',
    meaning:
      "what happens to deposits after a session's end (`return`, `ask`, `accept`), where a link says nothing",
  }),
  lateHours: integer(1, maxLateHours, { default: 24 }),
});

/** Payments that the service sends and pays the gas of. */
export const gasless = section({
  enabled: flag({
    default: true,
    meaning: 'payments by signature, deposit addresses and x402, sent at your cost',
  }),
  minAmount: amount(
    1_000_000,
    'Micro-USD; less is not sent, collected or sent back. Raise it where gas is expensive',
  ),
  // A payment by authorization takes about 130,000 gas, or 160,000 with the reserve of a fifth.
  gasPerPayerPerDay: amount(3_000_000, 'units of gas for submissions'),
  gasPerLinkPerDay: amount(100_000_000),
  gasPerNetworkPerDay: amount(20_000_000),
  // A payment takes about 130,000 gas, a passkey signature without a precompile 330,000 more, plus a fifth.
  gasPerSmartAccountPayment: amount(
    600_000,
    'units of gas for one payment whose payer has code at its address (smart accounts, EIP-7702). Such code can fail and cost its owner nothing; this is what you lose by it. Set it higher where gas includes the cost of another chain (Arbitrum)',
  ),
  smartAccountFailuresPerMerchantPerDay: integer(0, 1_000_000, {
    default: 20,
    meaning:
      "payments of such payers for one merchant, on all chains, that have reverted within 24 hours or may still revert. Beyond it the merchant's smart accounts get 100612 and send their own transactions; plain keys continue. Smart accounts get at most a fifth of the two totals below ([decision 71](../decisions/0071-limit-gas-for-smart-accounts.md))",
  }),
  // Per chain. Links, payers and networks cost an attacker nothing, so a merchant's payers also have a limit together.
  gasPerMerchantPerDay: amount(
    500_000_000,
    'units of gas on each chain for everything that is sent for payers: submissions, x402, collections and additions; for one merchant (at most half of the other), and in total. At 1 gwei, 2000000000 are 2 of the native coin a day: set both by what you want to lose at most. Beyond it the methods are not available (100612), and collections wait; `gas.running_out` is logged at three quarters ([decision 62](../decisions/0062-cap-gas-per-merchant-and-in-total.md))',
  ),
  gasPerDay: amount(2_000_000_000),
  gasForReturnsPerMerchantPerDay: amount(50_000_000, 'the same for what is sent back from deposit addresses'),
  gasForReturnsPerDay: amount(200_000_000),
  // A collection takes about 130,000 gas, a return 70,000. The party that causes a return pays nothing for it.
  gasForCollectionsPerLinkPerDay: amount(
    1_000_000_000,
    "units of gas for deposit addresses, for each payment link, or for all of a merchant's sessions without a link: collecting, additions included, and sending back what cannot pay. Beyond it they wait (`deposits.gas_exhausted` in the log, once); anyone may make these calls. A payer's first return of a day may use all of the budget for returns, further ones a twentieth, out of the first half ([decision 46](../decisions/0046-share-the-return-budget-among-payers.md))",
  ),
  gasForReturnsPerLinkPerDay: amount(20_000_000),
  relayer: choice(relayers, {
    default: 'orderSigner',
    meaning:
      "whose wallet sends payments of others. The order signer's transaction needs no signature of the order, which saves 4,500 gas each; when its wallet has no gas, settlers send them. `settler`: always settlers ([decision 42](../decisions/0042-send-payers-payments-from-the-order-signers-wallet.md))",
  }),
  // Each check of new blocks is one request to a node: by name for up to a thousand addresses, or for all transfers.
  depositWindowMs: integer(50, 600_000, {
    default: 2_000,
    meaning:
      'time between two searches for deposits: in new blocks, and in balances. With more than 1,000 open orders on a chain, each new block takes one request for all transfers of your tokens in it: some 100 kB on a busy chain ([decision 58](../decisions/0058-find-deposits-by-receiver.md))',
  }),
  // Each check reads at most two hundred addresses, for each token of the chain.
  balanceWindowMs: integer(50, 3_600_000, { default: 10_000 }),
  deposits,
  // Clients wait longer; an answer without a block says where to check again.
  x402WaitMs: integer(0, 60_000, {
    default: 20_000,
    meaning: 'how long an x402 request waits for its payment to be seen',
  }),
});

const capUsd = integer(1, 10_000_000);

/** How paid orders are settled; see docs/runbook/settlement.md. */
export const settlement = section({
  mode: choice(settlementModes, {
    default: 'escrow',
    meaning:
      '`direct` passes payments in the settlement token straight to the merchant, where an account says nothing',
  }),
  batchSize: integer(1, 50, { default: 50, meaning: 'settlements gathered into one transaction' }),
  windowMs: integer(50, 3_600_000, { default: 2_000 }),
  windowSeconds: integer(0, 86_400, {
    default: 0,
    meaning: 'how long the first order of a batch waits for others',
  }),
  maxBaseFeeGwei: Type.Optional(
    integer(1, 100_000, { meaning: 'settlements wait while the base fee is higher' }),
  ),
  outflow: Type.Optional(
    group({
      perOrderUsd: integer(1, 10_000_000, {
        absent: 'none',
        meaning: "payouts of one chain's vaults over these wait for a person's release",
      }),
      ...{ hourlyUsd: capUsd, dailyUsd: capUsd },
    }),
  ),
  notMinedAfterSeconds: integer(10, 86_400, { default: 600, meaning: 'when a transaction counts as stuck' }),
  // The gateway wants two days at least, and 120 days at most from the payment. A session lasts up to 30 days of these, and
  // late deposits are taken for another seven.
  reclaimAfterSeconds: Type.Optional(
    integer(172_800, 7_171_200, {
      absent: '30 days, or 7 for another token or chain',
      meaning:
        'how long after the end of its session a payment can be settled; then it goes back to its payer. From 2 to 83 days',
    }),
  ),
  maxFeePerGasGwei: integer(1, 100_000, { default: 500, meaning: 'the settler never pays more' }),
});

/** How long what grows stays where it is; see docs/runbook/growth.md. */
export const retention = section({
  // A deposit that comes late is accepted for a week at most after it was seen, and a session lasts 30 days at most.
  unpaidSessionsDays: integer(30, 36_500, {
    default: 90,
    meaning:
      'how long after their end unpaid and paid sessions move to the archive ([growth](../runbook/growth.md))',
  }),
  paidSessionsDays: integer(90, 36_500, { default: 730 }),
  payerEmailDays: integer(30, 36_500, {
    default: 730,
    meaning: "how long payers' e-mail addresses and the networks of their requests are kept",
  }),
  payerNetworkDays: integer(2, 36_500, { default: 30 }),
});
