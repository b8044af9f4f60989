import { randomBytes } from 'node:crypto';
import {
  appendBlocks,
  type BlockHeader,
  beginChain,
  createSender,
  finalize,
  findCursor,
  haltChain,
  removeHead,
  rewind,
  type Sender,
  storedBlock,
  type WalletSigner,
  walletOf,
} from '@florin/evm';
import { setOutcomes } from '@florin/evm/testing';
import { statement } from '@florin/pg';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import type { ChainEvent, ChainEventName } from '#contracts/event.ts';
import { purposes, type SendPurpose } from '#contracts/purpose.ts';
import { createAccount } from '#merchants/account.ts';
import { createMerchant } from '#merchants/merchant.ts';
import { orderSignerOf } from '#orders/order-signer.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { systemRandom } from '#outside/random.ts';
import { chainReactions, outcomesOf } from '#service/reactions.ts';
import { prepareOrder } from '#sessions/order-preparation.ts';
import { createCheckoutSession, findSession, lockSession } from '#sessions/session.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { SettlementContext, SettlementSettings } from '#settlement/context.ts';
import { silentLog } from '#telemetry/log.ts';
import { fixtureChains } from './agent-fixture.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { movableClock } from './movable-clock.ts';
import { SettlementNode } from './settlement-node.ts';

const legsOfOrder = statement({
  name: 'settlement_fixture_legs',
  parameters: { orderId: 'text' },
  columns: { leg: 'text', status: 'text', reason: 'text', attempts: 'int4' },
  text: 'select leg, status, reason, attempts from settlements where order_id = :orderId order by leg',
});

const eventBodies = statement({
  name: 'settlement_fixture_events',
  parameters: { objectId: 'text' },
  columns: { body: 'text' },
  text: 'select body from events where object_id = :objectId order by sequence',
});

/** One entry of a block: an event of an order, with arguments where the service reads them. */
export type Happening = readonly [
  name: ChainEventName,
  order: StoredOrder,
  values?: Readonly<Record<string, string>>,
];

const vaultEvents: readonly ChainEventName[] = ['PaidOut', 'PayoutSkipped'];

const sentOfOrder = statement({
  name: 'settlement_fixture_sent',
  parameters: { orderId: 'text' },
  columns: { leg: 'text', recipient: 'text', transaction_id: 'int8' },
  text: `select l.leg, t.recipient, t.transaction_id from settlements l
   join sent_transactions t on t.transaction_id = l.transaction_id where l.order_id = :orderId order by l.leg`,
});

export const settlementSettings: SettlementSettings = {
  batchSize: 50,
  windowMs: 50,
  windowSeconds: 0,
  notMinedAfterSeconds: 600,
  keepAfterSeconds: 1_800,
  maxBaseFeeGwei: undefined,
  outflow: undefined,
};

/**
 * Payments and settlements over a separate database, with blocks made by the test. Tests can produce every order of
 * events, finality and reorganisation.
 */
export class SettlementWorld extends SettlementNode {
  readonly clock = movableClock();
  readonly database: TestDatabase;
  readonly chains: Chains;
  readonly sender: Sender<SendPurpose>;
  readonly #wallet: WalletSigner;
  #merchantId = '';
  #accountId = '';

  private constructor(database: TestDatabase, chains: Chains, settlerKey: Hex = `0x${'22'.repeat(32)}`) {
    super();
    this.database = database;
    this.chains = chains;
    this.#wallet = walletOf(settlerKey);
    this.sender = createSender({
      chains: chains.all,
      purposes,
      rpcOf: () => this.node(),
      db: database.db,
      clock: this.clock,
      log: silentLog,
      wallet: this.#wallet,
      maxFeePerGas: 10n ** 12n,
      onOutcome: outcomesOf(this.moves),
    });
  }

