import { orderKinds } from '@florin/protocol/order.ts';
import type { Chain } from '@florin/server/operator';
import type pg from 'pg';
import { zeroHash } from 'viem';
import { checkAdditions } from './addition-check.ts';
import { blockAt } from './chain-model.ts';
import { balanceOf } from './contract-state.ts';
import { plenty } from './places.ts';
import type { Received } from './receiver-model.ts';
import { holdsSomething } from './unrest.ts';
import { type Fact, factsOf, type World } from './world.ts';

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
interface Books {
  /** Order and status of each exception. */
  readonly exceptions: ReadonlySet<string>;
  readonly sessions: readonly SessionState[];
  readonly orders: readonly OrderState[];
  readonly balances: ReadonlyMap<string, bigint>;
  /** Opening balances of the books: what the contracts held before the history. */
  readonly openings: ReadonlyMap<string, bigint>;
  readonly attempts: ReadonlySet<string>;
  readonly halted: ReadonlySet<number>;
  readonly events: readonly { readonly objectId: string; readonly sequence: number; readonly type: string }[];
}

async function readBooks(client: pg.Client): Promise<Books> {
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
  const events = await client.query<{ objectId: string; sequence: bigint; type: string }>(
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
    events: events.rows.map((row) => ({ ...row, sequence: Number(row.sequence) })),
  };
}

/** The violations once the service is idle. Empty when there are none. */
export async function check(world: World, client: pg.Client): Promise<string[]> {
  const books = await readBooks(client);
  const facts = factsOf(world);
  const wasRestored = world.options.story.restore !== undefined;
  const problems = [...world.violations, ...(await checkForked(world, client))];
  const say = (problem: string) => problems.push(problem);
  for (const id of books.halted) say(`chain ${id} is halted without a reason`);
  checkOnce(facts, say);
  for (const session of books.sessions) {
    checkSession(session, books, facts, say);
    // A restore loses refunds that were requested after the backup. The exception tells the merchant.
    const wanted =
      count(facts, session.orderId, 'Refunded') + count(facts, session.orderId, 'SettlementRefunded');
    if (!wasRestored && session.refunds !== wanted)
      say(`${session.sessionId}: ${session.refunds} refunds completed, ${wanted} on chain`);
  }
  checkLedger(world, books, say);
  if (!wasRestored) {
    checkOrdersKnown(books, facts, say);
    checkDeposits(world, books, facts, say);
    await checkAdditions(world, client, say);
    checkSent(world, books, say);
    checkWebhooks(world.receiver.received, books, say);
  }
  return problems;
}

/** The id of the last transaction that the service has recorded. */
export async function lastTransaction(client: pg.Client): Promise<bigint> {
  const { rows } = await client.query<{ id: bigint | null }>(
    'select max(transaction_id) as id from sent_transactions',
  );
  return rows[0]?.id ?? 0n;
}

/**
 * Invariants that hold even where final events have disappeared: nothing happens twice, and no event refers to an
 * abandoned branch. Nothing is sent after `sentBefore` for a payment that does not exist.
 */
export async function checkGone(world: World, client: pg.Client, sentBefore: bigint): Promise<string[]> {
  const problems = [...world.violations, ...(await checkForked(world, client))];
  checkOnce(factsOf(world), (problem) => problems.push(problem));
  const { rows } = await client.query<{ leg: string; id: string }>(
    `select l.leg, l.order_id as id from settlements l
     where l.transaction_id > $1 and exists (
       select from dropped_events d where d.order_id = l.order_id and d.event_name = 'Paid' and d.returned_at is null)`,
    [sentBefore],
  );
  for (const { leg, id } of rows)
    problems.push(`order ${id.slice(0, 10)}: ${leg} sent while its payment was gone`);
  return problems;
}

