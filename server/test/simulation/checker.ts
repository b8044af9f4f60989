import type pg from 'pg';
import { blockAt } from './chain-model.ts';
import { balanceKey } from './contract-model.ts';
import type { Received } from './receiver-model.ts';
import { type Fact, factsOf, type World } from './world.ts';

interface SessionState {
  readonly sessionId: string;
  readonly status: string;
  readonly orderId: string;
  readonly refunds: number;
}

interface OrderState {
  readonly orderId: string;
  readonly sessionId: string;
  readonly orderType: number;
}

/** What the database says when a history is over. */
interface Books {
  readonly sessions: readonly SessionState[];
  readonly orders: readonly OrderState[];
  readonly balances: ReadonlyMap<string, bigint>;
  readonly attempts: ReadonlySet<string>;
  readonly halted: ReadonlySet<number>;
  readonly events: readonly { readonly objectId: string; readonly sequence: number; readonly type: string }[];
}

/** What the service still has to do; with `isExpiryOver`, sessions to expire among it. Empty when all is at rest. */
export async function unrestOf(client: pg.Client, isExpiryOver: boolean): Promise<string> {
  const { rows } = await client.query<{ unrest: string }>({
    name: 'simulation_unrest',
    text: `select concat_ws(', ',
       (select string_agg(leg || ' ' || status || ' ' || reason, ', ') from settlements where status <> 'done'),
       (select string_agg('nonce ' || nonce, ', ') from sent_transactions where status = 'pending'),
       (select count(*) || ' deliveries' from deliveries where status = 'pending' having count(*) > 0),
       (select count(*) || ' events not final' from chain_events where not is_final having count(*) > 0),
       (select string_agg('session ' || status, ', ') from sessions
        where status in ('settling', 'settlement_pending') or ($1 and status = 'initialized'))) as unrest`,
    values: [isExpiryOver],
  });
  return rows[0]?.unrest ?? '';
}

async function readBooks(client: pg.Client): Promise<Books> {
  const sessions = await client.query<SessionState>(
    `select session_id as "sessionId", status, order_id as "orderId",
       (select count(*)::int from refunds r where r.session_id = s.session_id and r.status = 'completed') as refunds
     from sessions s order by ordinal`,
  );
  const orders = await client.query<OrderState>(
    `select order_id as "orderId", session_id as "sessionId", order_type as "orderType" from orders`,
  );
  const balances = await client.query<{ account: string; asset: string; total: bigint }>(
    `select split_part(ledger_account, ':', 1) as account, asset, sum(amount) as total from ledger_postings
     group by 1, 2`,
  );
  const attempts = await client.query<{ hash: string }>('select tx_hash as hash from sent_attempts');
  const halted = await client.query<{ id: bigint }>(
    `select chain_id as id from chain_cursors where halted_reason <> ''`,
  );
  const events = await client.query<{ objectId: string; sequence: bigint; type: string }>(
    `select object_id as "objectId", sequence, event_type as type from events
     where event_type like 'session.%' or event_type like 'refund.%' order by object_id, sequence`,
  );
  return {
    sessions: sessions.rows,
    orders: orders.rows,
    balances: new Map(balances.rows.map((row) => [`${row.account} ${row.asset}`, row.total])),
    attempts: new Set(attempts.rows.map(({ hash }) => hash)),
    halted: new Set(halted.rows.map(({ id }) => Number(id))),
    events: events.rows.map((row) => ({ ...row, sequence: Number(row.sequence) })),
  };
}

/** What is wrong when everything has come to rest: empty when nothing is. */
export async function check(world: World, client: pg.Client): Promise<string[]> {
  const books = await readBooks(client);
  const facts = factsOf(world);
  const wasRestored = world.options.story.restore !== undefined;
  const problems = [...world.violations];
  const say = (problem: string) => problems.push(problem);
  for (const id of books.halted) say(`chain ${id} is halted without a reason`);
  checkOnce(facts, say);
  for (const session of books.sessions) {
    checkSession(session, books, facts, say);
    // A refund that was asked for after the backup is lost with the request; the exception tells the merchant.
    const wanted = session.status === 'paid' ? 1 : 0;
    if (!wasRestored && session.refunds !== wanted)
      say(`${session.sessionId}: ${session.refunds} refunds completed`);
  }
  checkLedger(world, books, facts, say);
  if (!wasRestored) {
    checkOrdersKnown(books, facts, say);
    checkSent(world, books, say);
    checkWebhooks(world.receiver.received, books, say);
  }
  return problems;
}

