import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AgentError, type PayLinkOptions, payLink, type Step } from '@florin/agent';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { Wallet } from 'ethers';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { openChromium } from '../browser/chromium.ts';
import { fuzzFactor } from '../fuzz/seed.ts';
import { deepOnly } from '../harness/deep-only.ts';
import type { AgentTask } from './agent-child.fixture.ts';
import { Life } from './life.ts';

const run = promisify(execFile);
const root = new URL('../../../../', import.meta.url);

let life: Life;
let url: string;
before(async () => {
  life = await Life.start();
  life.mine();
  const link = await life.post<{ linkUrl: string }>('/payment/link/create', await linkBody());
  url = link.linkUrl;
});
after(() => life.close());

const price = 5_000_000n;

async function linkBody() {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Data set',
    commonPrices: [Number(price)],
  });
  return {
    linkType: 'fixed',
    linkName: 'Data shop',
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: Number(price) }],
  };
}

/** A new payer with more than enough of every token. */
async function newAgent(token: Token = life.ethereum.token('usdc'), amount = 4n * price) {
  const privateKey = generatePrivateKey();
  const account = privateKeyToAccount(privateKey);
  await life.ethereum.anvil.request('anvil_setBalance', [account.address, '0x56bc75e2d63100000']);
  await life.ethereum.mint(token, account.address, amount);
  const { chainId, address, decimals } = token;
  const options: PayLinkOptions = {
    account,
    maxAmount: price,
    policy: { tokens: [{ chainId, address, decimals }] },
    rpcUrls: { 31337: life.ethereum.anvil.url },
    pollMs: 50,
  };
  return { privateKey, account, token, options };
}

const spentBy = async ({ account, token }: Awaited<ReturnType<typeof newAgent>>) =>
  4n * price - (await life.ethereum.balanceOf(token, account.address));

const transactionsOf = async (address: Hex) =>
  Number(await life.ethereum.anvil.request('eth_getTransactionCount', [address, 'latest']));

const child = fileURLToPath(new URL('agent-child.fixture.ts', import.meta.url));