/** Payments, settlements and chain anchors that the service calls final although no canonical branch has them. */
export async function checkForked(world: World, client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ id: bigint; number: bigint; hash: string; what: string }>(
    `select chain_id as id, block_number as number, block_hash as hash,
       event_name || ' of order ' || left(order_id, 10) as what
     from chain_events where is_final
     union all
     select chain_id, final_number, final_hash, 'the anchor' from chain_cursors where final_hash <> ''`,
  );
  return rows.flatMap(({ id, number, hash, what }) => {
    const model = world.models.find(({ chain }) => BigInt(chain.chainId) === id);
    const isTrue = model === undefined || blockAt(model.head, Number(number))?.hash === hash;
    return isTrue ? [] : [`${what} is final in block ${number}, which is not on its chain`];
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
    const isTrue = model !== undefined && blockAt(model.head, Number(number))?.hash === hash;
    if (isTrue && reason !== '') return [`chain ${id} is halted without a reason`];
    return isTrue || reason !== '' ? [] : [`chain ${id} goes on from a final block that is no more`];
  });
}

type Say = (problem: string) => void;

function count(facts: readonly Fact[], orderId: string, name: string): number {
  return facts.filter((fact) => fact.orderId === orderId && fact.name === name).length;
}

/** Events that an order has at most once. Receiving a CCTP message mints. */
const once = ['Paid', 'Settled', 'PaidOut', 'Refunded', 'Reclaimed', 'Burnt', 'MessageReceived', 'Collected'];

/** Regardless of the service: each order is settled, paid out, minted and returned at most once. */
function checkOnce(facts: readonly Fact[], say: Say): void {
  for (const orderId of new Set(facts.map((fact) => fact.orderId))) {
    if (orderId === zeroHash) continue;
    for (const name of once) {
      if (count(facts, orderId, name) > 1) say(`order ${orderId.slice(0, 10)} has ${name} more than once`);
    }
    const ends = ['Settled', 'Refunded', 'Reclaimed'].filter((name) => count(facts, orderId, name) > 0);
    if (ends.length > 1) say(`order ${orderId.slice(0, 10)} is ${ends.join(' and ')}`);
  }
}

/** Each session matches the chains, and every payment has reached its destination exactly once. */
function checkSession(session: SessionState, books: Books, facts: readonly Fact[], say: Say): void {
  const name = `session ${session.sessionId.slice(0, 12)} (${session.status})`;
  const orders = books.orders.filter((order) => order.sessionId === session.sessionId);
  const paid = orders.filter((order) => count(facts, order.orderId, 'Paid') > 0);
  if (paid.length === 0) {
    if (!['expired', 'cancelled'].includes(session.status)) say(`${name} was never paid`);
    return;
  }
  const winner = paid.find((order) => order.orderId === session.orderId);
  if (winner === undefined) {
    say(`${name} is paid on chain by ${paid.length} orders, not by its own`);
    return;
  }
  const went = count(facts, winner.orderId, 'Refunded') + count(facts, winner.orderId, 'Reclaimed');
  const settled = count(facts, winner.orderId, 'Settled');
  if (went > 0) {
    if (session.status !== 'paid' || settled > 0) say(`${name} went back, and ${settled} settled`);
    if (session.refunded !== session.total)
      say(`${name} shows ${session.refunded} of ${session.total} gone back`);
  } else {
    if (session.status !== 'completed') say(`${name} is paid and not completed`);
    if (settled !== (winner.orderType === orderKinds.direct ? 0 : 1))
      say(`${name} has ${settled} settlements`);
    const isVault = winner.orderType === orderKinds.vaultPayout;
    const isCctp = winner.orderType === orderKinds.cctp;
    const arrivals = [
      count(facts, winner.orderId, 'PaidOut'),
      count(facts, winner.orderId, 'MessageReceived'),
    ];
    if (arrivals[0] !== (isVault ? 1 : 0)) say(`${name} has ${arrivals[0]} payouts`);
    if (arrivals[1] !== (isCctp ? 1 : 0)) say(`${name} has ${arrivals[1]} mints`);
    const given = count(facts, winner.orderId, 'SettlementRefunded');
    if (given > 1) say(`${name} was given back ${given} times`);
    if (session.refunded !== (given === 1 ? session.total : 0n))
      say(`${name} shows ${session.refunded} gone back`);
  }
  for (const loser of paid.filter((order) => order !== winner)) {
    const returned = count(facts, loser.orderId, 'Refunded') + count(facts, loser.orderId, 'Reclaimed');
    const taken = count(facts, loser.orderId, 'Settled');
    if (returned + taken !== 1)
      say(`${name}: a second payment went back ${returned}, was settled ${taken} times`);
    if (count(facts, loser.orderId, 'PaidOut') > 0) say(`${name}: a second payment was paid out`);
    // The merchant has to return a payment that a stranger burnt, so the money must reach the merchant.
    const isCctp = loser.orderType === orderKinds.cctp;
    const delivered = count(facts, loser.orderId, 'MessageReceived');
    if (delivered !== (isCctp ? taken : 0)) say(`${name}: a second payment was minted ${delivered} times`);
  }
}

