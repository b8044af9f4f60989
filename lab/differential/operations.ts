import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { type Hex, type Order, orderKinds, type Payout } from '@florin/protocol/order.ts';
import { domainVersion, payoutTypes, vaultDomainName } from '@florin/protocol/typed-data.ts';
import { consentsOf, orderIdOf, permit2Address, receiverOf, type StoredOrder } from '@florin/server/parts';
import { type Address, encodeFunctionData, hashTypedData, parseAbi, zeroAddress, zeroHash } from 'viem';
import { sign } from 'viem/accounts';
import { batchData } from '../simulation/batch.ts';
import type { Call } from '../simulation/contract-state.ts';
import { modelHash, type SeededRandom } from '../simulation/seeded-random.ts';
import { type RealChain, realChainId } from './real-chain.ts';

/** One step of a sequence. */
export interface Operation extends Call {
  /** Describes the operation in reports of differences. */
  readonly label: string;
}

/** An order with the service's signature, which may be invalid. */
interface SignedOrder {
  readonly orderId: Hex;
  readonly order: Order;
  readonly signature: Hex;
}

const tokenAbi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
]);

const bogus: Hex = `0x${'11'.repeat(64)}1b`;

/**
 * Draws random operations from a seed. Most of them succeed; the others fail, with every possible error. It knows
 * every signer, which a model cannot infer.
 */
export class Operations {
  readonly #chain: RealChain;
  readonly #random: SeededRandom;
  readonly #name: string;
  readonly #orders: SignedOrder[] = [];
  readonly #payouts: { readonly payout: Payout; readonly signature: Hex }[] = [];
  /** Valid signatures, by signed content. */
  readonly #signed = new Set<string>();

  constructor(chain: RealChain, random: SeededRandom, name: string) {
    this.#chain = chain;
    this.#random = random;
    this.#name = name;
  }

  isSigned(about: string, signature: Hex): boolean {
    return this.#signed.has(`${about} ${signature}`);
  }

