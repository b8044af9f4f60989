import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { resumeChain } from '@florin/evm';
import { withSystemScope } from '@florin/pg';
import type { PaymentException } from '@florin/protocol/exception.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { JsonRpcProvider, Wallet } from 'ethers';
import pg from 'pg';
import { backUp } from '#backup/backup.ts';
import { awaitLock } from '#db/advisory-lock.ts';
import { schema } from '#db/schema.ts';
import { addressOf, transfer } from './life/deposit-fixture.ts';
import type { Life } from './life/life.ts';
import { Payer } from './life/payer.ts';
import { addresses, keys } from './life/roles.ts';
import { checkout, storedFinalOf } from './life/story-fixture.ts';

/** More than a chain of the stories needs to call a block final. */
const reorgedBlocks = 12;

/** A fault of the world, the alerts that it must raise, and its end, after which all of them must clear. */
export interface Trouble {
  readonly alerts: readonly string[];
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** What the faults are made with. */
export interface World {
  readonly life: Life;
  readonly sql: pg.Client;
  readonly backups: string;
  settlerKey: Hex;
}

/** A payment on a chain for a settlement token. Returns the session. */
async function pay({ life }: World, chain: Life['base'], settlementToken: string, price = 2_000_000) {
  const payer = new Payer(life);
  await payer.fund(chain, chain.token('usdc'), BigInt(price));
  const sessionId = await checkout(life, price, settlementToken);
  await payer.execute(chain, await payer.prepare(sessionId, chain.token('usdc')));
  return sessionId;
}

/** Sets the caps of a chain's vault, in whole tokens. */
export async function setCaps(life: Life['base'], perOrder: number, total: number): Promise<void> {
  for (const { address, decimals } of life.chain.tokens) {
    const units = (amount: number) => BigInt(amount * 10) * 10n ** BigInt(decimals - 1);
    const caps = [units(perOrder), units(total), units(total)];
    await life.call(life.chain.vault, 'PayoutVault', 'setCaps', [address, ...caps]);
  }
}

/** Changes the vault's balance without an event, in the token's smallest units. */
async function addToVault(chain: Life['base'], units: bigint): Promise<void> {
  const [token, { vault }] = [chain.token('usdc'), chain.chain];
  await chain.dealTo(token, vault, (await chain.balanceOf(token, vault)) + units);
}

/** More requests at once than the pool has connections, until the returned function is called. */
function creating(life: Life): () => Promise<void> {
  let isOn = true;
  const buyers = Array.from({ length: 40 }, async () => {
    while (isOn) await life.post('/product/create', { name: 'A thing', commonPrices: [1_000_000] });
  });
  return async () => {
    isOn = false;
    await Promise.all(buyers);
  };
}

/** Holds locks of the database until the returned function is called. */
async function holding({ life }: World, statement: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: withSystemScope(life.database.url, schema) });
  await client.connect();
  await client.query('begin');
  await client.query(statement);
  return () => client.end();
}

/** The processes, the nodes, and the wallets and vaults of a chain. */
function chainTroubles(world: World): readonly Trouble[] {
  const { life } = world;
  const { base } = life;
  return [
    {
      alerts: ['FlorinBackupOld'],
      begin: async () => undefined,
      async end() {
        const file = createWriteStream(join(world.backups, 'florin.gz'));
        const write = (bytes: Buffer) =>
          new Promise<void>((resolve, reject) => {
            file.write(bytes, (error) => (error === null || error === undefined ? resolve() : reject(error)));
          });
        await backUp(life.database.url, { now: new Date(), write });
        await new Promise((resolve) => file.end(resolve));
      },
    },
    {
      alerts: ['FlorinProcessDown'],
      begin: () => life.stopService(),
      end: () => life.startService(),
    },
    {
      alerts: [
        'FlorinPaymentsUnavailable base',
        'FlorinWatcherStopped base',
        'FlorinNodeFails base',
        'FlorinBooksNotCompared base',
      ],
      begin: async () => base.anvil.pause(true),
      end: async () => base.anvil.pause(false),
    },
    {
      alerts: ['FlorinGasLow base', 'FlorinGasOut base', 'FlorinTransactionStuck base'],
      async begin() {
        await life.sessionIn(await pay(world, base, 'base::usdc'), 'completed');
        await base.anvil.request('anvil_setBalance', [addresses.settler, '0x1']);
        await pay(world, base, 'base::usdc');
      },
      async end() {
        await base.anvil.request('anvil_setBalance', [addresses.settler, '0x56bc75e2d63100000']);
      },
    },
    {
      alerts: ['FlorinChainHalted base', 'FlorinSettlementStopped base'],
      async begin() {
        await life.pauseMining();
        await base.anvil.mine(2 * reorgedBlocks);
        const head = Number(await base.anvil.request('eth_blockNumber'));
        await life.eventually(
          () => storedFinalOf(life, base.chain.chainId),
          (stored) => stored > head - reorgedBlocks,
          'a final block that the reorg takes back',
        );
        // Within one second anvil makes equal blocks again, once the base fee is at its least: that is no reorg.
        await base.anvil.request('anvil_setCoinbase', [addresses.settler]);
        await base.anvil.request('anvil_reorg', [reorgedBlocks, []]);
        life.mine();
      },
      end: () => resumeChain(life.database.db, life.options.clock, base.chain.chainId),
    },
    {
      alerts: ['FlorinBooksDiffer base'],
      begin: () => addToVault(base, 1n),
      end: () => addToVault(base, -1n),
    },
    {
      alerts: ['FlorinVaultShort base::usdc', 'FlorinVaultShort base::dai'],
      begin: () => setCaps(base, 200_000, 1_000_000),
      end: () => setCaps(base, 1_000, 1_000_000),
    },
    {
      alerts: ['FlorinSettlementDelayed'],
      async begin() {
        // No block has the payment before the cap is below it.
        await life.pauseMining();
        await pay(world, life.ethereum, 'base::usdc');
        await setCaps(base, 0.1, 1_000_000);
        life.mine();
      },
      end: () => setCaps(base, 1_000, 1_000_000),
    },
    {
      alerts: ['FlorinCapNearlyUsed base::usdc'],
      async begin() {
        await life.sessionIn(await pay(world, life.ethereum, 'base::usdc'), 'completed');
        await setCaps(base, 2, 2.1);
      },
      end: () => setCaps(base, 1_000, 1_000_000),
    },
  ];
}

