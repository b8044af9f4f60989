import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Wallet } from 'ethers';
import { Life } from './life.ts';

const run = promisify(execFile);
const root = new URL('../../../../', import.meta.url);

/** The published package, next to a program that uses only it. Its wallet answers over HTTP. */
const program = `
import { eip1193Account, payLink } from './agent.js';

const { link, wallet, address, token, maxAmount } = JSON.parse(await (await fetch(TASK)).text());
const ask = async (body) => (await fetch(wallet, { method: 'POST', body: JSON.stringify(body) })).text();
const payment = await payLink(link, {
  account: eip1193Account({ request: ask }, address),
  maxAmount: BigInt(maxAmount),
  policy: { tokens: [token] },
  pollMs: 50,
});
console.log(payment.txHash);
`;

/** Runtimes for the program: this Node.js, and those that `npm run agent-runtimes` installs. */
const runtimes = [
  { name: 'Node.js', command: process.execPath, flags: [] as string[] },
  ...Object.entries({
    Deno: { command: process.env['FLORIN_DENO'], flags: ['run', '--allow-net'] },
    Bun: { command: process.env['FLORIN_BUN'], flags: ['run'] },
  }).flatMap(([name, { command, flags }]) => (command === undefined ? [] : [{ name, command, flags }])),
];

const price = 2_000_000n;
let life: Life;
let folder: string;
let link: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-agent-runtime-'));
  const project = fileURLToPath(new URL('packages/agent/tsconfig.build.json', root));
  const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));
  [life] = await Promise.all([
    Life.start(),
    // packages/agent/src/agent.test.ts builds it with its types.
    run(process.execPath, [compiler, '-p', project, '--noCheck', '--outDir', folder]),
  ]);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  life.mine();
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Data set',
    commonPrices: [Number(price)],
  });
  const created = await life.post<{ linkUrl: string }>('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Data shop',
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: Number(price) }],
  });
  link = created.linkUrl;
});
after(async () => {
  await life.close();
  await rm(folder, { recursive: true });
});

/** Sends the program its task, and signs its requests. */
async function serveWallet(wallet: Wallet): Promise<Server> {
  const { chainId, address, decimals } = life.ethereum.token('usdc');
  const server = createServer(async (request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (request.method === 'GET') {
      const token = { chainId, address, decimals };
      const task = { link, wallet: origin, address: wallet.address, token, maxAmount: String(price) };
      response.end(JSON.stringify(task));
      return;
    }
    const { method, params } = JSON.parse(await text(request)) as { method: string; params: string[] };
    assert.equal(method, 'eth_signTypedData_v4');
    const { domain, types, message } = JSON.parse(params[1] ?? '');
    const { EIP712Domain: _domain, ...rest } = types;
    response.end(await wallet.signTypedData(domain, rest, message));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

for (const { name, command, flags } of runtimes) {
  test(`the published package pays a link once in ${name}, using only web interfaces`, async () => {
    const token = life.ethereum.token('usdc');
    const wallet = new Wallet(Wallet.createRandom().privateKey);
    await life.ethereum.mint(token, wallet.address as `0x${string}`, 5_000_000n);
    const server = await serveWallet(wallet);
    try {
      const task = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const file = join(folder, `pay-${name}.mjs`);
      await writeFile(file, program.replace('TASK', JSON.stringify(task)));
      const pay = async () => (await run(command, [...flags, file], { cwd: folder })).stdout.trim();
      const [first, second] = [await pay(), await pay()];
      assert.match(first, /^0x[0-9a-f]{64}$/);
      assert.equal(second, first);
      const left = await life.ethereum.balanceOf(token, wallet.address as `0x${string}`);
      assert.equal(left, 5_000_000n - price);
    } finally {
      server.close();
    }
  });
}
