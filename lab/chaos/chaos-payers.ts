import { randomBytes } from 'node:crypto';
import { systemClock, systemRandom } from '@florin/server/operator';
import { type AgentReply, type LifeChain, Payer } from '@florin/server/testing';
import type { ChaosWorld } from './chaos-world.ts';

/** A session that the service has acknowledged, and its payer's progress. */
export interface Sale {
  readonly sessionId: string;
  readonly settlementToken: string;
  readonly payChain: string;
  /** The order that the payer sent to the chain. Empty before that. */
  orderId: string;
}

/** Micro-USD. The odd number makes fees round. */
const price = 1_234_567;
const fundedUnits = 1_000_000_000n;
const repeatMs = 400;
const createLimitMs = 5_000;
/** Deeper than any reorg of the run. */
const finalityBlocks = 8;

/** A wallet that makes one purchase after the other. */
export interface Buyer {
  /** Counts from 0. Buyers start at different positions in the same cycle of products. */
  readonly place: number;
  readonly payer: Payer;
  readonly chain: LifeChain;
}

/** Wallets with money and gas, which exist before the first fault. */
export async function fundBuyers(world: ChaosWorld, count: number): Promise<readonly Buyer[]> {
  const web = {
    merchantId: world.merchantId,
    get options() {
      return { origin: originOf(world) };
    },
  };
  const buyers: Buyer[] = [];
  for (let index = 0; index < count; index += 1) {
    const chain = world.chains[index % world.chains.length]?.life;
    if (chain === undefined) throw new Error('there is no chain to pay on');
    const payer = new Payer(web);
    await payer.fund(chain, chain.token('usdc'), fundedUnits);
    buyers.push({ place: index, payer, chain });
  }
  // Deeper than any reorg, so that buyers keep their money.
  for (const { life } of world.chains) await life.anvil.mine(finalityBlocks);
  return buyers;
}

function originOf(world: ChaosWorld): string {
  const index = Math.floor(systemRandom.fraction() * world.origins.length);
  return world.origins[index] ?? '';
}

/** Retries until it works. Only faults make it fail, and every request here may repeat. */
export async function insist<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch {
      await systemClock.sleep(repeatMs, signal);
    }
  }
  return undefined;
}

/** Makes purchases until `ending` aborts. It finishes started payments unless `givingUp` aborts. */
export async function buy(
  world: ChaosWorld,
  buyer: Buyer,
  sales: Sale[],
  signals: { readonly ending: AbortSignal; readonly givingUp: AbortSignal },
): Promise<void> {
  let nonce = 0;
  for (let count = buyer.place; !signals.ending.aborted; count += 1) {
    const settlementToken = count % 3 === 2 ? otherToken(world, buyer) : `${buyer.chain.chain.name}::usdc`;
    const sessionId = await insist(createOnce(world, settlementToken), signals.ending);
    if (sessionId === undefined) return;
    const sale: Sale = { sessionId, settlementToken, payChain: buyer.chain.chain.name, orderId: '' };
    sales.push(sale);
    const token = buyer.chain.token('usdc');
    const prepared = await insist(() => buyer.payer.prepare(sessionId, token), signals.ending);
    if (prepared === undefined) return;
    sale.orderId = prepared.aiView.paymentExecutionGuide.order.orderId;
    nonce = await payUntilPaid(buyer, { prepared, nonce }, signals.givingUp);
  }
}

function otherToken(world: ChaosWorld, buyer: Buyer): string {
  const other = world.chains.find(({ life }) => life !== buyer.chain);
  return `${other?.life.chain.name}::usdc`;
}

/** Creates one session. All attempts, at any process, use the same key. */
export function createOnce(
  world: ChaosWorld,
  settlementToken: string,
  limitMs = createLimitMs,
): () => Promise<string> {
  const headers = {
    authorization: `Bearer ${world.secretKey}`,
    'content-type': 'application/json',
    'idempotency-key': randomBytes(16).toString('hex'),
  };
  const lineItems = [
    {
      itemType: 'one_time',
      quantity: 1,
      unitPrice: price,
      productData: { productName: 'A product of a stress run' },
    },
  ];
  const body = JSON.stringify({ accountId: world.accountId, settlementToken, lineItems });
  return async () => {
    const url = `${originOf(world)}/payment/v1/session/checkout/create`;
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(limitMs),
    });
    const reply = (await response.json()) as { code: number; data: { sessionId: string } };
    if (reply.code !== 0) throw new Error(`refused with ${reply.code}`);
    return reply.data.sessionId;
  };
}

/**
 * Signs the approval and the payment once. It broadcasts both repeatedly, as wallets do, until the payment is in a
 * final block: a reorg makes nodes forget them. Returns the wallet's next nonce.
 */
async function payUntilPaid(
  { payer, chain }: Buyer,
  paying: { readonly prepared: AgentReply; readonly nonce: number },
  signal: AbortSignal,
): Promise<number> {
  const guide = paying.prepared.aiView.paymentExecutionGuide;
  const requests = [
    ...guide.prerequisites.map(({ txRequest }) => txRequest),
    guide.executionRequest.txRequest,
  ];
  const raws: string[] = [];
  for (const [index, request] of requests.entries()) {
    raws.push(
      await payer.wallet.signTransaction({
        type: 2,
        to: request.to,
        data: request.data,
        value: request.value,
        chainId: Number(request.chainId),
        nonce: paying.nonce + index,
        gasLimit: 400_000,
        maxFeePerGas: 50_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
      }),
    );
  }
  while (!signal.aborted) {
    for (const raw of raws) {
      // The node may already know or have mined the transaction.
      await chain.anvil.request('eth_sendRawTransaction', [raw]).catch(() => undefined);
    }
    await systemClock.sleep(repeatMs, signal);
    const count = await chain.anvil.request('eth_getTransactionCount', [payer.address, 'finalized']);
    if (Number(count) >= paying.nonce + raws.length) break;
  }
  return paying.nonce + raws.length;
}