  /** One call, or several unrelated ones in one transaction. */
  async next(timeSeconds: number): Promise<Operation> {
    const { batcher } = this.#chain;
    const single = await this.#single(timeSeconds);
    const isBatched = this.#random.chance(0.35);
    // The batcher sends nothing by itself.
    if (!isBatched && single.from !== batcher) return single;
    const calls = isBatched ? await this.#batchAround(single, timeSeconds) : [single];
    const label = `batch of ${calls.map((call) => call.label.split(' ')[0]).join(', ')}`;
    return { label, from: this.#anyAccount(), to: batcher, data: batchData(calls) };
  }

  /**
   * Puts other calls before and after a call, some of them twice. Often the last one takes tokens out of the gateway.
   */
  async #batchAround(single: Operation, timeSeconds: number): Promise<Operation[]> {
    const random = this.#random;
    const { batcher, gateway, vault } = this.#chain;
    const paid = random.pick(this.#orders).order;
    const { token } = paid;
    const calls = [single];
    for (let count = random.between(1, 4); count > 0; count -= 1) {
      const call = random.chance(0.6) ? this.#stray(token) : await this.#single(timeSeconds);
      calls.push(...(random.chance(0.15) ? [call, call] : [call]));
    }
    if (random.chance(0.5))
      for (const to of [gateway, vault]) calls.push(this.#transfer(token, batcher, to, 1n));
    if (random.chance(0.4)) calls.push(this.#gateway('settle', batcher, [[paid]]));
    if (random.chance(0.4)) calls.push(this.#gateway('withdrawFees', batcher, [token]));
    return calls;
  }

  /** Unexpected tokens to contracts and deposit addresses, mostly of the usual kind. */
  #stray(usual: Hex): Operation {
    const { batcher, gateway, vault, tokens } = this.#chain;
    const receivers = this.#orders.map((order) => this.#receiverOf(order));
    const to = this.#random.pick([gateway, gateway, gateway, vault, vault, vault, ...receivers]);
    const value = BigInt(this.#random.between(0, 1_000));
    const token = this.#random.chance(0.7) ? usual : this.#random.pick(tokens);
    return this.#transfer(token, batcher, to, value);
  }

  async #single(timeSeconds: number): Promise<Operation> {
    const { roles, gateway, batcher } = this.#chain;
    const random = this.#random;
    const isNew = this.#orders.length === 0 || random.chance(0.25);
    const given = isNew ? await this.#newOrder(timeSeconds) : random.pick(this.#orders);
    const { order } = given;
    const isAble = order.payer === batcher || roles.payers.some(({ address }) => address === order.payer);
    const payer = isAble && random.chance(0.92) ? order.payer : this.#anyAccount();
    const settler = random.chance(0.85) ? roles.settler.address : this.#anyAccount();
    const admin = random.chance(0.9) ? roles.admin.address : this.#anyAccount();
    const choices: readonly (readonly [number, () => Operation | Promise<Operation>])[] = [
      [14, () => this.#gateway('pay', payer, [order, given.signature])],
      [8, () => this.#approve(order, payer)],
      [7, () => this.#payBySignature(given, settler)],
      [7, () => this.#transfer(order.token, payer, this.#receiverOf(given), this.#near(order.total))],
      [7, () => this.#gateway('collect', this.#anyAccount(), [order, given.signature])],
      [6, () => this.#gateway('rescue', this.#anyAccount(), [order, this.#token(order)])],
      [16, () => this.#gateway('settle', settler, [this.#batch(given)])],
      [6, () => this.#gateway('refund', settler, [order])],
      [6, () => this.#gateway('reclaim', random.chance(0.5) ? payer : this.#anyAccount(), [order])],
      [6, () => this.#gateway('refundSettled', this.#anyAccount(), [order, this.#near(order.total)])],
      [3, () => this.#gateway('withdrawFees', this.#anyAccount(), [order.token])],
      [9, () => this.#payOut(settler, timeSeconds)],
      [4, () => this.#block(order.token, admin)],
      [1, () => this.#gateway(random.chance(0.4) ? 'pause' : 'unpause', admin, [])],
      [3, () => this.#approveMuch(order.token)],
      [2, () => this.#withdraw(order.token, admin)],
      [3, () => this.#stray(order.token)],
    ];
    let left = random.between(
      1,
      choices.reduce((sum, [weight]) => sum + weight, 0),
    );
    for (const [weight, make] of choices) {
      left -= weight;
      if (left <= 0) return make();
    }
    return this.#gateway('settle', gateway, [[]]);
  }

  /** All accounts whose balances may change. */
  holders(): Hex[] {
    const { roles, gateway, vault, route, messenger } = this.#chain;
    const people = Object.values(roles).flatMap((role) => ('address' in role ? [role.address] : []));
    const payers = roles.payers.map(({ address }) => address);
    const receivers = this.#orders.map((order) => this.#receiverOf(order));
    const { batcher, tokens } = this.#chain;
    return [...people, ...payers, ...receivers, gateway, vault, route, messenger, batcher, ...tokens];
  }

  orders(): readonly SignedOrder[] {
    return this.#orders;
  }

  #anyAccount(): Hex {
    const { roles } = this.#chain;
    return this.#random.pick([
      roles.merchant,
      roles.guardian,
      roles.settler,
      roles.orderSigner,
      ...roles.payers,
    ]).address;
  }

  #token({ token }: Order): Hex {
    return this.#random.chance(0.8) ? token : this.#random.pick(this.#chain.tokens);
  }

  #near(total: bigint): bigint {
    return this.#random.pick([total, total, total, total / 2n, total + 1n, 2n * total]);
  }

  #receiverOf({ orderId }: SignedOrder): Hex {
    return receiverOf(this.#chain.gateway, orderId);
  }

  #gateway(functionName: string, from: Hex, args: readonly unknown[]): Operation {
    const data = encodeFunctionData({ abi: paymentGatewayAbi, functionName, args } as Parameters<
      typeof encodeFunctionData
    >[0]);
    return { label: functionName, from, to: this.#chain.gateway, data };
  }

  #approve({ token, total }: Order, from: Hex): Operation {
    const spender = this.#random.chance(0.8) ? this.#chain.gateway : permit2Address;
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [spender, 3n * total] });
    return { label: 'approve', from, to: token, data };
  }

  #approveMuch(token: Hex): Operation {
    const spender = this.#random.pick([this.#chain.gateway, permit2Address]);
    const data = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'approve',
      args: [spender, 2n ** 256n - 1n],
    });
    return { label: 'approve all', from: this.#anyAccount(), to: token, data };
  }

  #transfer(token: Hex, from: Hex, to: Hex, value: bigint): Operation {
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, value] });
    return { label: 'transfer', from, to: token, data };
  }

  #block(token: Hex, from: Hex): Operation {
    const { roles, vault } = this.#chain;
    const account = this.#random.pick([
      roles.merchant.address,
      vault,
      ...roles.payers.map(({ address }) => address),
    ]);
    const functionName = this.#random.chance(0.4) ? 'blacklist' : 'unBlacklist';
    const data = encodeFunctionData({ abi: tokenAbi, functionName, args: [account] });
    return { label: `${functionName} ${account}`, from, to: token, data };
  }

  #withdraw(token: Hex, from: Hex): Operation {
    const { gateway, vault } = this.#chain;
    const to = this.#random.pick([this.#anyAccount(), zeroAddress as Address, vault, gateway]);
    const args = [token, to, 1_000_000n] as const;
    const data = encodeFunctionData({ abi: payoutVaultAbi, functionName: 'withdraw', args });
    return { label: 'withdraw', from, to: this.#chain.vault, data };
  }

  #batch(given: SignedOrder): Order[] {
    const others = Array.from(
      { length: this.#random.between(0, 4) },
      () => this.#random.pick(this.#orders).order,
    );
    return this.#random.chance(0.4) ? [given.order] : [given.order, ...others];
  }

  async #payBySignature(given: SignedOrder, from: Hex): Promise<Operation> {
    const { order, orderId, signature } = given;
    const method = this.#random.pick(['eip3009', 'permit2'] as const);
    const domain = {
      name: order.token === this.#chain.tokens[0] ? 'USD Coin' : 'Euro',
      version: '2',
      chainId: realChainId,
      verifyingContract: order.token,
    };
    const stored = { orderId, order, chainId: realChainId } as StoredOrder;
    const consent = this.#random.pick(consentsOf(method, stored, { gateway: this.#chain.gateway, domain }));
    const payer = this.#chain.roles.payers.find(({ address }) => address === order.payer);
    // Our contracts sign nothing.
    const about = `${method} ${orderId} ${consent.nonce}`;
    const permit = payer === undefined ? bogus : await this.#sign(consent.digest, payer.privateKey, about);
    const args =
      method === 'eip3009' ? [order, signature, permit] : [order, signature, consent.nonce, permit];
    return this.#gateway(method === 'eip3009' ? 'payWithAuthorization' : 'payWithPermit2', from, args);
  }

  async #sign(hash: Hex, privateKey: Hex, about: string): Promise<Hex> {
    if (this.#random.chance(0.05)) return this.#random.pick([bogus, '0x']);
    const signature = await sign({ hash, privateKey, to: 'hex' });
    this.#signed.add(`${about} ${signature}`);
    return signature;
  }

  async #newOrder(timeSeconds: number): Promise<SignedOrder> {
    const random = this.#random;
    const { roles, gateway, tokens, vault } = this.#chain;
    const total = BigInt(random.between(1, 50_000_000));
    const fee = random.pick([0n, total / 100n, total / 100n, total]);
    const orderType = random.pick([0, 0, 0, 1, 1, 2, 2, 3] as const);
    const isAway =
      orderType === orderKinds.cctp || (orderType === orderKinds.vaultPayout && random.chance(0.8));
    const payBy = BigInt(timeSeconds + random.between(-50, 60_000));
    const last = this.#orders.at(-1);
    const order: Order = {
      channelId: modelHash(`${this.#name} channel`),
      metaData: this.#metaData(last),
      payer: random.chance(0.8) ? random.pick(roles.payers).address : this.#ownParty(),
      token: orderType === orderKinds.cctp && random.chance(0.8) ? tokens[0] : random.pick(tokens),
      to: random.chance(0.8) ? random.pick([roles.merchant, roles.guardian]).address : this.#ownParty(),
      total,
      payment: random.chance(0.5) ? total : total - fee,
      fee,
      payBy,
      reclaimAt: payBy + BigInt(random.between(172_800, 176_000)),
      orderType,
      targetChain: isAway ? random.pick([31_338n, 31_338n, 31_338n, 77n]) : BigInt(realChainId),
      via: this.#viaOf(orderType),
    };
    const wrong: readonly Partial<Order>[] = [
      { to: gateway },
      { to: zeroAddress },
      { to: vault },
      { to: order.payer },
      { total: 0n },
      { fee: total + 1n },
      { payment: total + 1n },
      { targetChain: 0n },
      { targetChain: 31_338n },
      { orderType: 4 as Order['orderType'] },
      { total: 2n ** 128n, payment: 2n ** 128n },
      { via: zeroAddress },
      { via: gateway },
      { via: vault },
      { reclaimAt: payBy + 172_799n },
      { reclaimAt: BigInt(timeSeconds) + 10_600_000n },
      { payBy: BigInt(timeSeconds) + 10_400_000n, reclaimAt: BigInt(timeSeconds) + 10_600_000n },
    ];
    const made = random.chance(0.88) ? order : { ...order, ...random.pick(wrong) };
    const orderId = orderIdOf(realChainId, gateway, made);
    const signature = await this.#sign(orderId, roles.orderSigner.privateKey, `order ${orderId}`);
    const signed = { orderId, order: made, signature };
    this.#orders.push(signed);
    return signed;
  }

  /** Nearly always the vault or the route; sometimes another address, which the contract takes as well. */
  #viaOf(orderType: Order['orderType']): Hex {
    const { vault, route, roles } = this.#chain;
    if (orderType < orderKinds.vaultPayout) return zeroAddress;
    if (this.#random.chance(0.1)) return roles.guardian.address;
    return orderType === orderKinds.cctp ? route : vault;
  }

  /**
   * A contract of the installation, a deposit address or the batcher. Today's service signs such orders only for the
   * batcher.
   */
  #ownParty(): Hex {
    const { vault, route, tokens, batcher } = this.#chain;
    const receivers = this.#orders.map((order) => this.#receiverOf(order));
    return this.#random.pick([vault, vault, route, ...tokens, ...receivers, batcher, batcher]);
  }

