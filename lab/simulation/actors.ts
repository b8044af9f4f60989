import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import {
  cancelSession,
  createCheckoutSession,
  createRefund,
  findSession,
  lockSession,
  type OrderWithTerms,
  prepareDeposit,
  prepareOrder,
  type StoredOrder,
} from '@florin/server/parts';
import { encodeFunctionData } from 'viem';
import type { ChainModel } from './chain-model.ts';
import { unlimitedPayerAddress } from './configuration.ts';
import type { SessionBehaviour } from './scenario.ts';
import { modelHash } from './seeded-random.ts';
import type { ServiceModel } from './service-model.ts';
import type { World } from './world.ts';

/** How many times a client retries a request before it gives up. */
const maxRequests = 12;
/** How many times a payer checks a payment. */
const maxChecks = 25;

/** The parties of one session: its merchant, its payers and strangers. */
export class Actors {
  readonly world: World;
  readonly behaviour: SessionBehaviour;
  readonly name: string;
  #hashes = 0;

  constructor(world: World, behaviour: SessionBehaviour, index: number) {
    this.world = world;
    this.behaviour = behaviour;
    this.name = `session ${index}`;
  }

  anyChain(): ChainModel {
    return this.world.options.random.pick(this.world.models);
  }

  /** Retries a request until the service answers. Returns undefined when the service refuses or the client gives up. */
  async ask<T>(work: (service: ServiceModel) => Promise<T>): Promise<T | undefined> {
    for (let attempt = 0; attempt < maxRequests; attempt += 1) {
      const service = this.world.service();
      if (service !== undefined) {
        const lost = service.process.killed.then(() => undefined);
        try {
          const answer = await Promise.race([work(service), lost]);
          if (answer !== undefined) return answer;
        } catch (error) {
          if (error instanceof Refusal) return undefined;
          this.world.options.scheduler.trace(`${this.name}: ${String(error)}`);
        }
      }
      await this.world.sleep(2_000);
    }
    return undefined;
  }

  create(): Promise<string | undefined> {
    const { accountId, merchantId, chains, options } = this.world;
    const { random } = options;
    const settlementToken = chains.tokens[0]?.tokenId ?? '';
    const unitPrice = random.between(1, 50) * 1_000_000 + random.between(0, 999);
    const feeModel = random.chance(0.5) ? 1 : 2;
    return this.ask(async ({ db, deps }) => {
      const session = await createCheckoutSession(db, deps, {
        merchantId,
        metadataText: '{}',
        body: {
          accountId,
          settlementToken,
          feeModel,
          lineItems: [
            { itemType: 'one_time', quantity: 1, unitPrice, productData: { productName: this.name } },
          ],
        },
      });
      return session.sessionId;
    });
  }

  async prepare(sessionId: string, model: ChainModel, payer: Hex): Promise<StoredOrder | undefined> {
    return (await this.prepareBoth(sessionId, model, payer))?.order;
  }

  /** Like the hosted page: prepares an order for the payer's wallet and its deposit address. */
  prepareBoth(
    sessionId: string,
    model: ChainModel,
    payer: Hex,
  ): Promise<{ order: StoredOrder; deposit: OrderWithTerms | undefined } | undefined> {
    const [token] = model.chain.tokens;
    if (token === undefined) throw new Error(`${model.chain.name} has no token`);
    return this.ask(({ db, deps }) =>
      db.transaction(async (transaction) => {
        const session = await lockSession(transaction, sessionId);
        // The restored backup has no copy of this session.
        if (session === undefined) throw new Refusal('session_not_found');
        const request = { session, payer, payerEmail: '', token };
        const order = await prepareOrder(transaction, deps, request);
        return { order, deposit: await prepareDeposit(transaction, deps, request, order) };
      }),
    );
  }

  async pay(sessionId: string, model: ChainModel, index = 0): Promise<void> {
    const { random } = this.world.options;
    const payer = this.address(`payer ${index}`);
    const order = await this.prepare(sessionId, model, payer);
    if (order === undefined) return;
    await this.world.sleep(random.between(0, 4_000));
    await this.payOrder(model, payer, order);
  }

