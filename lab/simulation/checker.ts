import { orderKinds } from '@florin/protocol/order.ts';
import type { Chain } from '@florin/server/operator';
import type pg from 'pg';
import { zeroHash } from 'viem';
import { checkAdditions } from './addition-check.ts';
import { blockAt } from './chain-model.ts';
import { unlimited } from './configuration.ts';
import { balanceOf } from './contract-state.ts';
import { holdsMoney } from './open-work.ts';
import type { Received } from './receiver-model.ts';
import { type ChainEvent, chainEventsOf, type World } from './world.ts';

interface SessionState {
  readonly sessionId: string;
  readonly status: string;
  readonly orderId: string;
  readonly refunds: number;
  /** In Micro-USD: the refunded amount, and the total paid. */
  readonly refunded: bigint;
  readonly total: bigint;
}

interface OrderState {
  readonly orderId: string;
  readonly sessionId: string;
  readonly orderType: number;
}

/** The contents of the database when a history is over. */
interface StoredState {
  /** Order and status of each exception. */
  readonly exceptions: ReadonlySet<string>;
  readonly sessions: readonly SessionState[];
  readonly orders: readonly OrderState[];
  readonly balances: ReadonlyMap<string, bigint>;
  /** Opening balances of the books: what the contracts held before the history. */
  readonly openings: ReadonlyMap<string, bigint>;
  readonly attempts: ReadonlySet<string>;
  readonly halted: ReadonlySet<number>;
  readonly webhookEvents: readonly {
    readonly objectId: string;
    readonly sequence: number;
    readonly type: string;
  }[];
}

async function readStoredState(client: pg.Client): Promise<StoredState> {
  const sessions = await client.query<SessionState>(
    `select session_id as "sessionId", status, order_id as "orderId",
       (select count(*)::int from refunds r where r.session_id = s.session_id and r.status = 'completed') as refunds,
       refunded_amount as refunded,
       coalesce((select total_value from orders o where o.order_id = s.order_id), 0) as total
     from sessions s order by ordinal`,
  );
  const orders = await client.query<OrderState>(
    `select order_id as "orderId", session_id as "sessionId", order_type as "orderType" from orders`,
  );
  const balances = await client.query<{ account: string; asset: string; total: bigint }>(
    `select split_part(ledger_account, ':', 1) as account, asset, sum(amount) as total from ledger_postings
     group by 1, 2`,
  );
  const openings = await client.query<{ account: string; asset: string; total: bigint }>(
    `select split_part(ledger_account, ':', 1) as account, asset, sum(amount) as total
     from ledger_postings join ledger_entries using (entry_id) where kind = 'opening' group by 1, 2`,
  );
  const attempts = await client.query<{ hash: string }>('select tx_hash as hash from sent_attempts');
  const halted = await client.query<{ id: bigint }>(
    `select chain_id as id from chain_cursors where halted_reason <> ''`,
  );
  const webhookEvents = await client.query<{ objectId: string; sequence: bigint; type: string }>(
    `select object_id as "objectId", sequence, event_type as type from events
     where event_type like 'session.%' or event_type like 'refund.%' order by object_id, sequence`,
  );
  const exceptions = await client.query<{ said: string }>(
    `select order_id || ' ' || status as said from exceptions`,
  );
  return {
    exceptions: new Set(exceptions.rows.map(({ said }) => said)),
    sessions: sessions.rows,
    orders: orders.rows,
    balances: new Map(balances.rows.map((row) => [`${row.account} ${row.asset}`, row.total])),
    openings: new Map(openings.rows.map((row) => [`${row.account} ${row.asset}`, row.total])),
    attempts: new Set(attempts.rows.map(({ hash }) => hash)),
    halted: new Set(halted.rows.map(({ id }) => Number(id))),
    webhookEvents: webhookEvents.rows.map((row) => ({ ...row, sequence: Number(row.sequence) })),
  };
}

