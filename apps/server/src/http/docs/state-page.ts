import { agentMoves } from '@florin/protocol/agent.ts';
import { pendingReasons, type SessionStatus, sessionStatuses } from '@florin/protocol/session.ts';
import { type SessionTrigger, sessionMoves, sessionTriggers } from '#sessions/session.machine.ts';
import { type DeliveryTrigger, deliveryMoves } from '#webhooks/delivery.machine.ts';
import { type WebhookTrigger, webhookMoves } from '#webhooks/webhook.machine.ts';
import { type Block, type DocsPage, heading, linkTo, paragraph, table } from './page.ts';

const statusTexts: Readonly<Record<SessionStatus, string>> = {
  initialized: 'Created, waiting for payment.',
  paid: 'The payment is final on its chain; the money waits in the contract for its settlement, or went back to its payer.',
  settling: 'A settlement is recorded and on its way.',
  completed: 'The money is in the merchant’s wallet, final on its chain.',
  settlement_pending: 'The settlement is delayed; it is retried by itself, and an order settles once.',
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
    'The settlement was reorganised away, reverted or not mined in time; or the vault is short, the recipient blocked, the token paused.',
  payment_returned: 'The whole payment is finally back with its payer.',
  settlement_refunded:
    'The merchant gave the payer some of a settled payment back, finally; `refundedAmount` says how much.',
  expire:
    'Nothing can pay the session any more: by our clock when no order was signed, else by the time of the chains at a final block.',
  cancel: '`POST /session/checkout/cancel`.',
};

/** States and transitions; the moves of sessions are printed from the table that the service runs on. */
export function statePage(): DocsPage {
  return {
    path: '/docs/states',
    title: 'States and transitions',
    summary: 'How sessions, products, links and webhooks move, and what each move raises.',
    section: 'Concepts',
    blocks: [...sessionBlocks(), ...resourceBlocks(), ...agentBlocks()],
  };
}

function sessionBlocks(): Block[] {
  return [
    heading('Session'),
    table(
      ['Status', 'Meaning'],
      sessionStatuses.map((status) => [`\`${status}\``, statusTexts[status]]),
    ),
    paragraph('These are all the moves there are. A trigger that a status does not list is refused.'),
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
    paragraph(
      `While a settlement is delayed, \`pendingReason\` says why: ${pendingReasons
        .map((reason) => `\`${reason}\``)
        .join(', ')}. \`transaction\` is part of a session’s answer once \`paymentSucceededTime\` is set.`,
    ),
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
  moves: readonly { readonly from: string; readonly trigger: Trigger; readonly to: string }[],
  texts: Readonly<Record<Trigger, string>>,
): Block {
  return table(
    ['From', 'Trigger', 'To', 'What happens'],
    moves.map(({ from, trigger, to }) => [
      `\`${from}\``,
      `\`${trigger}\``,
      from === to ? 'stays' : `\`${to}\``,
      texts[trigger],
    ]),
  );
}

function resourceBlocks(): Block[] {
  return [
    heading('Product'),
    table(
      ['From', 'Trigger', 'To', 'Also'],
      [
        [
          '`active`',
          '`POST /product/archive`',
          '`archived`',
          'Links that show it are disabled; open sessions stay payable.',
        ],
        [
          '`archived`',
          '`POST /product/unarchive`',
          '`active`',
          'Its links stay disabled until they are enabled.',
        ],
      ],
    ),
    heading('Payment link'),
    table(
      ['From', 'Trigger', 'To', 'Also'],
      [
        ['`active`', '`POST /payment/link/disable`', '`disabled`', 'Its page shows `customDisabledText`.'],
        ['`disabled`', '`POST /payment/link/enable`', '`active`', 'Refused while a product is archived.'],
        ['`active`', 'A product that it shows is archived', '`disabled`', ''],
        ['`active`', 'Its account is removed', '`disabled`', ''],
      ],
    ),
    heading('Webhook'),
    movesTable(webhookMoves, webhookTexts),
    paragraph('`removed` is the end: the webhook is not found any more (100501).'),
    heading('Delivery'),
    movesTable(deliveryMoves, deliveryTexts),
    paragraph('An action on something that is already in the wanted state succeeds and raises no event.'),
  ];
}

function agentBlocks(): Block[] {
  return [
    heading('AI protocol'),
    table(
      ['Stage', 'Next action', 'Signature', 'What to do'],
      Object.values(agentMoves).map(({ stage, action, authorizationRequired, description }) => [
        `\`${stage}\``,
        `\`${action}\``,
        authorizationRequired ? 'yes' : 'no',
        description,
      ]),
    ),
  ];
}
