import { openHttpRpc } from '@florin/evm';
import { statement } from '@florin/pg';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { silentLog, systemClock, verifyLedger } from '@florin/server/operator';
import { ledgerSums, reconcileChain, sealEntries } from '@florin/server/parts';
import { encodeEventTopics } from 'viem';
import type { Sale } from './chaos-payers.ts';
import type { ChaosWorld } from './chaos-world.ts';

const storedSessions = statement({
  name: 'chaos_sessions',
  columns: { session_id: 'text', status: 'text', order_id: 'text', events: 'int8', undelivered: 'int8' },
  text: `select s.session_id, s.status, s.order_id,
     (select count(*) from events e where e.object_id = s.session_id) as events,
     (select count(*) from deliveries d where d.object_id = s.session_id and d.status <> 'succeeded') as undelivered
   from sessions s order by s.session_id`,
});

const allowLook = statement({
  name: 'chaos_allow_look',
  parameters: { nextAt: 'timestamptz' },
  text: 'update chain_reconciliations set next_at = :nextAt',
});

interface Received {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly data: { readonly session: { readonly sessionId: string } };
}

/** Order ids in the final events of one name, once per event on the chains. */
export async function ordersIn(
  world: ChaosWorld,
  eventName: 'Paid' | 'Settled' | 'PaidOut',
): Promise<string[]> {
  const [selector] = encodeEventTopics({ abi: [...paymentGatewayAbi, ...payoutVaultAbi], eventName });
  const found: string[] = [];
  for (const { life } of world.chains) {
    const { gateway, vault } = life.chain;
    const filter = { fromBlock: '0x0', toBlock: 'latest', address: [gateway, vault], topics: [selector] };
    const logs = (await life.anvil.request('eth_getLogs', [filter])) as { topics: string[] }[];
    found.push(...logs.map((log) => log.topics[1] ?? ''));
  }
  return found.sort();
}

/** Waits until every payment on a chain is completed and notified. Returns the open work at the timeout. */
export async function settleDown(world: ChaosWorld, patienceMs: number): Promise<string[]> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const paid = new Set(await ordersIn(world, 'Paid'));
    const sessions = await world.db.query(storedSessions).catch(() => undefined);
    const open = sessions?.filter(
      (row) => row.undelivered > 0n || (row.order_id !== '' && row.status !== 'completed'),
    );
    const known = new Set(sessions?.map((row) => row.order_id));
    const unseen = [...paid].filter((orderId) => !known.has(orderId));
    if (open?.length === 0 && unseen.length === 0) return [];
    if (performance.now() > end) {
      return [
        ...(open ?? []).map(
          (row) => `${row.session_id} is ${row.status}, ${row.undelivered} deliveries are open`,
        ),
        ...unseen.map((orderId) => `the payment of ${orderId} was not seen`),
      ];
    }
    await systemClock.sleep(300);
  }
}

/** Compares chains, ledger, sessions and webhooks. Returns one sentence per difference. */
export async function findViolations(world: ChaosWorld, sales: readonly Sale[]): Promise<string[]> {
  const sessions = await world.db.query(storedSessions);
  return [
    ...(await chainViolations(world, sales)),
    ...sales
      .filter(({ sessionId }) => !sessions.some((row) => row.session_id === sessionId))
      .map(({ sessionId }) => `${sessionId} was acknowledged but is missing`),
    ...(await bookViolations(world)),
    ...webhookViolations(world, sessions),
  ];
}

async function chainViolations(world: ChaosWorld, sales: readonly Sale[]): Promise<string[]> {
  const violations: string[] = [];
  const paid = await ordersIn(world, 'Paid');
  const paidSales = sales.filter(({ orderId }) => paid.includes(orderId));
  const crossing = paidSales.filter(
    ({ settlementToken, payChain }) => !settlementToken.startsWith(`${payChain}:`),
  );
  const expected = {
    Paid: paidSales.map(({ orderId }) => orderId).sort(),
    Settled: paid,
    PaidOut: crossing.map(({ orderId }) => orderId).sort(),
  };
  for (const name of ['Paid', 'Settled', 'PaidOut'] as const) {
    const found = await ordersIn(world, name);
    if (found.join() !== expected[name].join())
      violations.push(
        `${name}: ${found.length} on the chains (${new Set(found).size} orders), ${expected[name].length} expected`,
      );
  }
  for (const { life } of world.chains) {
    const token = life.token('usdc');
    const own = paidSales.filter(({ settlementToken }) => settlementToken === token.tokenId);
    // The price less 0.2 % on one chain and less 0.6 % across chains. The fee is rounded up.
    const due = own.reduce(
      (sum, { payChain }) => sum + (payChain === life.chain.name ? 1_232_097n : 1_227_159n),
      0n,
    );
    const held = await life.balanceOf(token, world.merchantWallet);
    if (held !== due) violations.push(`the merchant holds ${held} of ${token.tokenId} instead of ${due}`);
  }
  return violations;
}

export async function bookViolations(world: ChaosWorld): Promise<string[]> {
  const { db } = world;
  const violations = (await ledgerSums(db))
    .filter(({ total }) => total !== 0n)
    .map(({ asset, total }) => `the books of ${asset} sum to ${total}`);
  for (const { life } of world.chains) {
    const { chain } = life;
    const rpc = openHttpRpc({
      chainId: chain.chainId,
      urls: [life.anvil.url],
      clock: systemClock,
      log: silentLog,
    });
    try {
      await db.query(allowLook, { nextAt: new Date(0) });
      const log = silentLog;
      const deps = { chains: [chain], rpcOf: () => rpc, db, clock: systemClock, log, intervalMs: 60_000 };
      const result = await reconcileChain(deps, chain, rpc);
      if (result !== 'agreed') violations.push(`books and chain ${chain.name}: ${result}`);
    } finally {
      await rpc.close();
    }
  }
  while ((await db.transaction((transaction) => sealEntries(transaction, systemClock.now()))) > 0);
  return [...violations, ...(await verifyLedger(db)).problems];
}

function webhookViolations(
  world: ChaosWorld,
  sessions: readonly { readonly session_id: string; readonly events: bigint; readonly status: string }[],
): string[] {
  const bySession = new Map<string, Received[]>();
  for (const { body } of world.receiver.requests) {
    const event = JSON.parse(body) as Received;
    const { sessionId } = event.data.session;
    bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), event]);
  }
  return sessions.flatMap(({ session_id: sessionId, events, status }) => {
    const received = bySession.get(sessionId) ?? [];
    const firsts = received.filter(
      ({ id }, index) => received.findIndex((other) => other.id === id) === index,
    );
    const sequences = firsts.map(({ sequence }) => sequence);
    const expected = Array.from({ length: Number(events) }, (_, index) => index + 1);
    const count = (type: string) => firsts.filter((event) => event.type === type).length;
    const violations: string[] = [];
    if (sequences.join() !== expected.join())
      violations.push(`${sessionId} had the event sequences ${sequences.join(' ')}, not 1 to ${events}`);
    if (
      status === 'completed' &&
      (count('session.paid') !== 1 || firsts.at(-1)?.type !== 'session.completed')
    )
      violations.push(
        `${sessionId} is completed, but its events were ${firsts.map(({ type }) => type).join(' ')}`,
      );
    return violations;
  });
}