  static async open(): Promise<SettlementWorld> {
    const world = new SettlementWorld(await testDatabase(), fixtureChains);
    const { db } = world.database;
    const created = await db.transaction(async (transaction) => {
      const { merchantId } = await createMerchant(transaction, world.moves, { merchantName: 'Shop' });
      const account = await createAccount(
        transaction,
        { ...world.moves, chains: world.chains },
        {
          merchantId,
          accountName: 'Main',
          accountAddress: `0x${'c3'.repeat(20)}`,
          settlementCurrencies: world.chains.tokens.map(({ tokenId }) => tokenId),
        },
      );
      return { merchantId, accountId: account.accountId };
    });
    world.#merchantId = created.merchantId;
    world.#accountId = created.accountId;
    for (const chain of world.chains.all)
      await beginChain(world.#context(chain.name), world.#header(0n, '0x'));
    return world;
  }

  /** The same database under another configuration. */
  with(changed: { chains?: Chains; settlerKey?: Hex }): SettlementWorld {
    const world = new SettlementWorld(this.database, changed.chains ?? this.chains, changed.settlerKey);
    world.clock.time = this.clock.time;
    world.#merchantId = this.#merchantId;
    world.#accountId = this.#accountId;
    return world;
  }

  get moves() {
    return { clock: this.clock, random: systemRandom, origin: 'https://pay.example.com', log: silentLog };
  }

  get deps(): SettlementContext {
    return {
      ...this.moves,
      db: this.database.db,
      chains: this.chains,
      sender: this.sender,
      signer: orderSignerOf(`0x${'11'.repeat(32)}`),
      settings: settlementSettings,
      attestations: undefined,
      rpcOf: () => this.node(),
    };
  }

  async close(): Promise<void> {
    await this.database.close();
  }

  chain(name: string): Chain {
    const chain = this.chains.byName(name);
    if (chain === undefined) throw new Error(`no chain ${name}`);
    return chain;
  }

  /** A session for one dollar, or the given Micro-USD, settled in this token. */
  async openSession(settlementToken: string, unitPrice = 1_000_000): Promise<string> {
    const productData = { productName: 'Tea' };
    const body = {
      accountId: this.#accountId,
      settlementToken,
      lineItems: [{ itemType: 'one_time' as const, quantity: 1, unitPrice, productData }],
    };
    const session = await createCheckoutSession(
      this.database.db,
      { ...this.moves, chains: this.chains, rates: this.#rates },
      { merchantId: this.#merchantId, body, metadataText: '{}' },
    );
    return session.sessionId;
  }

  /** An order for a session, to be paid in this token by a new payer. */
  async signOrder(
    sessionId: string,
    tokenId: string,
    payer: Hex = `0x${randomBytes(20).toString('hex')}`,
  ): Promise<StoredOrder> {
    const token = this.chains.token(tokenId);
    if (token === undefined) throw new Error(`no token ${tokenId}`);
    const deps = {
      ...this.moves,
      chains: this.chains,
      rates: this.#rates,
      signer: this.deps.signer,
      reclaimAfterSeconds: 604_800,
    };
    return this.database.db.transaction(async (transaction) => {
      const session = await lockSession(transaction, sessionId);
      if (session === undefined) throw new Error(`no session ${sessionId}`);
      return prepareOrder(transaction, deps, { session, payer, payerEmail: '', token });
    });
  }

  /** Appends a block with these events; not final yet. All events of a block are in one transaction. */
  async mine(chainName: string, ...happenings: readonly Happening[]): Promise<Hex> {
    const context = this.#context(chainName);
    const cursor = await this.#cursor(chainName);
    const header = this.#header(cursor.headNumber + 1n, cursor.headHash);
    const txHash: Hex = `0x${randomBytes(32).toString('hex')}`;
    const events = happenings.map(
      ([name, order, values = {}], logIndex): ChainEvent => ({
        chainId: context.chain.chainId,
        blockNumber: header.number,
        blockHash: header.hash,
        blockTime: header.time,
        logIndex,
        txHash,
        contract: name === 'Minted' ? 'transmitter' : vaultEvents.includes(name) ? 'vault' : 'gateway',
        name,
        orderId: order.orderId,
        arguments: { ...this.#saidBy(context.chain, name, order), ...values },
      }),
    );
    await appendBlocks(context, cursor, [{ header, events }]);
    return txHash;
  }

  /** Makes all blocks up to the head final, or up to some blocks below it. */
  async makeFinal(chainName: string, depth = 0n): Promise<void> {
    const context = this.#context(chainName);
    const cursor = await this.#cursor(chainName);
    const number = cursor.headNumber - depth;
    const block = await storedBlock(context, number);
    if (block === undefined) throw new Error(`no block ${number}`);
    await finalize(context, cursor, block);
  }

  /** Appends a block with these events and makes it final. */
  async mineFinal(chainName: string, ...happenings: readonly Happening[]): Promise<Hex> {
    const txHash = await this.mine(chainName, ...happenings);
    await this.makeFinal(chainName);
    return txHash;
  }

  /** Removes the head block. */
  async reorg(chainName: string): Promise<void> {
    await removeHead(this.#context(chainName), await this.#cursor(chainName));
  }

  /** Reverts all blocks above the one this far below the final block, as after a halt that an operator has ended. */
  async dropFinal(chainName: string, depth: bigint): Promise<void> {
    const context = this.#context(chainName);
    const cursor = { ...(await this.#cursor(chainName)), isResyncDue: true };
    const anchor = await storedBlock(context, cursor.finalNumber - depth);
    if (anchor === undefined) throw new Error('no such block');
    await rewind(context, cursor, anchor);
  }

  /** Halts a chain. */
  async halt(chainName: string): Promise<void> {
    const cursor = await this.#cursor(chainName);
    await haltChain(this.#context(chainName), cursor, 'reorg below the final block');
  }

  async session(sessionId: string): Promise<StoredSession> {
    const session = await findSession(this.database.db, sessionId);
    if (session === undefined) throw new Error(`no session ${sessionId}`);
    return session;
  }

  async legs(order: StoredOrder) {
    return this.database.db.query(legsOfOrder, { orderId: order.orderId });
  }

  /** The transactions of the order's legs, with the called contracts. */
  async sent(order: StoredOrder) {
    return this.database.db.query(sentOfOrder, { orderId: order.orderId });
  }

  /** Records that the transaction of the order's leg has succeeded in the final block; returns its id. */
  async finishTransactions(order: StoredOrder, txHash: Hex): Promise<bigint> {
    const [sent] = await this.sent(order);
    const cursor = await findCursor(this.database.db, order.chainId);
    if (sent === undefined || cursor === undefined) throw new Error('nothing was sent');
    const { transaction_id: transactionId } = sent;
    await this.database.db.query(setOutcomes, {
      transactionIds: [transactionId],
      statuses: ['succeeded'],
      minedHashes: [txHash],
      minedBlocks: [cursor.finalNumber],
      updatedAt: this.clock.now(),
      rewinds: cursor.rewinds,
    });
    return transactionId;
  }

  /** The session's events: their types, with the kind for exceptions. */
  async eventsOf(sessionId: string): Promise<string[]> {
    const rows = await this.database.db.query(eventBodies, { objectId: sessionId });
    return rows.map((row) => {
      const body = JSON.parse(row.body) as { type: string; data: { exception?: { kind: string } } };
      const kind = body.data.exception?.kind;
      return kind === undefined ? body.type : `${body.type} ${kind}`;
    });
  }

  /** The recipient of a settlement, as the contracts' event reports it. Vaults pay in their chain's first token. */
  #saidBy(chain: Chain, name: ChainEventName, { order }: StoredOrder): Record<string, string> {
    if (name === 'PaidOut') return { to: order.to, token: chain.tokens[0]?.address ?? '' };
    if (name !== 'Settled') return {};
    return { to: order.orderType < orderKinds.vaultPayout ? order.to : order.via };
  }

  readonly #rates = { sameToken: 2000, sameChain: 3000, crossChain: 6000 };

  #context(chainName: string) {
    return {
      chain: this.chain(chainName),
      db: this.database.db,
      clock: this.clock,
      log: silentLog,
      handler: chainReactions({ ...this.moves, chains: this.chains }),
    };
  }

  async #cursor(chainName: string) {
    const cursor = await findCursor(this.database.db, this.chain(chainName).chainId);
    if (cursor === undefined) throw new Error(`chain ${chainName} has not begun`);
    return cursor;
  }

  #header(number: bigint, parentHash: Hex): BlockHeader {
    return {
      number,
      hash: `0x${randomBytes(32).toString('hex')}`,
      parentHash,
      time: new Date(this.clock.time + Number(number) * 1000),
      logsBloom: '0x',
      baseFeePerGas: 1n,
      transactionHashes: [],
    };
  }
}
