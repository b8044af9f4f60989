import { type DeliveryTrigger, deliveryMoves, type WebhookTrigger, webhookMoves } from '@florin/outbox';
import { agentMoves, isSigned } from '@florin/protocol/agent.ts';
import type { Move } from '@florin/protocol/machine.ts';
import { pendingReasons, type SessionStatus, sessionStatuses } from '@florin/protocol/session.ts';
import {
  type AccountChangeTrigger,
  type AccountTrigger,
  accountChangeMoves,
  accountMoves,
  type DepositMoveTrigger,
  depositMoveTransitions,
  type ExceptionTrigger,
  exceptionMoves,
  type LegTrigger,
  type LinkTrigger,
  legMoves,
  linkMoves,
  type ProductTrigger,
  productMoves,
  type RefundTrigger,
  type ReportTrigger,
  refundMoves,
  reportMoves,
  type SentTrigger,
  type SessionTrigger,
  sentMoves,
  sessionMoves,
  sessionTriggers,
} from '@florin/server/documents';
import { type DocsPage, heading, linkTo, table } from './page.ts';

const statusTexts: Readonly<Record<SessionStatus, string>> = {
  initialized: 'Created, waiting for payment.',
  paid: 'The payment is final on its chain; the money waits in the contract for its settlement, or went back to its payer.',
  settling: 'A settlement is recorded and on its way.',
  completed: 'The money is in the merchant’s wallet, final on its chain.',
  settlement_pending:
    'The settlement is delayed; it is retried by itself, and an order settles once. With `payment_reorged` the payment itself is gone.',
  expired:
    'Not paid in time; nothing can pay it any more but a late deposit, where the link’s policy or the merchant accepts it.',
  cancelled: 'Cancelled by the merchant.',
};

const triggerTexts: Readonly<Record<SessionTrigger, string>> = {
  order_signed: 'The service signed an order for a payer: `signedOnce` becomes 1.',
  orders_lapsed:
    '`POST /session/checkout/cancel` finds that every signed order has ended unpaid, by its chain’s time at a final block: `signedOnce` becomes 0, and the session is cancelled.',
  payment_detected: 'The payment transaction is in a block that is not final.',
  payment_undetected: 'That block was reorganised away.',
  payment_final: 'The payment is in a canonical block that is final by the chain’s policy.',
  late_payment_detected:
    'A deposit that came after the end, and was accepted by the link’s policy or by `POST /exception/accept`, is collected in a block that is not final.',
  late_payment_undetected: 'That block was reorganised away.',
  late_payment_final: 'That block is canonical and final: the session shows `late: true` for good.',
  settlement_recorded: 'A settlement transaction is stored, not broadcast yet.',
  settlement_final: 'The settlement reached the merchant’s wallet and is final on its chain.',
  settlement_delayed:
    'The settlement was reorganised away, reverted or not mined in time; or the vault is short, the recipient blocked, the token paused by its issuer or not served.',
  payment_returned: 'The whole payment is finally back with its payer.',
  settlement_refunded:
    'The merchant gave the payer some of a settled payment back, finally; `refundedAmount` says how much.',
  return_lost:
    'A reorganisation below finality took back a final return; `refundedAmount` says what is still with the payer.',
  payment_lost:
    'A reorganisation below finality took back the final payment itself; `pendingReason` is `payment_reorged`. Deliver nothing for it.',
  payment_restored:
    'That payment is final again, and its settlement is tried again; `pendingReason` is `reorged` until then.',
  payment_lapsed:
    'That payment did not come back, and a final block of its chain is later than the deadline of its order: the session was not paid.',
  expire:
    'Nothing can pay the session any more: by our clock when no order was signed, else by the time of the chains at a final block.',
  cancel: '`POST /session/checkout/cancel`.',
};

/** States and transitions. Those of sessions come from the table that the service uses. */
export function statePage(): DocsPage {
  return {
    path: '/docs/states',
    title: 'States and transitions',
    summary:
      'How every stored status moves: sessions, products, accounts, links, refunds, webhooks, settlements and transactions.',
    blocks: [...sessionBlocks(), ...resourceBlocks(), ...agentBlocks(), ...operatorBlocks()],
  };
}

