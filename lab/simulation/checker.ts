import { orderKinds } from '@florin/protocol/order.ts';
import type { Chain } from '@florin/server/operator';
import type pg from 'pg';
import { zeroHash } from 'viem';
import { checkAdditions } from './addition-check.ts';
import { blockAt } from './chain-model.ts';
import { unlimited } from './configuration.ts';
import { balanceOf } from './contract-state.ts';
import { holdsMoney } from './open-work.ts';
import {
  type ReportViolation,
  readStoredHistory,
  type StoredHistory,
  type StoredSessionState,
} from './stored-state.ts';
import { checkWebhooks } from './webhook-check.ts';
import { type ModelEvent, modelEventsOf, type World } from './world.ts';

/** The violations once the service is idle. Empty when there are none. */
export async function check(world: World, client: pg.Client): Promise<string[]> {
  const stored = await readStoredHistory(client);
  const events = modelEventsOf(world);
  const wasRestored = world.options.scenario.restore !== undefined;
  const violations = [
    ...world.violations,
    ...(await checkFinalEvents(world, client)),
    ...(await checkReturns(client)),
  ];
  const report = (violation: string) => violations.push(violation);
  for (const id of stored.halted) report(`chain ${id} is halted without a reason`);
  checkAtMostOnce(events, report);
  for (const session of stored.sessions) {
    checkSession(session, stored, events, report);
    // A restore loses refunds that were requested after the backup. The exception informs the merchant.
    const expected =
      count(events, session.orderId, 'Refunded') + count(events, session.orderId, 'SettlementRefunded');
    if (!wasRestored && session.refunds !== expected)
      report(`${session.sessionId}: ${session.refunds} refunds completed, ${expected} on chain`);
  }
  checkLedger(world, stored, report);
  for (const violation of await checkPaymentCounts(client)) report(violation);
  if (!wasRestored) {
    checkOrdersKnown(stored, events, report);
    checkDeposits(world, stored, events, report);
    await checkAdditions(world, client, report);
    checkSent(world, stored, report);
    checkWebhooks(world.receiver.received, stored, report);
  }
  return violations;
}

/** The id of the last transaction that the service has recorded. */
export async function lastTransactionId(client: pg.Client): Promise<bigint> {
  const { rows } = await client.query<{ id: bigint | null }>(
    'select max(transaction_id) as id from sent_transactions',
  );
  return rows[0]?.id ?? 0n;
}

/**
 * Invariants that hold even where final events have disappeared: nothing happens twice, and no event refers to an
 * abandoned branch. The service sends nothing after `lastSentBefore` for a payment that does not exist.
 */
export async function checkLostEvents(
  world: World,
  client: pg.Client,
  lastSentBefore: bigint,
): Promise<string[]> {
  const violations = [
    ...world.violations,
    ...(await checkFinalEvents(world, client)),
    ...(await checkReturns(client)),
  ];
  checkAtMostOnce(modelEventsOf(world), (violation) => violations.push(violation));
  const { rows } = await client.query<{ leg: string; id: string }>(
    `select l.leg, l.order_id as id from settlements l
     where l.transaction_id > $1 and exists (
       select from dropped_events d where d.order_id = l.order_id and d.event_name = 'Paid' and d.returned_at is null)`,
    [lastSentBefore],
  );
  for (const { leg, id } of rows)
    violations.push(`order ${id.slice(0, 10)}: ${leg} sent although its payment is lost`);
  return [...violations, ...(await checkLostPayments(client))];
}

/** A session says that its payment is gone exactly when it is, unless its merchant was paid from another contract. */
async function checkLostPayments(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ what: string }>(
    `with lost as (select order_id from dropped_events where event_name = 'Paid' and returned_at is null)
     select session_id || ' is ' || status || ' ' || pending_reason || ' although its payment is lost' as what from sessions s
     where order_id in (select order_id from lost)
       and not (status = 'settlement_pending' and pending_reason = 'payment_reorged')
       and not (status = 'expired' and payment_succeeded_at is null)
       and not exists (select from chain_events e where e.order_id = s.order_id and e.event_name in ('PaidOut', 'Minted'))
     union all
     select session_id || ' says that its payment is lost, which is not' from sessions
     where pending_reason = 'payment_reorged' and order_id not in (select order_id from lost)`,
  );
  return rows.map(({ what }) => what);
}

