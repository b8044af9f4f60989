import { type Rpc, RpcError, type SendPlan, type SendRequest } from '@florin/evm';
import { statement } from '@florin/pg';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeAbiParameters, encodeErrorResult } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { DepositContext, DepositSettings } from '#deposits/context.ts';
import { releaseUnfollowedMoves } from '#deposits/deposit-move.ts';
import { newReports } from '#deposits/report.ts';
import type { DepositPolicy } from '#orders/context.ts';
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

/** No tolerance by the operator, and additions of up to a hundred dollars a day. */
export const depositPolicy: DepositPolicy = {
  ...{ underpaidPpm: 0, underpaidAmount: undefined, addedAboveFee: microUsd(0n) },
  ...{ latePayment: 'return', lateHours: 24, addedPerDay: microUsd(100_000_000n) },
};

/** Moves of deposits over a real database, with a chain whose answers the test chooses. */
export class DepositMoves {
  readonly world: MerchantWorld;
  /** The merchant of all sessions. */
  readonly merchantId: string;
  readonly #shop: { readonly key: string; readonly accountId: string };
  /** The chain's answers: all addresses hold the balance, ten dollars of a total of 10.02. */
  readonly node: {
    balance: bigint;
    collectReverts: Hex;
    isRecipientBlocked: boolean;
    calls: unknown[];
    beforeBalances: () => Promise<void>;
  };
  /** The recorded transactions; each takes a hundred units of gas. */
  readonly sent: SendRequest[] = [];
  /** The events in the log. */
  readonly logged: string[] = [];
  #reports = newReports();

  private constructor(
    world: MerchantWorld,
    { merchantId, ...shop }: { merchantId: string; key: string; accountId: string },
  ) {
    this.world = world;
    this.merchantId = merchantId;
    this.#shop = shop;
    this.node = {
      balance: 10_000_000n,
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

  /** Clears all records, and moves the clock two days ahead. */
  begin(): void {
    const args = [this.usdc.address] as const;
    this.node.collectReverts = encodeErrorResult({
      abi: paymentGatewayAbi,
      errorName: 'TransferFailed',
      args,
    });
    Object.assign(this.node, { isRecipientBlocked: false, calls: [], beforeBalances: async () => {} });
    this.node.balance = 10_000_000n;
    this.sent.length = 0;
    this.logged.length = 0;
    this.#reports = newReports();
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

  deps(changes: Partial<DepositSettings> = {}) {
    const { node, sent, logged, world } = this;
    const rpc: Rpc = {
      async request(_method, params) {
        node.calls.push(params[0]);
        if (node.isRecipientBlocked) throw new RpcError(3, 'execution reverted');
        return encodeAbiParameters([{ type: 'bool' }], [true]);
      },
      async batch(calls) {
        await node.beforeBalances();
        return calls.map(() => ({ result: encodeAbiParameters([{ type: 'uint256' }], [node.balance]) }));
      },
    };
    const log: Log = {
      info: (event) => void logged.push(event),
      warn: (event) => void logged.push(event),
      error: (event) => void logged.push(event),
    };
    return {
      ...world.deps,
      db: world.database.db,
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
      reports: this.#reports,
      settings: {
        minAmount: microUsd(0n),
        depositWindowMs: 50,
        balanceWindowMs: 50,
        mostNamed: 1_000,
        depositBudgets: undefined,
        totals: undefined,
        deposits: depositPolicy,
        ...changes,
      },
    } satisfies DepositContext;
  }

  async newOrder(sessionId?: string, payer?: Hex): Promise<StoredOrder> {
    return addOrder(this.world, sessionId ?? (await addSession(this.world, this.#shop)), payer);
  }

  /** Makes all pending moves fail. */
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