  /** Sends the payment of an order and follows it. */
  async payOrder(model: ChainModel, payer: Hex, order: StoredOrder): Promise<void> {
    const data = this.payCall(order);
    const hash = this.send(model, payer, { to: model.chain.gateway, data });
    await this.follow(model, { payer, hash, data, order });
  }

  async payLate(sessionId: string): Promise<void> {
    const model = this.anyChain();
    const payer = this.address('payer 0');
    const order = await this.prepare(sessionId, model, payer);
    if (order === undefined) return;
    while (BigInt(this.world.seconds()) <= order.order.payBy) await this.world.sleep(60_000);
    this.send(model, payer, { to: model.chain.gateway, data: this.payCall(order) });
  }

  /** Follows a payment: what a payer does once a block includes it, and what they do after a reorg removes it. */
  async follow(
    model: ChainModel,
    sent: { payer: Hex; hash: Hex; data: Hex; order: StoredOrder },
  ): Promise<void> {
    let wasMined = false;
    for (let check = 0; check < maxChecks; check += 1) {
      await this.world.sleep(4_000);
      const slot = model.head.state.slots.get(sent.order.order.metaData);
      const isMined = slot?.orderId === sent.order.orderId;
      if (isMined && !wasMined) this.#afterPayment(model, sent.order);
      if (!isMined && model.nextNonce(sent.payer) > 0) return;
      const isGone = !isMined && !model.mempool.has(`${sent.payer.toLowerCase()}:0`);
      if (isGone && this.behaviour === 'forgetful') return;
      if (isGone && this.behaviour === 'double_spender') {
        this.send(model, sent.payer, { to: sent.payer, data: '0x' });
        return;
      }
      if (isGone) this.send(model, sent.payer, { to: model.chain.gateway, data: sent.data });
      wasMined ||= isMined;
    }
  }

  #afterPayment(model: ChainModel, order: StoredOrder): void {
    if (this.behaviour !== 'stranger_settles') return;
    const data = encodeFunctionData({
      abi: paymentGatewayAbi,
      functionName: 'settle',
      args: [[order.order]],
    });
    this.send(model, this.address('stranger'), { to: model.chain.gateway, data });
  }

  async cancel(sessionId: string): Promise<void> {
    const { merchantId, options } = this.world;
    await this.world.sleep(options.random.between(0, 300));
    await this.ask(({ db, deps }) =>
      db.transaction(async (transaction) => {
        await cancelSession(transaction, deps, { merchantId, sessionId });
        return true;
      }),
    );
  }

  async refund(sessionId: string): Promise<void> {
    const { merchantId } = this.world;
    for (let check = 0; check < maxChecks; check += 1) {
      await this.world.sleep(1_500);
      const status = await this.ask(async ({ db }) => (await findSession(db, sessionId))?.status ?? 'none');
      if (status === undefined || status === 'none') return;
      if (status === 'initialized') continue;
      await this.ask(({ db, deps }) =>
        db.transaction((transaction) => createRefund(transaction, deps, { merchantId, body: { sessionId } })),
      );
      return;
    }
  }

  payCall({ order, signature }: StoredOrder): Hex {
    return encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'pay', args: [order, signature] });
  }

  /** Sends a transaction from a wallet whose next nonce is `nonce`. */
  send(model: ChainModel, from: Hex, call: { to: Hex; data: Hex }, nonce = 0): Hex {
    this.#hashes += 1;
    const hash = modelHash(`${this.name} ${model.chain.name} ${this.#hashes}`);
    const maxFee = 10n ** 15n * BigInt(this.#hashes);
    model.submit({ ...call, from, hash, nonce, maxFee, tip: 1n });
    return hash;
  }

  /** A wallet that holds enough for its payments. */
  address(role: string): Hex {
    return unlimitedPayerAddress(modelHash(`${this.name} ${role}`));
  }
}
