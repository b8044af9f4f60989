import type { Hex } from '@florin/protocol/order.ts';
import { minReportedAmount } from '@florin/server/parts';
import { operatorAddress } from './configuration.ts';
import type { Connections } from './connections.ts';
import { balanceOf } from './contract-state.ts';
import type { World } from './world.ts';

/** The service's open work; with `isExpiryOver` that includes sessions to expire. Empty when none is left. */
export async function openWorkOf(
  world: World,
  connections: Connections,
  isExpiryOver: boolean,
): Promise<string> {
  const { rows } = await connections.observe<{ work: string }>({
    name: 'simulation_open_work',
    text: `select concat_ws(', ',
       (select string_agg(leg || ' ' || status || ' ' || reason, ', ') from settlements where status <> 'done'),
       (select count(1) || ' deposit moves' from deposit_moves where status = 'sent' having count(1) > 0),
       (select string_agg('nonce ' || nonce, ', ') from sent_transactions where status = 'pending'),
       (select count(1) || ' deliveries' from deliveries where status = 'pending' having count(1) > 0),
       (select string_agg('chain ' || chain_id || ' stopped', ', ') from chain_cursors where stopped_reason <> ''),
       (select string_agg('chain ' || chain_id || ' resumed', ', ') from chain_cursors where is_resync_due),
       (select string_agg('chain ' || chain_id || ' is read again', ', ') from chain_cursors where backfill_next is not null),
       (select count(1) || ' events not final' from chain_events where not is_final having count(1) > 0),
       (select string_agg('session ' || status, ', ') from sessions
        where status in ('settling', 'settlement_pending') or ($1 and status = 'initialized'))) as work`,
    values: [isExpiryOver],
  });
  const open = [
    rows[0]?.work ?? '',
    ...(await chainsBehind(world, connections)),
    ...(await booksBehind(world, connections)),
    ...(await unusedNonces(world, connections)),
    ...(await exceptionsAstray(world, connections)),
  ];
  if (isExpiryOver) open.push(...openDeposits(world));
  return open.filter((part) => part !== '').join(', ');
}

/** Chains whose last event the service has not yet seen as final, or whose operator's transactions are pending. */
async function chainsBehind(world: World, connections: Connections): Promise<string[]> {
  const { rows } = await connections.observe<{ id: bigint; number: bigint }>({
    name: 'simulation_final',
    text: 'select chain_id as id, final_number as number from chain_cursors',
  });
  const finals = new Map(rows.map(({ id, number }) => [Number(id), Number(number)]));
  return world.models.flatMap((model) => {
    const isSeen = lastEventBlock(model) <= (finals.get(model.chain.chainId) ?? 0);
    return isSeen && !model.hasPending(operatorAddress)
      ? []
      : [`${model.chain.name} is not followed to its last event`];
  });
}

/**
 * Chains whose books were last compared before their last event. Without proofs, a node may omit a transfer that
 * belongs to no order, as batches make them. Only the next comparison finds it.
 */
async function booksBehind(world: World, connections: Connections): Promise<string[]> {
  if (!world.options.scenario.sessions.some(({ behaviour }) => behaviour === 'batch')) return [];
  const { rows } = await connections.observe<{ id: bigint; number: bigint }>({
    name: 'simulation_agreed',
    text: 'select chain_id as id, agreed_number as number from chain_reconciliations where agreed_number is not null',
  });
  const agreed = new Map(rows.map(({ id, number }) => [Number(id), Number(number)]));
  return world.models
    .filter((model) => lastEventBlock(model) > (agreed.get(model.chain.chainId) ?? 0))
    .map(({ chain }) => `the books of ${chain.name} are not compared with its last event`);
}

/** The last block with an event of any contract, or 0. */
function lastEventBlock(model: World['models'][number]): number {
  const last = model
    .canonical()
    .findLast(({ transactions }) => transactions.some(({ logs }) => logs.length > 0));
  return last?.number ?? 0;
}

/**
 * Open work after reverted final events have not come back: chains that the service has yet to follow, and wallets
 * with unused nonces. An unused nonce would block the wallet's next transaction.
 */