/** A chain stands still exactly where what was final is so no more; and nothing is sent on one that does. */
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

/** Whatever the service does: each order is settled, paid out and given back at most once. */
function checkOnce(facts: readonly Fact[], say: Say): void {
  for (const orderId of new Set(facts.map((fact) => fact.orderId))) {
    for (const name of ['Paid', 'Settled', 'PaidOut', 'Refunded']) {
      if (count(facts, orderId, name) > 1) say(`order ${orderId.slice(0, 10)} has ${name} more than once`);
    }
  }
}

/** Each session is as the chains say, and every payment has gone where it belongs, exactly once. */
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
  const isRefunded = count(facts, winner.orderId, 'Refunded') === 1;
  const settled = count(facts, winner.orderId, 'Settled');
  if (isRefunded) {
    if (session.status !== 'paid' || settled > 0) say(`${name} went back, and ${settled} settled`);
  } else {
    if (session.status !== 'completed') say(`${name} is paid and not completed`);
    if (settled !== 1) say(`${name} has ${settled} settlements`);
    const payouts = count(facts, winner.orderId, 'PaidOut');
    if (payouts !== (winner.orderType === 2 ? 1 : 0)) say(`${name} has ${payouts} payouts`);
  }
  for (const loser of paid.filter((order) => order !== winner)) {
    const returned = count(facts, loser.orderId, 'Refunded');
    const taken = count(facts, loser.orderId, 'Settled');
    if (returned + taken !== 1)
      say(`${name}: a second payment went back ${returned}, was settled ${taken} times`);
    if (count(facts, loser.orderId, 'PaidOut') > 0) say(`${name}: a second payment was paid out`);
  }
}

/** Zero per asset, and per chain what the contracts hold, as far as the database knows their orders. */
function checkLedger(world: World, books: Books, facts: readonly Fact[], say: Say): void {
  const known = new Set(books.orders.map((order) => order.orderId));
  for (const { chain, head } of world.models) {
    const [token] = chain.tokens;
    if (token === undefined) continue;
    const asset = token.tokenId;
    let sum = 0n;
    for (const [key, total] of books.balances) if (key.endsWith(` ${asset}`)) sum += total;
    if (sum !== 0n) say(`the ledger of ${asset} sums to ${sum}`);
    const isUnknown = (fact: Fact) => fact.model.chain === chain && !known.has(fact.orderId);
    if (facts.some((fact) => fact.name === 'Paid' && isUnknown(fact))) continue;
    const booked = books.balances.get(`gateway ${asset}`) ?? 0n;
    const held = head.state.balances.get(balanceKey('gateway', token.address)) ?? 0n;
    if (booked !== held) say(`the gateway of ${chain.name} holds ${held}, the ledger says ${booked}`);
  }
}

function checkOrdersKnown(books: Books, facts: readonly Fact[], say: Say): void {
  const known = new Set(books.orders.map((order) => order.orderId));
  for (const fact of facts) {
    if (fact.name === 'Paid' && !known.has(fact.orderId)) say(`order ${fact.orderId} is unknown`);
  }
}

/** Nothing of ours is out that the database does not know. */
function checkSent(world: World, books: Books, say: Say): void {
  for (const model of world.models) {
    for (const hash of model.settlerHashes) {
      if (!books.attempts.has(hash)) say(`${model.chain.name} was given ${hash}, which is not stored`);
    }
  }
}

/** At least once, in order per object, no gaps, and paid exactly once. */
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

/** What the events of a session that has come to rest must tell of, whatever its row says. */
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

/** What must hold at each moment: nothing is told, and nothing paid out, before the chain is final. */
export function watchFinality(world: World): void {
  const { story } = world.options;
  if (story.deepReorgMs !== undefined) return;
  const isFinal = (orderId: string, name: string) =>
    factsOf(world).some((fact) => fact.orderId === orderId && fact.name === name && fact.isFinal);
  world.receiver.onEvent = ({ type, eventId, objectId }) => {
    if (type !== 'session.paid' && type !== 'session.completed') return;
    const body = JSON.parse(world.receiver.bodies.get(eventId) ?? '{}') as {
      data?: { transaction?: { orderId?: string } };
    };
    const orderId = body.data?.transaction?.orderId ?? '';
    if (!isFinal(orderId, 'Paid')) world.violate(`${objectId}: ${type} before the payment was final`);
    const isDone = isFinal(orderId, 'Settled');
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