function sessionBlocks(): string[] {
  return [
    heading('Session'),
    table(
      ['Status', 'Meaning'],
      sessionStatuses.map((status) => [`\`${status}\``, statusTexts[status]]),
    ),
    'These are all the moves there are. A trigger that a status does not list is refused.',
    table(
      ['From', 'Trigger', 'Condition', 'To', 'Event'],
      sessionMoves.map(({ from, trigger, signedOnce, to, event }) => [
        `\`${from}\``,
        `\`${trigger}\``,
        signedOnce === undefined ? '' : `\`signedOnce\` = ${signedOnce ? 1 : 0}`,
        from === to ? 'stays' : `\`${to}\``,
        event === undefined ? '' : linkTo(event, '/docs/events', event),
      ]),
    ),
    table(
      ['Trigger', 'What has happened'],
      sessionTriggers.map((trigger) => [`\`${trigger}\``, triggerTexts[trigger]]),
    ),
    `While the status is \`settlement_pending\`, \`pendingReason\` says why: ${pendingReasons
      .map((reason) => `\`${reason}\``)
      .join(', ')}. \`transaction\` is part of a session’s answer once \`paymentSucceededTime\` is set.`,
  ];
}

const webhookTexts: Readonly<Record<WebhookTrigger, string>> = {
  enable: '`POST /webhook/enable`. What waited is sent; `replaySince` sends skipped and failed events again.',
  disable: '`POST /webhook/disable`. What is still to be sent waits; events raised meanwhile are skipped.',
  pause:
    'Repeated failures, or HTTP 410 once. What is still to be sent waits; the merchant’s other webhooks hear of it.',
  remove: '`POST /webhook/remove`. What was still to be sent is skipped.',
};

const deliveryTexts: Readonly<Record<DeliveryTrigger, string>> = {
  accepted: 'The receiver answered with a status from 200 to 299.',
  attempt_failed: 'Any other answer, or none; the schedule has another attempt.',
  attempts_exhausted: 'The last attempt of the schedule failed.',
  webhook_removed: 'The webhook was removed before the delivery was sent.',
  resend: '`POST /webhook/delivery/resend` and `/resend/all`: the schedule begins again.',
  replay: '`POST /webhook/enable` with `replaySince`: the schedule begins again.',
};

function movesTable<Trigger extends string>(
  moves: readonly (Move<string, Trigger> & { readonly condition?: string })[],
  texts: Readonly<Record<Trigger, string>>,
): string {
  return table(
    ['From', 'Trigger', 'To', 'What happens'],
    moves.map(({ from, trigger, to, condition = '' }) => [
      `\`${from}\``,
      `\`${trigger}\``,
      from === to ? 'stays' : `\`${to}\``,
      condition === '' ? texts[trigger] : `${condition}: ${texts[trigger]}`,
    ]),
  );
}

const productTexts: Readonly<Record<ProductTrigger, string>> = {
  archive: '`POST /product/archive`. Links that show it are disabled; open sessions stay payable.',
  unarchive: '`POST /product/unarchive`. Its links stay disabled until they are enabled.',
  remove: '`POST /product/remove`. Refused once a payment link has shown it (100305).',
};

const linkTexts: Readonly<Record<LinkTrigger, string>> = {
  disable: '`POST /payment/link/disable`. Its page shows `customDisabledText`.',
  enable:
    '`POST /payment/link/enable`. Refused while a product is archived, and while a limit disables the link.',
  product_archived: 'A product that it shows is archived.',
  account_removed: 'Its account is removed.',
  limit_reached: 'So many of its payments are final as `maxPayments` allows. Open sessions stay payable.',
  ended: 'Its `activeUntil` has come. Open sessions stay payable.',
  delete: 'A member deletes it in the dashboard: reads answer 100102, and open sessions stay payable.',
};

const accountTexts: Readonly<Record<AccountTrigger, string>> = {
  update: 'Its name, tokens or settlement mode is changed.',
  change_address:
    'A change of its wallet takes effect after the delay: new payments go to the new address, under a new `version`.',
  remove:
    'The wallet is removed, in the dashboard or by the operator. Its links are disabled; open sessions stay payable.',
};

const accountChangeTexts: Readonly<Record<AccountChangeTrigger, string>> = {
  take_effect: 'The delay has passed.',
  cancel: 'A member cancels it in the dashboard.',
  refuse: 'The delay has passed, and the account cannot be made or changed any more.',
};

const refundTexts: Readonly<Record<RefundTrigger, string>> = {
  payment_returned: 'The whole payment is finally back with its payer.',
  payment_settled: 'The order was settled first: the money went to the merchant.',
  settlement_refunded:
    'The merchant’s wallet has finally sent this amount of a settled payment back. Of several refunds of the amount the one counts that a wallet was asked to sign, else the oldest, a cancelled one only where no other waits.',
  amount_exceeded: 'So much of the payment went back since that this amount cannot any more.',
  cancel:
    '`POST /refund/cancel`. Refused once a wallet was asked in the dashboard to sign it, or the chain shows its return.',
  payment_return_lost:
    'A reorganisation below finality took back the block in which the service, or the payer, returned the payment. The service sends it again.',
  settlement_return_lost: 'The same of the block with the return by the merchant’s wallet.',
  cancelled_return_lost: 'The same, and the merchant had cancelled the refund before that return.',
};

