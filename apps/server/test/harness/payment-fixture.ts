import { randomBytes } from 'node:crypto';
import { statement } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { ChainEvent, ChainEventName, ChainHandler } from '#contracts/event.ts';
import { raise } from '#exceptions/exception.ts';
import { exceptionHandler } from '#exceptions/exception-events.ts';
import type { OrderRequest } from '#orders/context.ts';
import { orderSignerOf } from '#orders/order-signer.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { paymentHandler } from '#payments/payment.ts';
import { refundHandler } from '#refunds/refund-events.ts';
import { prepareOrder } from '#sessions/order-preparation.ts';
import { lockSession } from '#sessions/session.ts';
import { settlementHandler } from '#settlement/settlement-events.ts';
import { silentLog } from '#telemetry/log.ts';
import type { MerchantWorld } from './merchant-fixture.ts';

const insertChainEvent = statement({
  name: 'payment_fixture_event',
  parameters: {
    chainId: 'int8',
    blockNumber: 'int8',
    blockHash: 'text',
    txHash: 'text',
    blockTime: 'timestamptz',
    eventName: 'text',
    orderId: 'text',
    isFinal: 'bool',
    arguments: 'text',
  },
  text: `insert into chain_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name,
     order_id, arguments, is_final)
   values (:chainId, :blockNumber, :blockHash, 0, :txHash, :blockTime, 'gateway', :eventName, :orderId, (:arguments::text)::jsonb, :isFinal)`,
});

/** The number of blocks so far; each has one contract event. */
let blocks = 0n;

/** Adds an unpaid checkout session of ten dollars; returns its id. */
export async function addSession(
  world: MerchantWorld,
  options: {
    key: string;
    accountId: string;
    settlementToken?: string;
    metadata?: object;
    productName?: string;
    unitPrice?: number;
  },
): Promise<string> {
  const { key, accountId, settlementToken = 'ethereum::usdc', metadata = {}, productName = 'Tea' } = options;
  const { unitPrice = 10_000_000 } = options;
  const productData = { productName };
  const lineItems = [{ itemType: 'one_time', quantity: 1, unitPrice, productData }];
  const reply = await world.send('POST', '/session/checkout/create', {
    key,
    body: { accountId, settlementToken, lineItems, feeModel: 2, metadata },
  });
  return reply.data.sessionId;
}

/** Signs an order for a session, to be paid with ethereum::usdc. */
export async function addOrder(
  world: MerchantWorld,
  sessionId: string,
  payer: Hex = `0x${'d4'.repeat(20)}`,
  {
    payerEmail = 'payer@example.com',
    language = '',
    proof = 'secret',
  }: { payerEmail?: string; language?: string; proof?: OrderRequest['proof'] } = {},
): Promise<StoredOrder> {
  const token = world.deps.chains.token('ethereum::usdc');
  if (token === undefined) throw new Error('the fixture has no ethereum::usdc');
  const signer = orderSignerOf(`0x${'0f'.repeat(32)}`);
  return world.database.db.transaction(async (transaction) => {
    const session = await lockSession(transaction, sessionId);
    if (session === undefined) throw new Error(`no session ${sessionId}`);
    const deps = { ...world.deps, signer, reclaimAfterSeconds: 86_400 };
    return prepareOrder(transaction, deps, { session, payer, payerEmail, proof, language, token });
  });
}

/**
 * Adds an event of an order to the chain, final by default, with all work of the watcher. `meanwhile` runs before the
 * watcher's transaction commits.
 */
export async function happen(
  world: MerchantWorld,
  order: StoredOrder,
  name: ChainEventName,
  options: {
    isFinal?: boolean;
    arguments?: Readonly<Record<string, string>>;
    meanwhile?: () => Promise<unknown>;
    /** One of its own when absent. */
    txHash?: Hex;
  } = {},
): Promise<ChainEvent> {
  const { isFinal = true } = options;
  const chain = world.deps.chains.byId(order.chainId);
  if (chain === undefined) throw new Error(`no chain ${order.chainId}`);
  blocks += 1n;
  const hash: Hex = `0x${randomBytes(32).toString('hex')}`;
  const event: ChainEvent = {
    chainId: chain.chainId,
    blockNumber: blocks,
    blockHash: hash,
    blockTime: world.clock.now(),
    logIndex: 0,
    txHash: options.txHash ?? `0x${randomBytes(32).toString('hex')}`,
    contract: 'gateway',
    name,
    orderId: order.orderId,
    arguments: options.arguments ?? {},
  };
  const block = { number: blocks, hash, parentHash: hash, time: event.blockTime };
  await world.database.db.transaction(async (transaction) => {
    await transaction.query(insertChainEvent, {
      chainId: chain.chainId,
      blockNumber: event.blockNumber,
      blockHash: hash,
      txHash: event.txHash,
      blockTime: event.blockTime,
      eventName: name,
      orderId: order.orderId,
      isFinal,
      arguments: JSON.stringify(event.arguments),
    });
    for (const handler of handlersOf(world)) {
      await handler.onBlock(transaction, chain, block, [event]);
      if (isFinal) await handler.onFinal(transaction, chain, block, [event]);
    }
    await options.meanwhile?.();
  });
  return event;
}