/** Payments, settlements and chain anchors that the service calls final although no canonical branch has them. */
export async function checkFinalEvents(world: World, client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ id: bigint; number: bigint; hash: string; what: string }>(
    `select chain_id as id, block_number as number, block_hash as hash,
       event_name || ' of order ' || left(order_id, 10) as what
     from chain_events where is_final
     union all
     select chain_id, final_number, final_hash, 'the anchor' from chain_cursors where final_hash <> ''`,
  );
  return rows.flatMap(({ id, number, hash, what }) => {
    const model = world.models.find(({ chain }) => BigInt(chain.chainId) === id);
    const isCanonical = model === undefined || blockAt(model.head, Number(number))?.hash === hash;
    return isCanonical ? [] : [`${what} is final in block ${number}, which is not on its chain`];
  });
}

/** Nothing is told as back with its payer without a final return, and no return of a session's own payment is left out. */
async function checkReturns(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ what: string }>(
    `with returns as (
       select order_id, tx_hash from chain_events
       where is_final and event_name in ('Refunded', 'Reclaimed', 'SettlementRefunded')
     )
     select 'refund ' || refund_id || ' is completed and has no final return' as what from refunds r
     where status = 'completed' and not exists (select from returns where order_id = r.order_id and tx_hash = r.tx_hash)
     union all
     select session_id || ' shows ' || refunded_amount || ' as returned and has no final return' from sessions s
     where refunded_amount > 0 and not exists (select from returns where order_id = s.order_id)
     union all
     select session_id || ' has a final return and shows none' from sessions s
     where refunded_amount = 0 and exists (select from returns where order_id = s.order_id)`,
  );
  return rows.map(({ what }) => what);
}

/**
 * A chain is halted exactly when one of its final events is no longer final. The service sends nothing on a halted
 * chain.
 */
export async function checkHalted(world: World, client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ id: bigint; number: bigint; hash: string; reason: string }>(
    `select chain_id as id, final_number as number, final_hash as hash, halted_reason as reason from chain_cursors`,
  );
  return rows.flatMap(({ id, number, hash, reason }) => {
    const model = world.models.find(({ chain }) => BigInt(chain.chainId) === id);
    const isCanonical = model !== undefined && blockAt(model.head, Number(number))?.hash === hash;
    if (isCanonical && reason !== '') return [`chain ${id} is halted without a reason`];
    return isCanonical || reason !== ''
      ? []
      : [`chain ${id} continues from a final block that its chain no longer has`];
  });
}

/** Every link has counted each of its paid sessions once. */
async function checkPaymentCounts(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ linkId: string; counted: bigint; paid: bigint }>(
    `select link_id as "linkId", payment_count as counted, count(session_id) as paid
     from links left join sessions on business_id = link_id and payment_succeeded_at is not null
     group by link_id`,
  );
  return rows.flatMap(({ linkId, counted, paid }) =>
    counted === paid ? [] : [`${linkId} has counted ${counted} payments of ${paid}`],
  );
}

function count(events: readonly ModelEvent[], orderId: string, name: string): number {
  return events.filter((event) => event.orderId === orderId && event.name === name).length;
}

/** Events that an order has at most once. Receiving a CCTP message mints. */
const atMostOnceEvents = [
  'Paid',
  'Settled',
  'PaidOut',
  'Refunded',
  'Reclaimed',
  'Burnt',
  'MessageReceived',
  'Collected',
];

/** Regardless of the service: each order is settled, paid out, minted and returned at most once. */
function checkAtMostOnce(events: readonly ModelEvent[], report: ReportViolation): void {
  for (const orderId of new Set(events.map((event) => event.orderId))) {
    if (orderId === zeroHash) continue;
    for (const name of atMostOnceEvents) {
      if (count(events, orderId, name) > 1)
        report(`order ${orderId.slice(0, 10)} has ${name} more than once`);
    }
    const outcomes = ['Settled', 'Refunded', 'Reclaimed'].filter((name) => count(events, orderId, name) > 0);
    if (outcomes.length > 1) report(`order ${orderId.slice(0, 10)} is ${outcomes.join(' and ')}`);
  }
}

