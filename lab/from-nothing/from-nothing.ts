import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@florin/server/operator';
import { LifeChain, Payer } from '@florin/server/testing';
import { findFreePort } from '@florin/world';
import { Wallet } from 'ethers';
import { installCluster, startCluster } from '../failover/cluster.ts';
import {
  florin,
  type InstalledRelease,
  type RoleProcess,
  startRole,
  startWebProxy,
  until,
} from './release-process.ts';
import { runPage } from './runbook.ts';

/** What each step took, in seconds. */
export interface TimedStep {
  readonly name: string;
  readonly seconds: number;
}

const coin = '0x56bc75e2d63100000';
/** The same in each run: the release records where this operator's contracts are. */
const operatorKey = `0x${'5f'.repeat(32)}`;
const price = 12_500_000;
const roles = ['web', 'watcher', 'worker'];

/**
 * What an operator does from nothing to a highly available installation with a paid order, with a release's own commands: a
 * cluster of PostgreSQL, keys, contracts, two processes of each role behind a proxy, a merchant, and a payment. Then a node of the
 * database and a web process lose their power, and the next order is paid as well. A local chain stands for the public one.
 */
export async function runFromNothing(release: string, tell: (step: TimedStep) => void): Promise<void> {
  const started = new AsyncDisposableStack();
  const step = async <T>(name: string, work: () => Promise<T> | T): Promise<T> => {
    const begin = performance.now();
    const result = await work();
    tell({ name, seconds: Math.round((performance.now() - begin) / 100) / 10 });
    return result;
  };
  try {
    await step('the programs of the cluster are installed', installCluster);
    const life = await LifeChain.start({
      ...{ name: 'base', chainId: 31_337 },
      tokens: [{ symbol: 'usdc', decimals: 6 }],
    });
    started.defer(() => life.anvil.close());
    mine(life, started);
    const cluster = await step('PostgreSQL under Patroni, with etcd and HAProxy', startCluster);
    started.defer(() => cluster.close());
    const folder = mkdtempSync(join(tmpdir(), 'florin-from-nothing-'));
    started.defer(() => rmSync(folder, { recursive: true, force: true }));
    const installation = { release, folder };
    await step('keys, contracts and configuration', () => configure(installation, life, cluster.url));
    await step('the schema', () => florin(installation, ['migrate']));
    const processes = await step('two processes of each role', () => startAll(installation, started));
    const port = await findFreePort();
    const webs = processes.filter(({ role }) => role === 'web');
    const proxy = await step('a proxy before them', () => startWebProxy(folder, port, webs));
    started.defer(() => proxy.stop());
    const shop = await step('a merchant', () => addMerchant(installation, `http://127.0.0.1:${port}`));
    await step('an order is paid and settled', () => sell(shop, life));
    await step('every command of the runbook of production', () =>
      runPage(installation, 'docs/runbook/production.md', {
        'mer_…': shop.merchantId,
        'acc_…': shop.accountId,
      }),
    );
    await step(
      'a node of the database and a web process lose their power; the next order is paid and settled',
      async () => {
        cluster.cutPower(await cluster.untilWhole());
        webs[0]?.kill();
        await sell(shop, life);
      },
    );
  } finally {
    await started.disposeAsync();
  }
}

/** The public chain goes on by itself. */
function mine(life: LifeChain, started: AsyncDisposableStack): void {
  const ending = new AbortController();
  const mining = (async () => {
    while (!ending.signal.aborted) {
      await life.mineAsNeeded();
      await systemClock.sleep(100, ending.signal);
    }
  })();
  started.defer(async () => {
    ending.abort();
    await mining;
  });
}

