import { type Rpc, RpcError } from '@florin/evm';
import { statement } from '@florin/pg';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeAbiParameters, encodeErrorResult } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { SendPlan, SendRequest } from '#chains/sender/sender.ts';
import { nothingTold } from '#deposits/deposit-gas.ts';
import { type DepositMoveDeps, releaseUnfollowedMoves } from '#deposits/deposit-move.ts';
import { orderSignerOf } from '#orders/order-signer.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import type { Log } from '#telemetry/log.ts';
import { MerchantWorld } from './merchant-fixture.ts';
import { addOrder, addSession } from './payment-fixture.ts';

const insertSent = statement({
  name: 'deposit_moves_fixture_sent',
  parameters: { purpose: 'text' },
  columns: { transaction_id: 'int8' },
  text: `insert into sent_transactions (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at,
     updated_at)
   select 1, '0xmoves', count(*), :purpose, '0xto', '0x', 1, 'pending', now(), now() from sent_transactions
   returning transaction_id`,
});

/** Moves of deposit addresses over a real database, whose chain says what a test has written down for it. */
export class DepositMoves {
  readonly world: MerchantWorld;
  /** Whose sessions all are. */
  readonly merchantId: string;
  readonly #shop: { readonly key: string; readonly accountId: string };
  /** What the chain says: all addresses hold ten dollars, of a total of 10.02. */
  readonly node: {
    collectReverts: Hex;
    isRecipientBlocked: boolean;
    calls: unknown[];
    beforeBalances: () => Promise<void>;
  };
  /** What the sender has recorded; each takes a hundred units of gas. */
  readonly sent: SendRequest[] = [];
  /** Events of the log. */
  readonly told: string[] = [];
  #toldBudgets = nothingTold();

  private constructor(
    world: MerchantWorld,
    { merchantId, ...shop }: { merchantId: string; key: string; accountId: string },
  ) {
    this.world = world;
    this.merchantId = merchantId;
    this.#shop = shop;
    this.node = {
      collectReverts: '0x',
      isRecipientBlocked: false,
      calls: [],
      beforeBalances: async () => {},
    };
    this.begin();
  }

  static async open(): Promise<DepositMoves> {
    const world = await MerchantWorld.open();
    const merchantId = await world.addMerchant();
    const key = await world.addKey(merchantId);
    return new DepositMoves(world, { merchantId, key, accountId: await world.addAccount(merchantId) });
  }

  close(): Promise<void> {
    return this.world.close();
  }

  /** Forgets what has happened; two days later. */
  begin(): void {
    const args = [this.usdc.address] as const;
    this.node.collectReverts = encodeErrorResult({
      abi: paymentGatewayAbi,
      errorName: 'TransferFailed',
      args,
    });
    Object.assign(this.node, { isRecipientBlocked: false, calls: [], beforeBalances: async () => {} });
    this.sent.length = 0;
    this.told.length = 0;
    this.#toldBudgets = nothingTold();
    this.world.clock.time += 2 * 86_400_000;
  }

  get usdc() {
    const token = this.world.deps.chains.token('ethereum::usdc');
    if (token === undefined) throw new Error('the fixture has no ethereum::usdc');
    return token;
  }

  get chain(): Chain {
    const found = this.world.deps.chains.byId(this.usdc.chainId);
    if (found === undefined) throw new Error('the fixture has no chain');
    return found;
  }

  deps(changes: Partial<DepositMoveDeps['settings']> = {}) {
    const { node, sent, told, world } = this;
    const rpc: Rpc = {
      async request(_method, params) {
        node.calls.push(params[0]);
        if (node.isRecipientBlocked) throw new RpcError(3, 'execution reverted');
        return encodeAbiParameters([{ type: 'bool' }], [true]);
      },
      async batch(calls) {
        await node.beforeBalances();
        return calls.map(() => ({ result: encodeAbiParameters([{ type: 'uint256' }], [10_000_000n]) }));
      },
    };
    const log: Log = {
      info: (event) => void told.push(event),
      warn: (event) => void told.push(event),
      error: (event) => void told.push(event),
    };
    return {
      db: world.database.db,
      clock: world.clock,
      log,
      rpcOf: () => rpc,
      sender: {
        plan: async (chainId, request) =>
          request.purpose === 'collect' && node.collectReverts !== '0x00'
            ? { reverted: true, data: node.collectReverts }
            : ({ ...request, chainId, gasLimit: 100n } as SendPlan),
        async record(transaction, plan) {
          const [row] = await transaction.query(insertSent, { purpose: plan.purpose });
          sent.push(plan);
          return { transactionId: row?.transaction_id ?? 0n, txHash: '0x' };
        },
        broadcast: async () => {},
      },
      signer: orderSignerOf(`0x${'0f'.repeat(32)}`),
      toldBudgets: this.#toldBudgets,
      settings: { minAmount: microUsd(0n), deposits: { addedPerDay: microUsd(100_000_000n) }, ...changes },
    } satisfies DepositMoveDeps;
  }

  async newOrder(sessionId?: string, payer?: Hex): Promise<StoredOrder> {
    return addOrder(this.world, sessionId ?? (await addSession(this.world, this.#shop)), payer);
  }

  /** Whatever is on its way fails. */
  async failAll(): Promise<void> {
    const at = new Date(this.world.clock.time + 1);
    await releaseUnfollowedMoves(this.world.database.db, { wallets: ['0xother'], before: at, at });
  }

  async expire(order: StoredOrder): Promise<void> {
    await this.world.database.db.transaction(async (transaction) => {
      const session = await lockSession(transaction, order.sessionId);
      if (session !== undefined) await moveSession(transaction, this.world.deps, session, 'expire');
    });
  }
}