/** Deliveries, answers, and payments that wait for a person. */
function workTroubles(world: World): readonly Trouble[] {
  const { life, sql } = world;
  let end: () => Promise<void> = async () => undefined;
  return [
    {
      alerts: ['FlorinWebhooksPaused'],
      async begin() {
        life.receiver.behave({ kind: 'answer', status: 410 });
        await checkout(life, 1_000_000);
      },
      async end() {
        life.receiver.behave({ kind: 'answer', status: 204 });
        const { rows } = await sql.query("select webhook_id from webhooks where status = 'paused'");
        await life.post('/webhook/enable', { webhookId: rows[0]?.webhook_id });
      },
    },
    {
      alerts: ['FlorinDatabaseBusy', 'FlorinAnswersSlow'],
      async begin() {
        await sql.query(`create function be_slow() returns trigger language plpgsql as
          $$ begin perform pg_sleep(1); return new; end $$`);
        await sql.query(
          'create trigger slow before insert on products for each row execute function be_slow()',
        );
        end = creating(life);
      },
      async end() {
        await sql.query('drop function be_slow cascade');
        await end();
      },
    },
    {
      alerts: ['FlorinExceptionsOpen'],
      async begin() {
        // The order of an address is payable until a final block is past its deadline.
        await life.ethereum.anvil.request('evm_increaseTime', [3_600]);
        const token = life.ethereum.token('usdc');
        const late = await addressOf(life, token, { latePayment: 'ask', lateHours: 1 });
        await life.sessionIn(late.sessionId, 'expired');
        await transfer(life, life.ethereum, token, late.address, late.amount);
      },
      async end() {
        const { exceptions } = await life.get<{ exceptions: PaymentException[] }>('/exception/list/1/100');
        await life.post('/exception/refund', { exceptionId: exceptions[0]?.exceptionId });
      },
    },
    {
      alerts: ['FlorinWebhooksOverdue'],
      async begin() {
        end = await holding(world, `select ${awaitLock('deliveries')}`);
        await checkout(life, 1_000_000);
      },
      end: () => end(),
    },
  ];
}

/** What is in the database, what contradicts it on chain, and keys that others use. */
function strangeTroubles(world: World): readonly Trouble[] {
  const { life, sql } = world;
  const { base } = life;
  return [
    {
      alerts: ['FlorinMailsWaiting'],
      async begin() {
        await sql.query(`insert into mails (fact, recipient, kind, language, sealed_data, status, next_attempt_at, created_at)
          select 'alert:' || n, 'payer@example.com', 'paid', '', '\\x00', 'pending', now() + interval '1 day', now()
          from generate_series(1, 101) as n`);
      },
      async end() {
        await sql.query("delete from mails where fact like 'alert:%'");
      },
    },
    {
      alerts: ['FlorinErrors'],
      begin: async () => void (await sql.query('alter table session_search_queue rename to away')),
      end: async () => void (await sql.query('alter table away rename to session_search_queue')),
    },
    {
      alerts: ['FlorinOrderUnknown base'],
      async begin() {
        await sql.query(
          `insert into unmatched_payments (chain_id, order_id, tx_hash, block_number, block_time, channel_id, meta_data, payer,
             recipient, token, total, payment, fee, order_type, status)
           values ($1, '0x01', '0x02', 1, now(), '0x', '0x', '0x', '0x', '0x', 1, 1, 0, 0, 'paid')`,
          [base.chain.chainId],
        );
      },
      async end() {
        await sql.query("delete from unmatched_payments where order_id = '0x01'");
      },
    },
    {
      alerts: ['FlorinWalletUsedElsewhere base'],
      async begin() {
        const [url = ''] = base.chain.rpcUrls;
        const wallet = new Wallet(keys.settler, new JsonRpcProvider(url));
        await wallet.sendTransaction({ to: wallet.address, value: 1n });
      },
      async end() {
        await life.stopService();
        world.settlerKey = `0x${'7'.repeat(64)}`;
        await life.startService();
      },
    },
  ];
}

/** Every alert, in its trouble. The first trouble begins with the world. */
export function troublesOf(world: World): readonly Trouble[] {
  return [...chainTroubles(world), ...workTroubles(world), ...strangeTroubles(world)];
}