/** The violations once the service is idle. Empty when there are none. */
export async function check(world: World, client: pg.Client): Promise<string[]> {
  const stored = await readStoredState(client);
  const chainEvents = chainEventsOf(world);
  const wasRestored = world.options.scenario.restore !== undefined;
  const violations = [...world.violations, ...(await checkFinalEvents(world, client))];
  const report = (violation: string) => violations.push(violation);
  for (const id of stored.halted) report(`chain ${id} is halted without a reason`);
  checkAtMostOnce(chainEvents, report);
  for (const session of stored.sessions) {
    checkSession(session, stored, chainEvents, report);
    // A restore loses refunds that were requested after the backup. The exception tells the merchant.
    const expected =
      count(chainEvents, session.orderId, 'Refunded') +
      count(chainEvents, session.orderId, 'SettlementRefunded');
    if (!wasRestored && session.refunds !== expected)
      report(`${session.sessionId}: ${session.refunds} refunds completed, ${expected} on chain`);
  }
  checkLedger(world, stored, report);
  if (!wasRestored) {
    checkOrdersKnown(stored, chainEvents, report);
    checkDeposits(world, stored, chainEvents, report);
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
 * abandoned branch. Nothing is sent after `sentBefore` for a payment that does not exist.
 */
export async function checkLostEvents(
  world: World,
  client: pg.Client,
  lastSentBefore: bigint,
): Promise<string[]> {
  const violations = [...world.violations, ...(await checkFinalEvents(world, client))];
  checkAtMostOnce(chainEventsOf(world), (violation) => violations.push(violation));
  const { rows } = await client.query<{ leg: string; id: string }>(
    `select l.leg, l.order_id as id from settlements l
     where l.transaction_id > $1 and exists (
       select from dropped_events d where d.order_id = l.order_id and d.event_name = 'Paid' and d.returned_at is null)`,
    [lastSentBefore],
  );
  for (const { leg, id } of rows)
    violations.push(`order ${id.slice(0, 10)}: ${leg} sent while its payment was gone`);
  return violations;
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
    return isCanonical || reason !== '' ? [] : [`chain ${id} goes on from a final block that is no more`];
  });
}

type Report = (violation: string) => void;