/** Each session matches the chains, and every payment has reached its destination exactly once. */
function checkSession(
  session: StoredSessionState,
  stored: StoredHistory,
  events: readonly ModelEvent[],
  report: ReportViolation,
): void {
  const name = `session ${session.sessionId.slice(0, 12)} (${session.status})`;
  const orders = stored.orders.filter((order) => order.sessionId === session.sessionId);
  const paid = orders.filter((order) => count(events, order.orderId, 'Paid') > 0);
  if (paid.length === 0) {
    if (!['expired', 'cancelled'].includes(session.status)) report(`${name} was never paid`);
    return;
  }
  const ownOrder = paid.find((order) => order.orderId === session.orderId);
  if (ownOrder === undefined) {
    report(`${name} is paid on chain by ${paid.length} orders, not by its own`);
    return;
  }
  const returns = count(events, ownOrder.orderId, 'Refunded') + count(events, ownOrder.orderId, 'Reclaimed');
  const settled = count(events, ownOrder.orderId, 'Settled');
  if (returns > 0) {
    if (session.status !== 'paid' || settled > 0)
      report(`${name} was returned and has ${settled} settlements`);
    if (session.refunded !== session.total)
      report(`${name} shows ${session.refunded} of ${session.total} returned`);
  } else {
    if (session.status !== 'completed') report(`${name} is paid and not completed`);
    if (settled !== (ownOrder.orderType === orderKinds.direct ? 0 : 1))
      report(`${name} has ${settled} settlements`);
    const isVault = ownOrder.orderType === orderKinds.vaultPayout;
    const isCctp = ownOrder.orderType === orderKinds.cctp;
    const arrivals = [
      count(events, ownOrder.orderId, 'PaidOut'),
      count(events, ownOrder.orderId, 'MessageReceived'),
    ];
    if (arrivals[0] !== (isVault ? 1 : 0)) report(`${name} has ${arrivals[0]} payouts`);
    if (arrivals[1] !== (isCctp ? 1 : 0)) report(`${name} has ${arrivals[1]} mints`);
    const refundsAfterSettlement = count(events, ownOrder.orderId, 'SettlementRefunded');
    if (refundsAfterSettlement > 1)
      report(`${name} was refunded ${refundsAfterSettlement} times after its settlement`);
    if (session.refunded !== (refundsAfterSettlement === 1 ? session.total : 0n))
      report(`${name} shows ${session.refunded} returned`);
  }
  for (const other of paid.filter((order) => order !== ownOrder)) {
    const returns = count(events, other.orderId, 'Refunded') + count(events, other.orderId, 'Reclaimed');
    const settlements = count(events, other.orderId, 'Settled');
    if (returns + settlements !== 1)
      report(`${name}: a second payment was returned ${returns} times and settled ${settlements} times`);
    if (count(events, other.orderId, 'PaidOut') > 0) report(`${name}: a second payment was paid out`);
    // The merchant has to return a payment that a stranger burnt, so the money must reach the merchant.
    const isCctp = other.orderType === orderKinds.cctp;
    const delivered = count(events, other.orderId, 'MessageReceived');
    if (delivered !== (isCctp ? settlements : 0))
      report(`${name}: a second payment was minted ${delivered} times`);
  }
}

/**
 * The entries sum to zero per asset and match the balances of gateway and vault per chain. Every transfer has its
 * entry, also those of unknown orders.
 */
function checkLedger(world: World, stored: StoredHistory, report: ReportViolation): void {
  const { isVaultEmpty } = world.options.scenario;
  for (const { chain, head } of world.models) {
    const [token] = chain.tokens;
    if (token === undefined) continue;
    const asset = token.tokenId;
    let sum = 0n;
    for (const [key, total] of stored.balances) if (key.endsWith(` ${asset}`)) sum += total;
    if (sum !== 0n) report(`the ledger of ${asset} sums to ${sum}`);
    const booked = (account: string) => stored.balances.get(`${account} ${asset}`) ?? 0n;
    const held = balanceOf(head.state, chain.gateway, token.address);
    if (booked('gateway') !== held)
      report(`the gateway of ${chain.name} holds ${held}, the ledger says ${booked('gateway')}`);
    if (booked('bridge') !== 0n) report(`${booked('bridge')} of ${asset} are burnt and not minted`);
    const inVault = balanceOf(head.state, chain.vault, token.address);
    const float = inVault - (isVaultEmpty ? 0n : unlimited);
    if (wasDropped(world, chain)) {
      // If the token was dropped before the first comparison, the books open with the contracts' balances after its
      // return.
      if (booked('vault') !== inVault && booked('vault') !== float)
        report(`the vault of ${chain.name} holds ${inVault}, the ledger says ${booked('vault')}`);
      continue;
    }
    const opened = (account: string) => stored.openings.get(`${account} ${asset}`) ?? 0n;
    if (opened('vault') !== (isVaultEmpty ? 0n : unlimited) && opened('vault') !== 0n)
      report(`the books of the vault of ${chain.name} opened with ${opened('vault')}`);
    if (opened('gateway') !== 0n || opened('fees') !== 0n)
      report(
        `the books of the gateway of ${chain.name} opened with ${opened('gateway')}, fees ${opened('fees')}`,
      );
    if (booked('vault') - opened('vault') !== float)
      report(
        `the vault of ${chain.name} has ${float} more than at the start, the ledger says ${booked('vault')}`,
      );
  }
}