  /** Often the previous order's, which makes several orders of one session. */
  #metaData(last: SignedOrder | undefined): Hex {
    if (last !== undefined && this.#random.chance(0.2)) return last.order.metaData;
    if (this.#random.chance(0.01)) return zeroHash;
    return modelHash(`${this.#name} session ${this.#orders.length}`);
  }

  async #payOut(from: Hex, timeSeconds: number): Promise<Operation> {
    const random = this.#random;
    const batch = [];
    for (let count = random.between(1, 3); count > 0; count -= 1) {
      const known = this.#payouts.length > 0 && random.chance(0.3);
      batch.push(known ? random.pick(this.#payouts) : await this.#newPayout(timeSeconds));
    }
    const payouts = batch.map(({ payout }) => payout);
    const signatures = batch.map(({ signature }) => signature);
    if (random.chance(0.03)) signatures.pop();
    const args = [payouts, signatures] as const;
    const data = encodeFunctionData({ abi: payoutVaultAbi, functionName: 'payoutBatch', args });
    return { label: 'payoutBatch', from, to: this.#chain.vault, data };
  }

  async #newPayout(timeSeconds: number) {
    const random = this.#random;
    const { roles, tokens, vault } = this.#chain;
    const count = this.#payouts.length;
    const amount = BigInt(random.between(1, 40)) * 10n ** BigInt(random.between(6, 10));
    const payout: Payout = {
      orderId: random.chance(0.03) ? zeroHash : modelHash(`${this.#name} payout ${count}`),
      channelId: modelHash('channel'),
      metaData: modelHash(`${this.#name} paid ${count}`),
      sourceChain: random.chance(0.05) ? 0n : 31_338n,
      token: random.pick([...tokens, ...tokens, ...tokens, roles.merchant.address]),
      to: random.pick([
        roles.merchant.address,
        roles.merchant.address,
        roles.guardian.address,
        vault,
        zeroAddress,
      ]),
      amount: random.chance(0.03) ? 0n : amount,
      deadline: BigInt(timeSeconds + random.between(-20, 200_000)),
    };
    const domain = {
      name: vaultDomainName,
      version: domainVersion,
      chainId: realChainId,
      verifyingContract: vault,
    };
    const digest = hashTypedData({ domain, types: payoutTypes, primaryType: 'Payout', message: payout });
    const signature = await this.#sign(
      digest,
      roles.orderSigner.privateKey,
      `payout ${JSON.stringify(payout, bigints)}`,
    );
    const signed = { payout, signature };
    this.#payouts.push(signed);
    return signed;
  }
}

/** A replacer for JSON, which has no bigints. */
export function bigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