const dropPayment = statement({
  name: 'payment_fixture_drop',
  parameters: { orderId: 'text', droppedAt: 'timestamptz' },
  text: `with delayed as (
     update sessions set status = 'settlement_pending', pending_reason = 'payment_reorged', complete_tx = '',
       settlement_succeeded_at = null where order_id = :orderId)
   insert into dropped_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name, order_id,
     arguments, dropped_at)
   values (1, 1, :orderId, 0, '0xcd', :droppedAt, '0x90', 'Paid', :orderId, '{}', :droppedAt)`,
});

/** The chain takes the final payment of an order back, as a rewind below finality leaves it. */
export async function takeBack(
  { database, clock }: Pick<MerchantWorld, 'database' | 'clock'>,
  { orderId }: Pick<StoredOrder, 'orderId'>,
): Promise<void> {
  await database.db.query(dropPayment, { orderId, droppedAt: clock.now() });
}

const dropEvent = statement({
  name: 'payment_fixture_drop_event',
  parameters: { txHash: 'text', droppedAt: 'timestamptz' },
  text: `with dropped as (delete from chain_events where tx_hash = :txHash returning *)
   insert into dropped_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name, order_id,
     arguments, dropped_at)
   select chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name, order_id, arguments, :droppedAt
   from dropped`,
});

/** A reorg below finality takes a final event back, and the rooms react. */
export async function drop(world: MerchantWorld, event: ChainEvent): Promise<void> {
  const chain = world.deps.chains.byId(event.chainId);
  if (chain === undefined) throw new Error(`no chain ${event.chainId}`);
  await world.database.db.transaction(async (transaction) => {
    await transaction.query(dropEvent, { txHash: event.txHash, droppedAt: world.clock.now() });
    for (const handler of handlersOf(world)) await handler.onDropped?.(transaction, chain, [event]);
  });
}

/** A session whose payment is final, with its order. */
export async function addPaidSession(
  world: MerchantWorld,
  options: {
    key: string;
    accountId: string;
    settlementToken?: string;
    metadata?: object;
    payer?: Hex;
    payerEmail?: string;
    language?: string;
    productName?: string;
    unitPrice?: number;
    proof?: OrderRequest['proof'];
  },
): Promise<{ sessionId: string; order: StoredOrder }> {
  const sessionId = await addSession(world, options);
  const order = await addOrder(world, sessionId, options.payer, options);
  await happen(world, order, 'Paid');
  return { sessionId, order };
}

/** A final block sends money at an order's deposit address back to its payer. */
export function returnDeposit(
  world: MerchantWorld,
  order: StoredOrder,
  amount: bigint,
  tokenId = 'ethereum::usdc',
): Promise<ChainEvent> {
  const token = world.deps.chains.token(tokenId)?.address ?? '';
  return happen(world, order, 'Rescued', { arguments: { token, value: String(amount) } });
}

function handlersOf(world: MerchantWorld): ChainHandler[] {
  const deps = { ...world.deps, log: silentLog };
  return [paymentHandler(deps), refundHandler(deps), settlementHandler(deps), exceptionHandler(deps)];
}

/** A late deposit that waits for its merchant's decision until an hour from now; returns the id of its exception. */
export async function addLateDeposit(
  world: MerchantWorld,
  options: { key: string; accountId: string },
  policy: 'ask' | 'return' | 'accept' = 'ask',
): Promise<{ exceptionId: string; order: StoredOrder }> {
  const sessionId = await addSession(world, options);
  const order = await addOrder(world, sessionId);
  await world.database.db.transaction(async (transaction) => {
    const session = await lockSession(transaction, sessionId);
    if (session === undefined) throw new Error(`no session ${sessionId}`);
    const terms = {
      ask: { decideBy: new Date(world.clock.now().getTime() + 3_600_000) },
      return: {},
      accept: { decision: 'accept' },
    } as const;
    const deps = { ...world.deps, log: silentLog };
    await raise(transaction, deps, { session, order, kind: 'late', txHash: '', ...terms[policy] });
  });
  const { exceptions } = (await world.send('GET', '/exception/list/1/1', { key: options.key })).data;
  return { exceptionId: exceptions[0].exceptionId, order };
}