const reportTexts: Readonly<Record<ReportTrigger, string>> = {
  finish: 'The file is whole.',
  fail: 'It has too many rows, or its steps kept failing: `reason` says which.',
};

const exceptionTexts: Readonly<Record<ExceptionTrigger, string>> = {
  marked_resolved: '`POST /exception/resolve`. Refused while a decision is awaited.',
  money_placed: 'A final event shows the money back with its payer, or as the payment.',
  return_lost:
    'A reorganisation below finality took back the event that showed the money back with its payer.',
  money_lost: 'A reorganisation below finality took back the money, and no block has it: `isGone` says so.',
  money_back: 'A final block has that money again.',
};

const legTexts: Readonly<Record<LegTrigger, string>> = {
  transaction_recorded: 'A signed transaction that carries the leg is stored, not broadcast yet.',
  delayed:
    'Its transaction failed or will never be mined, or none could be made: it is tried again later and later.',
  concluded: 'The chain shows, finally, that it happened or never can; or a refund has taken its place.',
  event_lost: 'The final event that showed it is gone.',
  event_lost_transaction_pending: 'The same, while the transaction that made it is followed again.',
};

const sentTexts: Readonly<Record<SentTrigger, string>> = {
  execution_succeeded: 'A final block has the transaction, and it succeeded.',
  execution_reverted: 'A final block has the transaction, and it was reverted.',
  nonce_taken: 'A final block has another transaction of the wallet with its nonce.',
  block_taken_back: 'The final block that contained it was reverted, after an operator’s decision.',
};

const depositTexts: Readonly<Record<DepositMoveTrigger, string>> = {
  repeated: 'The move is due once more, and a further transaction that makes it is stored.',
  transaction_succeeded: 'Its transaction has succeeded.',
  transaction_failed: 'Its transaction was reverted, or another one took its nonce.',
  wallet_dropped: 'The wallet that sent it is configured no more, and its transaction has no outcome.',
  outcome_taken_back: 'The final block that contained its transaction was reverted.',
};

/** What operators meet in the log and in the database. */
function operatorBlocks(): string[] {
  return [
    heading('Settlement leg'),
    'A leg is one thing that must happen on one chain for a paid order: settle, payout, mint or refund. `florin settlement list` shows those that wait for something.',
    movesTable(legMoves, legTexts),
    heading('Sent transaction'),
    movesTable(sentMoves, sentTexts),
    heading('Deposit move'),
    'A move collects a deposit, adds what it lacks, or sends it back. Additions are money of the operator: they are made once.',
    movesTable(
      depositMoveTransitions.map(({ from, trigger, to, isAddition }) => ({
        ...{ from, trigger, to },
        condition: isAddition === undefined ? '' : isAddition ? 'Additions' : 'Collections and returns',
      })),
      depositTexts,
    ),
  ];
}

function resourceBlocks(): string[] {
  return [
    heading('Product'),
    movesTable(productMoves, productTexts),
    '`removed` is the end: the product is not found any more (100306).',
    heading('Account'),
    movesTable(accountMoves, accountTexts),
    '`removed` is the end: new links and sessions refuse the account (100402).',
    heading('Planned change of an account'),
    'An added wallet and another address wait before they take effect, except a merchant’s first wallet.',
    movesTable(accountChangeMoves, accountChangeTexts),
    heading('Payment link'),
    movesTable(linkMoves, linkTexts),
    heading('Refund'),
    movesTable(refundMoves, refundTexts),
    heading('Report'),
    movesTable(reportMoves, reportTexts),
    heading('Exception'),
    movesTable(exceptionMoves, exceptionTexts),
    heading('Webhook'),
    movesTable(webhookMoves, webhookTexts),
    '`removed` is the end: the webhook is not found any more (100501).',
    heading('Delivery'),
    movesTable(deliveryMoves, deliveryTexts),
    'An action on something that is already in the wanted state succeeds and raises no event.',
  ];
}

function agentBlocks(): string[] {
  return [
    heading('AI protocol'),
    table(
      ['Stage', 'Next action', 'Signature', 'What to do'],
      Object.values(agentMoves).map(({ stage, action, description }) => [
        `\`${stage}\``,
        `\`${action}\``,
        isSigned(action) ? 'yes' : 'no',
        description,
      ]),
    ),
  ];
}