/** Runs an agent in a separate process until it ends; returns the signal that ended it. */
function runAgent(task: AgentTask): Promise<string> {
  return new Promise((resolve, reject) => {
    const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];
    const agent = spawn(process.execPath, [...flags, child, JSON.stringify(task)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    agent.on('error', reject);
    agent.on('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}

async function sessionCount(): Promise<number> {
  return (await life.get<{ total: number }>('/session/list/all/1/1')).total;
}

/** Where the agent is killed. `npm test` has the points around a payment, `npm run test:deep` all. */
const steps: Readonly<Record<AgentTask['method'], readonly Step[]>> =
  fuzzFactor > 1
    ? {
        transaction: ['created', 'approving', 'approved', 'sending', 'signed', 'sent'],
        signature: ['creating', 'prepared', 'submitting', 'submitted'],
      }
    : { transaction: ['approved', 'signed', 'sent'], signature: ['prepared', 'submitting'] };

for (const method of ['transaction', 'signature'] as const) {
  test(`an agent that is killed at any point and restarted pays once, by a ${method}`, deepOnly, async () => {
    const before = await sessionCount();
    const agents: { killAt: Step; agent: Awaited<ReturnType<typeof newAgent>> }[] = [];
    for (const killAt of steps[method]) agents.push({ killAt, agent: await newAgent() });
    const kills = agents.map(async ({ killAt, agent }) => {
      const { address, chainId, decimals } = agent.token;
      const { privateKey } = agent;
      const token = { address, chainId, decimals };
      const idempotencyKey = `purchase ${killAt}`;
      const rpcUrl = life.ethereum.anvil.url;
      assert.equal(
        await runAgent({ url, privateKey, token, rpcUrl, method, idempotencyKey, killAt }),
        'SIGKILL',
        killAt,
      );
      // The first run kept no state: the second one knows only the link, the account and the key.
      const again = await payLink(url, { ...agent.options, idempotencyKey, method });
      assert.equal(await spentBy(agent), price, killAt);
      assert.equal(await transactionsOf(agent.account.address), method === 'transaction' ? 2 : 0, killAt);
      return again;
    });
    const results = await Promise.all(kills);
    assert.equal(new Set(results.map(({ sessionId }) => sessionId)).size, steps[method].length);
    assert.equal((await sessionCount()) - before, steps[method].length);
  });
}

test('calls with one key make one payment, and another key makes another', deepOnly, async () => {
  const agent = await newAgent();
  const options = { ...agent.options, idempotencyKey: 'first' };
  const results = await Promise.all([payLink(url, options), payLink(url, options)]);
  const repeated = await payLink(url, options);
  assert.equal(new Set([...results, repeated].map(({ sessionId }) => sessionId)).size, 1);
  assert.equal(repeated.isRepeat, true);
  assert.equal(await spentBy(agent), price);
  const other = await payLink(url, { ...options, idempotencyKey: 'second' });
  assert.equal(other.isRepeat, false);
  assert.notEqual(other.sessionId, repeated.sessionId);
  assert.equal(await spentBy(agent), 2n * price);
});

/** A fetch that calls `act` before each request whose body contains these words. */
function fetchAfter(words: string, act: (count: number) => Promise<void> | void): typeof fetch {
  let count = 0;
  return async (input, init) => {
    if (String(init?.body).includes(words)) {
      count += 1;
      await act(count);
    }
    return fetch(input, init);
  };
}

test('a pending transaction is waited for, and not sent again', deepOnly, async () => {
  const agent = await newAgent();
  const controller = new AbortController();
  const options = { ...agent.options, method: 'transaction' } as const;
  const crash = payLink(url, {
    ...options,
    signal: controller.signal,
    // The first transaction is the approval, the second the payment.
    fetch: fetchAfter('eth_sendRawTransaction', (count) => (count === 2 ? life.pauseMining() : undefined)),
    onStep: (step) => {
      if (step === 'sent') controller.abort();
    },
  });
  await assert.rejects(crash, (error: unknown) => error instanceof AgentError && error.reason === 'aborted');
  // Blocks resume only after the second call has checked twice, which proves that it waits.
  const again = await payLink(url, {
    ...options,
    fetch: fetchAfter('"pending"', (count) => (count === 2 ? life.mine() : undefined)),
  });
  assert.equal(again.isRepeat, true);
  assert.equal(await spentBy(agent), price);
  assert.equal(await transactionsOf(agent.account.address), 2);
});

test('with a store a payment is found even if its link has changed', deepOnly, async () => {
  const link = await life.post<{ linkUrl: string; linkId: string }>('/payment/link/create', await linkBody());
  const agent = await newAgent();
  const kept = new Map<string, string>();
  const store = {
    get: async (key: string) => kept.get(key),
    set: async (key: string, value: string) => void kept.set(key, value),
  };
  const first = await payLink(link.linkUrl, { ...agent.options, store });
  const body = { ...(await linkBody()), linkId: link.linkId, linkName: 'Renamed' };
  await life.post('/payment/link/update', body);
  const again = await payLink(link.linkUrl, { ...agent.options, store });
  assert.deepEqual([again.sessionId, again.isRepeat], [first.sessionId, true]);
  await assert.rejects(
    payLink(link.linkUrl, agent.options),
    (error: unknown) => error instanceof AgentError && error.reason === 'earlier_unknown',
  );
  assert.equal(await spentBy(agent), price);
});

test('the program of “Let an agent pay in ten lines” pays exactly once', deepOnly, async () => {
  const guide = await readFile(new URL('docs/guide/let-an-agent-pay.md', root), 'utf8');
  const program = /^```js pay\.mjs\n([\s\S]*?)\n```$/m.exec(guide)?.[1] ?? '';
  assert.ok(program.split('\n').filter((line) => line.trim() !== '').length <= 10);
  const folder = await mkdtemp(join(tmpdir(), 'florin-agent-'));
  try {
    await symlink(fileURLToPath(new URL('node_modules', root)), join(folder, 'node_modules'));
    await writeFile(join(folder, 'pay.mjs'), program);
    const agent = await newAgent();
    const env = { ...process.env, LINK: url, PAYER_KEY: agent.privateKey, TOKEN: agent.token.address };
    const pay = () => run(process.execPath, ['--conditions=source', 'pay.mjs'], { cwd: folder, env });
    const [first, second] = [(await pay()).stdout, (await pay()).stdout];
    assert.match(first, /^(payment_succeeded|settling|settled) 0x[0-9a-f]{64}\n$/);
    assert.equal(second.split(' ')[1], first.split(' ')[1]);
    assert.equal(await spentBy(agent), price);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** The published package behind a separate web server. */
async function servePackage(folder: string) {
  const project = fileURLToPath(new URL('packages/agent/tsconfig.build.json', root));
  const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));
  // packages/agent/src/agent.test.ts builds it with its types.
  await run(process.execPath, [compiler, '-p', project, '--noCheck', '--outDir', folder]);
  const server = createServer(async ({ url: path = '' }, response) => {
    const isModule = path.endsWith('.js');
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html');
    response.end(isModule ? await readFile(join(folder, basename(path))) : '<!doctype html>');
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  return server;
}

test(
  'in a browser, on a page of another origin, an agent pays with the page’s wallet',
  deepOnly,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'florin-agent-page-'));
    const [server, browser] = await Promise.all([servePackage(folder), openChromium()]);
    try {
      const page = await browser.newPage();
      await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      const { account, privateKey, token } = await newAgent();
      const wallet = new Wallet(privateKey);
      await page.exposeFunction('askWallet', async (method: string, [, json = '']: string[]) => {
        const { domain, types, message } = JSON.parse(json);
        const { EIP712Domain: _domain, ...rest } = types;
        if (method === 'eth_signTypedData_v4') return wallet.signTypedData(domain, rest, message);
        throw new Error(`the wallet does not know ${method}`);
      });
      const view = `${life.options.origin}/aipay/api/v1/payment/link/${url.split('/').at(-1)}`;
      const { chainId, address, decimals } = token;
      const result = await page.evaluate(`import('/agent.js').then(({ eip1193Account, payLink }) => payLink(
      ${JSON.stringify(view)},
      {
        account: eip1193Account(
          { request: ({ method, params }) => globalThis.askWallet(method, params) },
          ${JSON.stringify(account.address)},
        ),
        maxAmount: ${price}n,
        policy: { tokens: [${JSON.stringify({ chainId, address, decimals })}] },
        pollMs: 50,
      },
    ))`);
      assert.match((result as { txHash: string }).txHash, /^0x[0-9a-f]{64}$/);
      assert.equal(4n * price - (await life.ethereum.balanceOf(token, account.address)), price);
    } finally {
      await browser.close();
      server.close();
      await rm(folder, { recursive: true });
    }
  },
);

test('a payment over the maximum, or outside the policy, is not signed', async () => {
  const agent = await newAgent();
  const { chainId, address, decimals } = agent.token;
  const [options, token] = [agent.options, { chainId, address, decimals }];
  const silent = {
    ...options,
    account: { ...options.account, signTypedData: () => assert.fail('something was signed') },
  };
  const refusals: readonly [change: Partial<PayLinkOptions>, reason: string][] = [
    [{ maxAmount: price - 1n }, 'amount_refused'],
    [{ policy: {} }, 'policy_refused'],
    [{ policy: { tokens: [token], hosts: ['pay.example.com'] } }, 'policy_refused'],
    [{ policy: { tokens: [token], merchants: ['mer_other'] } }, 'policy_refused'],
    [{ policy: { tokens: [token], chains: [1] } }, 'policy_refused'],
    // With other decimals than the token's, an amount would seem larger or smaller than it is.
    [{ policy: { tokens: [{ ...token, decimals: 3 }] } }, 'policy_refused'],
    [{ maxAmount: 1n, policy: { tokens: [{ ...token, decimals: 18 }] } }, 'policy_refused'],
    [{ amount: 1_000_000n }, 'policy_refused'],
  ];
  for (const [change, reason] of refusals) {
    await assert.rejects(
      payLink(url, { ...silent, ...change }),
      (error: unknown) => error instanceof AgentError && error.reason === reason && error.remedy !== '',
    );
  }
});

test(
  'an agent also pays a token without its own signatures, a checkout session and an open price',
  deepOnly,
  async () => {
    const usdt = await newAgent(life.ethereum.token('usdt'));
    await payLink(url, { ...usdt.options, maxAmount: 6_000_000n });
    assert.equal(await spentBy(usdt), price);
    const usdc = await newAgent();
    const session = await life.post<{ paymentUrl: string }>('/session/checkout/create', {
      accountId: life.accountId,
      settlementToken: 'ethereum::usdc',
      lineItems: [
        { itemType: 'one_time', quantity: 1, unitPrice: 3_000_000, productData: { productName: 'Report' } },
      ],
    });
    const paid = await payLink(session.paymentUrl, usdc.options);
    assert.equal((await payLink(session.paymentUrl, usdc.options)).txHash, paid.txHash);
    const open = await life.post<{ linkUrl: string }>('/payment/link/create', {
      ...(await linkBody()),
      linkType: 'custom',
      lineItems: [{ itemType: 'user_priced', quantity: 1 }],
    });
    await payLink(open.linkUrl, { ...usdc.options, amount: 2_000_000n, waitFor: 'settled' });
    assert.equal(await spentBy(usdc), price);
  },
);