/**
 * The entries sum to zero per asset and match the balances of gateway and vault per chain. Every transfer has its
 * entry, also those of unknown orders.
 */
function checkLedger(world: World, books: Books, say: Say): void {
  const { isVaultShort } = world.options.story;
  for (const { chain, head } of world.models) {
    const [token] = chain.tokens;
    if (token === undefined) continue;
    const asset = token.tokenId;
    let sum = 0n;
    for (const [key, total] of books.balances) if (key.endsWith(` ${asset}`)) sum += total;
    if (sum !== 0n) say(`the ledger of ${asset} sums to ${sum}`);
    const booked = (account: string) => books.balances.get(`${account} ${asset}`) ?? 0n;
    const held = balanceOf(head.state, chain.gateway, token.address);
    if (booked('gateway') !== held)
      say(`the gateway of ${chain.name} holds ${held}, the ledger says ${booked('gateway')}`);
    if (booked('bridge') !== 0n) say(`${booked('bridge')} of ${asset} are burnt and not minted`);
    const inVault = balanceOf(head.state, chain.vault, token.address);
    const float = inVault - (isVaultShort ? 0n : plenty);
    if (wasDropped(world, chain)) {
      // If the token was dropped before the first comparison, the books open with the contracts' balances after its
      // return.
      if (booked('vault') !== inVault && booked('vault') !== float)
        say(`the vault of ${chain.name} holds ${inVault}, the ledger says ${booked('vault')}`);
      continue;
    }
    const opened = (account: string) => books.openings.get(`${account} ${asset}`) ?? 0n;
    if (opened('vault') !== (isVaultShort ? 0n : plenty) && opened('vault') !== 0n)
      say(`the books of the vault of ${chain.name} began with ${opened('vault')}`);
    if (opened('gateway') !== 0n || opened('fees') !== 0n)
      say(
        `the books of the gateway of ${chain.name} began with ${opened('gateway')}, fees ${opened('fees')}`,
      );
    if (booked('vault') - opened('vault') !== float)
      say(`the vault of ${chain.name} has ${float} more than at first, the ledger says ${booked('vault')}`);
  }
}

function wasDropped({ models, options }: World, chain: Chain): boolean {
  const changes = options.story.policy?.changes ?? [];
  return chain === models[0]?.chain && changes.some(({ change }) => change === 'token');
}

/** Deposit addresses are empty at the end. Every return from one is reported and closed. */
function checkDeposits(world: World, books: Books, facts: readonly Fact[], say: Say): void {
  for (const place of world.deposits)
    if (holdsSomething(world, place)) say(`something lies at the deposit address ${place.receiver}`);
  for (const { orderId } of facts.filter(({ name }) => name === 'Rescued')) {
    if (!books.exceptions.has(`${orderId} resolved`))
      say(`order ${orderId.slice(0, 10)}: a rescue that nobody told`);
  }
}

function checkOrdersKnown(books: Books, facts: readonly Fact[], say: Say): void {
  const known = new Set(books.orders.map((order) => order.orderId));
  for (const fact of facts) {
    if (fact.name === 'Paid' && !known.has(fact.orderId)) say(`order ${fact.orderId} is unknown`);
  }
}

/** The database knows every transaction that the service has sent. */
function checkSent(world: World, books: Books, say: Say): void {
  for (const model of world.models) {
    for (const hash of model.ownHashes) {
      if (!books.attempts.has(hash)) say(`${model.chain.name} was given ${hash}, which is not stored`);
    }
  }
}