function count(chainEvents: readonly ChainEvent[], orderId: string, name: string): number {
  return chainEvents.filter((event) => event.orderId === orderId && event.name === name).length;
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
function checkAtMostOnce(chainEvents: readonly ChainEvent[], report: Report): void {
  for (const orderId of new Set(chainEvents.map((event) => event.orderId))) {
    if (orderId === zeroHash) continue;
    for (const name of atMostOnceEvents) {
      if (count(chainEvents, orderId, name) > 1)
        report(`order ${orderId.slice(0, 10)} has ${name} more than once`);
    }
    const outcomes = ['Settled', 'Refunded', 'Reclaimed'].filter(
      (name) => count(chainEvents, orderId, name) > 0,
    );
    if (outcomes.length > 1) report(`order ${orderId.slice(0, 10)} is ${outcomes.join(' and ')}`);
  }
}

/** Each session matches the chains, and every payment has reached its destination exactly once. */
function checkSession(
  session: SessionState,
  stored: StoredState,
  chainEvents: readonly ChainEvent[],
  report: Report,
): void {
  const name = `session ${session.sessionId.slice(0, 12)} (${session.status})`;
  const orders = stored.orders.filter((order) => order.sessionId === session.sessionId);
  const paid = orders.filter((order) => count(chainEvents, order.orderId, 'Paid') > 0);
  if (paid.length === 0) {
    if (!['expired', 'cancelled'].includes(session.status)) report(`${name} was never paid`);
    return;
  }
  const ownOrder = paid.find((order) => order.orderId === session.orderId);
  if (ownOrder === undefined) {
    report(`${name} is paid on chain by ${paid.length} orders, not by its own`);
    return;
  }
  const returns =
    count(chainEvents, ownOrder.orderId, 'Refunded') + count(chainEvents, ownOrder.orderId, 'Reclaimed');
  const settled = count(chainEvents, ownOrder.orderId, 'Settled');
  if (returns > 0) {
    if (session.status !== 'paid' || settled > 0) report(`${name} went back, and ${settled} settled`);
    if (session.refunded !== session.total)
      report(`${name} shows ${session.refunded} of ${session.total} gone back`);
  } else {
    if (session.status !== 'completed') report(`${name} is paid and not completed`);
    if (settled !== (ownOrder.orderType === orderKinds.direct ? 0 : 1))
      report(`${name} has ${settled} settlements`);
    const isVault = ownOrder.orderType === orderKinds.vaultPayout;
    const isCctp = ownOrder.orderType === orderKinds.cctp;
    const arrivals = [
      count(chainEvents, ownOrder.orderId, 'PaidOut'),
      count(chainEvents, ownOrder.orderId, 'MessageReceived'),
    ];
    if (arrivals[0] !== (isVault ? 1 : 0)) report(`${name} has ${arrivals[0]} payouts`);
    if (arrivals[1] !== (isCctp ? 1 : 0)) report(`${name} has ${arrivals[1]} mints`);
    const refundsAfterSettlement = count(chainEvents, ownOrder.orderId, 'SettlementRefunded');
    if (refundsAfterSettlement > 1) report(`${name} was given back ${refundsAfterSettlement} times`);
    if (session.refunded !== (refundsAfterSettlement === 1 ? session.total : 0n))
      report(`${name} shows ${session.refunded} gone back`);
  }
  for (const other of paid.filter((order) => order !== ownOrder)) {
    const returns =
      count(chainEvents, other.orderId, 'Refunded') + count(chainEvents, other.orderId, 'Reclaimed');
    const settlements = count(chainEvents, other.orderId, 'Settled');
    if (returns + settlements !== 1)
      report(`${name}: a second payment went back ${returns}, was settled ${settlements} times`);
    if (count(chainEvents, other.orderId, 'PaidOut') > 0) report(`${name}: a second payment was paid out`);
    // The merchant has to return a payment that a stranger burnt, so the money must reach the merchant.
    const isCctp = other.orderType === orderKinds.cctp;
    const delivered = count(chainEvents, other.orderId, 'MessageReceived');
    if (delivered !== (isCctp ? settlements : 0))
      report(`${name}: a second payment was minted ${delivered} times`);
  }
}

/**
 * The entries sum to zero per asset and match the balances of gateway and vault per chain. Every transfer has its
 * entry, also those of unknown orders.
 */
function checkLedger(world: World, stored: StoredState, report: Report): void {
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
      report(`the books of the vault of ${chain.name} began with ${opened('vault')}`);
    if (opened('gateway') !== 0n || opened('fees') !== 0n)
      report(
        `the books of the gateway of ${chain.name} began with ${opened('gateway')}, fees ${opened('fees')}`,
      );
    if (booked('vault') - opened('vault') !== float)
      report(
        `the vault of ${chain.name} has ${float} more than at first, the ledger says ${booked('vault')}`,
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
  stored: StoredState,
  chainEvents: readonly ChainEvent[],
  report: Report,
): void {
  for (const deposit of world.deposits)
    if (holdsMoney(world, deposit)) report(`something lies at the deposit address ${deposit.receiver}`);
  for (const { orderId } of chainEvents.filter(({ name }) => name === 'Rescued')) {
    if (!stored.exceptions.has(`${orderId} resolved`))
      report(`order ${orderId.slice(0, 10)}: a rescue that nobody told`);
  }
}

function checkOrdersKnown(stored: StoredState, chainEvents: readonly ChainEvent[], report: Report): void {
  const known = new Set(stored.orders.map((order) => order.orderId));
  for (const event of chainEvents) {
    if (event.name === 'Paid' && !known.has(event.orderId)) report(`order ${event.orderId} is unknown`);
  }
}

/** The database knows every transaction that the service has sent. */
function checkSent(world: World, stored: StoredState, report: Report): void {
  for (const model of world.models) {
    for (const hash of model.ownHashes) {
      if (!stored.attempts.has(hash)) report(`${model.chain.name} was given ${hash}, which is not stored`);
    }
  }
}

/** Webhooks arrive at least once, in order per object and without gaps, and report exactly one payment. */
function checkWebhooks(received: readonly Received[], stored: StoredState, report: Report): void {
  const lastSequence = new Map<string, number>();
  const ids = new Map<string, string>();
  for (const event of received) {
    if (event.objectId === '') continue;
    const last = lastSequence.get(event.objectId) ?? 0;
    if (event.sequence > last + 1) report(`${event.objectId}: event ${event.sequence} came after ${last}`);
    lastSequence.set(event.objectId, Math.max(last, event.sequence));
    const eventKey = `${event.objectId} ${event.sequence}`;
    if ((ids.get(eventKey) ?? event.eventId) !== event.eventId) report(`${eventKey} came under two ids`);
    ids.set(eventKey, event.eventId);
  }
  const paidEvents = received.filter(({ type }) => type === 'session.paid');
  for (const session of stored.sessions) {
    const { sessionId, orderId } = session;
    const storedEvents = stored.webhookEvents.filter(({ objectId }) => objectId === sessionId);
    if ((lastSequence.get(sessionId) ?? 0) < storedEvents.length)
      report(`${sessionId}: ${storedEvents.length} events, ${lastSequence.get(sessionId) ?? 0} came`);
    const paid = new Set(
      paidEvents.filter(({ objectId }) => objectId === sessionId).map(({ eventId }) => eventId),
    );
    if (paid.size !== (orderId === '' ? 0 : 1)) report(`${sessionId}: session.paid came ${paid.size} times`);
    checkEventTypes(
      session,
      storedEvents.map(({ type }) => type),
      report,
    );
  }
}

/** The last event that the merchant must receive for a finished session, by its status. */
const lastEventTypes: Readonly<Record<string, string>> = {
  completed: 'session.completed',
  expired: 'session.expired',
  cancelled: 'session.cancelled',
};

function checkEventTypes(session: SessionState, types: readonly string[], report: Report): void {
  const { sessionId, status } = session;
  if (types[0] !== 'session.created') report(`${sessionId} begins with ${types[0] ?? 'nothing'}`);
  const expected = lastEventTypes[status];
  const last = types.filter((type) => type !== 'session.exception').at(-1);
  if (expected !== undefined && last !== expected)
    report(`${sessionId} is ${status}, and its events end with ${last}`);
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
    chainEventsOf(world).some((event) => event.orderId === orderId && event.name === name && event.isFinal);
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