/** Sections 1 to 3 of the runbook by `init` and `deploy`, and gas for the keys. */
async function configure(
  installation: InstalledRelease,
  life: LifeChain,
  databaseUrl: string,
): Promise<void> {
  const { folder } = installation;
  const bare = { isBare: true };
  const [rpc = ''] = life.chain.rpcUrls;
  const made = await florin<{ orderSigner: string; settler: string }>(
    installation,
    [
      ...['init', '--out', folder, '--origin', 'https://pay.example.com', '--trusted-proxy', '127.0.0.1'],
      ...['--database-url', databaseUrl, '--chain', 'base', '--rpc', rpc],
      ...['--token', life.token('usdc').address],
    ],
    bare,
  );
  const operator = new Wallet(operatorKey);
  for (const address of [operator.address, made.orderSigner, made.settler])
    await life.anvil.request('anvil_setBalance', [address, coin]);
  const [keyFile, password, keystore] = ['deployer.key', 'deployer.password', 'deployer.json'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  writeFileSync(keyFile, `${operator.privateKey}\n`, { mode: 0o600 });
  writeFileSync(password, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  await florin(
    installation,
    ['keystore', 'create', '--out', keystore, '--password-file', password, '--key-file', keyFile],
    bare,
  );
  rmSync(keyFile);
  await florin(
    installation,
    [
      ...['deploy', '--chain', 'base', '--rpc', rpc, '--chain-id', '31337', '--operator', operator.address],
      ...['--guardian', Wallet.createRandom().address, '--fee-recipient', Wallet.createRandom().address],
      ...['--order-signer', made.orderSigner, '--settler', made.settler, '--cctp', 'none'],
      ...['--deployer-keystore', keystore, '--deployer-password-file', password],
      ...['--out', join(folder, 'base.json')],
    ],
    bare,
  );
  const whole = await florin<{ isComplete: boolean }>(installation, ['init', '--out', folder], bare);
  if (!whole.isComplete) throw new Error('the configuration is not complete');
  // A failover takes Patroni's ttl of 20 s, which requests wait for.
  const file = join(folder, 'florin.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...config, databaseWaitSeconds: 28 }), { mode: 0o600 });
}

async function startAll(
  installation: InstalledRelease,
  started: AsyncDisposableStack,
): Promise<readonly RoleProcess[]> {
  return Promise.all(
    [...roles, ...roles].map(async (role) => {
      const [port, monitoringPort] = [await findFreePort(), await findFreePort()];
      const process = await startRole(installation, { role, port, monitoringPort });
      started.defer(() => process.stop());
      return process;
    }),
  );
}

interface Shop {
  readonly origin: string;
  readonly merchantId: string;
  readonly accountId: string;
  readonly key: string;
}

async function addMerchant(installation: InstalledRelease, origin: string): Promise<Shop> {
  const { merchantId } = await florin<{ merchantId: string }>(installation, [
    'merchant',
    'create',
    '--name',
    'Tea House',
  ]);
  const of = ['--merchant', merchantId];
  const { accountId } = await florin<{ accountId: string }>(installation, [
    ...['account', 'create', ...of, '--name', 'Till', '--address', Wallet.createRandom().address],
    ...['--currencies', 'base::usdc'],
  ]);
  const { key } = await florin<{ key: string }>(installation, ['key', 'create', ...of, '--kind', 'secret']);
  return { origin, merchantId, accountId, key };
}

/** One order: created with the merchant's key, paid by a wallet, settled. */
async function sell(shop: Shop, life: LifeChain): Promise<void> {
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const response = await fetch(`${shop.origin}/payment/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${shop.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { code, data, message } = (await response.json()) as { code: number; data: T; message: string };
    if (code !== 0) throw new Error(`${path}: ${code} ${message}`);
    return data;
  };
  const payer = new Payer({ merchantId: shop.merchantId, options: { origin: shop.origin } });
  const token = life.token('usdc');
  await payer.fund(life, token, BigInt(price));
  const productData = { productName: 'Tea' };
  const { sessionId } = await ask<{ sessionId: string }>('/session/checkout/create', {
    ...{ accountId: shop.accountId, settlementToken: token.tokenId },
    lineItems: [{ itemType: 'one_time', quantity: 1, unitPrice: price, productData }],
  });
  await payer.execute(life, await payer.prepare(sessionId, token));
  await until(`${sessionId} is not completed`, async () => {
    const { session } = await ask<{ session: { status: string } }>(`/session/${sessionId}`);
    return session.status === 'completed';
  });
}