/** Webhooks arrive at least once, in order per object and without gaps, and report exactly one payment. */
function checkWebhooks(received: readonly Received[], books: Books, say: Say): void {
  const reached = new Map<string, number>();
  const ids = new Map<string, string>();
  for (const event of received) {
    if (event.objectId === '') continue;
    const last = reached.get(event.objectId) ?? 0;
    if (event.sequence > last + 1) say(`${event.objectId}: event ${event.sequence} came after ${last}`);
    reached.set(event.objectId, Math.max(last, event.sequence));
    const place = `${event.objectId} ${event.sequence}`;
    if ((ids.get(place) ?? event.eventId) !== event.eventId) say(`${place} came under two ids`);
    ids.set(place, event.eventId);
  }
  const paidIds = received.filter(({ type }) => type === 'session.paid');
  for (const session of books.sessions) {
    const { sessionId, orderId } = session;
    const stored = books.events.filter(({ objectId }) => objectId === sessionId);
    if ((reached.get(sessionId) ?? 0) < stored.length)
      say(`${sessionId}: ${stored.length} events, ${reached.get(sessionId) ?? 0} came`);
    const paid = new Set(
      paidIds.filter(({ objectId }) => objectId === sessionId).map(({ eventId }) => eventId),
    );
    if (paid.size !== (orderId === '' ? 0 : 1)) say(`${sessionId}: session.paid came ${paid.size} times`);
    checkStory(
      session,
      stored.map(({ type }) => type),
      say,
    );
  }
}

/** The last event that the merchant must receive for a finished session, by its status. */
const lastTold: Readonly<Record<string, string>> = {
  completed: 'session.completed',
  expired: 'session.expired',
  cancelled: 'session.cancelled',
};

function checkStory(session: SessionState, types: readonly string[], say: Say): void {
  const { sessionId, status } = session;
  if (types[0] !== 'session.created') say(`${sessionId} begins with ${types[0] ?? 'nothing'}`);
  const wanted = lastTold[status];
  const last = types.filter((type) => type !== 'session.exception').at(-1);
  if (wanted !== undefined && last !== wanted)
    say(`${sessionId} is ${status}, and its events end with ${last}`);
}

/** The event by which the merchant has the money, by type of order. */
const arrivals: Readonly<Record<number, string>> = {
  [orderKinds.direct]: 'Paid',
  [orderKinds.vaultPayout]: 'PaidOut',
  [orderKinds.cctp]: 'MessageReceived',
};

/** Invariant at every moment: the service reports nothing and pays nothing out before the chain is final. */
export function watchFinality(world: World): void {
  const { story } = world.options;
  if (story.deepReorgMs !== undefined) return;
  const isFinal = (orderId: string, name: string) =>
    factsOf(world).some((fact) => fact.orderId === orderId && fact.name === name && fact.isFinal);
  world.receiver.onEvent = ({ type, eventId, objectId }) => {
    if (type !== 'session.paid' && type !== 'session.completed') return;
    const body = JSON.parse(world.receiver.bodies.get(eventId) ?? '{}') as {
      data?: { transaction?: { orderId?: string; orderType?: number } };
    };
    const orderId = body.data?.transaction?.orderId ?? '';
    if (!isFinal(orderId, 'Paid')) world.violate(`${objectId}: ${type} before the payment was final`);
    const orderType = body.data?.transaction?.orderType ?? orderKinds.escrow;
    const isDone = isFinal(orderId, arrivals[orderType] ?? 'Settled');
    if (type === 'session.completed' && !isDone)
      world.violate(`${objectId}: ${type} before the settlement was final`);
  };
  for (const model of world.models) {
    model.onBlock = (block) => {
      for (const { logs } of block.transactions) {
        for (const { name, orderId } of logs) {
          if (name === 'PaidOut' && !isFinal(orderId, 'Settled'))
            world.violate(`order ${orderId.slice(0, 10)}: paid out before its settlement was final`);
        }
      }
    };
  }
}