function wasDropped({ models, options }: World, chain: Chain): boolean {
  const changes = options.scenario.policy?.changes ?? [];
  return chain === models[0]?.chain && changes.some(({ change }) => change === 'token');
}

/** Deposit addresses are empty at the end. Every return from one is reported and closed. */
function checkDeposits(
  world: World,
  stored: StoredHistory,
  events: readonly ModelEvent[],
  report: ReportViolation,
): void {
  for (const deposit of world.deposits)
    if (holdsMoney(world, deposit)) report(`money is left at the deposit address ${deposit.receiver}`);
  for (const { orderId } of events.filter(({ name }) => name === 'Rescued')) {
    if (!stored.exceptions.has(`${orderId} resolved`))
      report(`order ${orderId.slice(0, 10)}: a rescue without a resolved exception`);
  }
}

function checkOrdersKnown(
  stored: StoredHistory,
  events: readonly ModelEvent[],
  report: ReportViolation,
): void {
  const known = new Set(stored.orders.map((order) => order.orderId));
  for (const event of events) {
    if (event.name === 'Paid' && !known.has(event.orderId)) report(`order ${event.orderId} is unknown`);
  }
}

/** The database knows every transaction that the service has sent. */
function checkSent(world: World, stored: StoredHistory, report: ReportViolation): void {
  for (const model of world.models) {
    for (const hash of model.ownHashes) {
      if (!stored.attempts.has(hash))
        report(`${model.chain.name} received transaction ${hash}, which is not stored`);
    }
  }
}

/** The event by which the merchant has the money, by type of order. */
const arrivalEvents: Readonly<Record<number, string>> = {
  [orderKinds.direct]: 'Paid',
  [orderKinds.vaultPayout]: 'PaidOut',
  [orderKinds.cctp]: 'MessageReceived',
};

/** Invariant at every moment: the service reports nothing and pays nothing out before the chain is final. */
export function watchFinality(world: World): void {
  const { scenario } = world.options;
  if (scenario.deepReorgMs !== undefined) return;
  const isFinal = (orderId: string, name: string) =>
    modelEventsOf(world).some((event) => event.orderId === orderId && event.name === name && event.isFinal);
  world.receiver.onEvent = ({ type, eventId, objectId }) => {
    if (type !== 'session.paid' && type !== 'session.completed') return;
    const body = JSON.parse(world.receiver.bodies.get(eventId) ?? '{}') as {
      data?: { transaction?: { orderId?: string; orderType?: number } };
    };
    const orderId = body.data?.transaction?.orderId ?? '';
    if (!isFinal(orderId, 'Paid')) world.reportViolation(`${objectId}: ${type} before the payment was final`);
    const orderType = body.data?.transaction?.orderType ?? orderKinds.escrow;
    const isDone = isFinal(orderId, arrivalEvents[orderType] ?? 'Settled');
    if (type === 'session.completed' && !isDone)
      world.reportViolation(`${objectId}: ${type} before the settlement was final`);
  };
  for (const model of world.models) {
    model.onBlock = (block) => {
      for (const { logs } of block.transactions) {
        for (const { name, orderId } of logs) {
          if (name === 'PaidOut' && !isFinal(orderId, 'Settled'))
            world.reportViolation(`order ${orderId.slice(0, 10)}: paid out before its settlement was final`);
        }
      }
    };
  }
}