export async function openWorkAfterLoss(world: World, connections: Connections): Promise<string> {
  const { rows } = await connections.observe<{ work: string }>({
    name: 'simulation_work_after_loss',
    text: `select concat_ws(', ',
       (select string_agg('nonce ' || nonce, ', ') from sent_transactions where status = 'pending'),
       (select string_agg('chain ' || chain_id || ' halted', ', ') from chain_cursors where halted_reason <> ''),
       (select string_agg('chain ' || chain_id || ' is read again', ', ') from chain_cursors where backfill_next is not null),
       (select count(1) || ' events not final' from chain_events where not is_final having count(1) > 0)) as work`,
  });
  const open = [
    rows[0]?.work ?? '',
    ...(await chainsBehind(world, connections)),
    ...(await unusedNonces(world, connections)),
    ...(await exceptionsAstray(world, connections)),
  ];
  return open.filter((part) => part !== '').join(', ');
}

/** Exceptions that say something else than their deposit addresses: money that is not there, or none where there is some. */
async function exceptionsAstray(world: World, connections: Connections): Promise<string[]> {
  // A restored database does not know some orders.
  if (world.options.scenario.restore !== undefined) return [];
  const { rows } = await connections.observe<{ id: string; loss: string }>({
    name: 'simulation_exceptions',
    text: `select order_id as id, loss from exceptions
     where tx_hash = '' and resolved_tx = '' and (status = 'open' or loss <> '')`,
  });
  return rows.flatMap(({ id, loss }) => {
    const deposit = world.deposits.find(({ orderId }) => orderId === id);
    if (deposit === undefined) return [];
    if (loss === 'possible') return [`an exception at ${deposit.receiver} is in doubt`];
    if (loss === 'gone')
      return holdsMoney(world, deposit) ? [`money at ${deposit.receiver} is called gone`] : [];
    const isEmpty = balanceOf(deposit.model.head.state, deposit.receiver, deposit.token) === 0n;
    return isEmpty ? [`an exception promises money at the empty ${deposit.receiver}`] : [];
  });
}

/**
 * Sessions that wait for a payment which a reorg took back. A merchant who is paid from a vault or by CCTP may have the money,
 * so those whose settlement was final wait for their operator.
 */
export async function waitingForLostPayments(connections: Connections): Promise<string> {
  const { rows } = await connections.observe<{ id: string }>({
    name: 'simulation_waiting_for_lost_payments',
    text: `select s.session_id as id from sessions s join orders o on o.order_id = s.order_id
     where s.pending_reason = 'payment_reorged' and not (o.order_type > 1 and exists (
       select from dropped_events d where d.order_id = o.order_id and d.event_name = 'Settled'))`,
  });
  return rows.map(({ id }) => id).join(', ');
}

/** Wallets whose chain waits for a nonce that the service has assigned. */
async function unusedNonces(world: World, connections: Connections): Promise<string[]> {
  const { rows } = await connections.observe<{ id: bigint; wallet: Hex; next: bigint }>({
    name: 'simulation_nonces',
    text: 'select chain_id as id, wallet, next_nonce as next from wallet_nonces',
  });
  return rows.flatMap(({ id, wallet, next }) => {
    const model = world.models.find(({ chain }) => BigInt(chain.chainId) === id);
    const used = model?.nextNonce(wallet) ?? 0;
    return BigInt(used) >= next
      ? []
      : [`${wallet.slice(0, 8)} has assigned nonce ${next - 1n}, but its next nonce on chain is ${used}`];
  });
}

/**
 * Whether a deposit address holds money. A reorg below finality can leave an addition behind, and the service ignores
 * amounts under a cent.
 */
export function holdsMoney(world: World, { model, receiver, token }: World['deposits'][number]): boolean {
  const minAmount = world.options.scenario.deepReorgMs === undefined ? 1n : minReportedAmount;
  return balanceOf(model.head.state, receiver, token) >= minAmount;
}

/** Addresses that still expect a transfer or hold money. */
export function openDeposits(world: World): string[] {
  // A restored database does not know some orders, so the service does not check their addresses.
  if (world.options.scenario.restore !== undefined) return [];
  return world.deposits.flatMap((deposit) =>
    deposit.hasAllTransfers && !holdsMoney(world, deposit) ? [] : [`deposit at ${deposit.receiver}`],
  );
}

/** Whether a session still waits for its payment. */
export async function hasOpenSession(connections: Connections): Promise<boolean> {
  const { rows } = await connections.observe({
    text: `select session_id from sessions where status = 'initialized' limit 1`,
  });
  return rows.length > 0;
}
