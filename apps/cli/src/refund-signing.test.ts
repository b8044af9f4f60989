import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { encryptKeystoreJsonSync, Transaction, Wallet } from 'ethers';
import { openTestApi, type TestApi } from './api.fixture.ts';

const chainId = 31_337;
const wallet = new Wallet(`0x${'11'.repeat(32)}`);
const [token, gateway] = [`0x${'22'.repeat(20)}`, `0x${'33'.repeat(20)}`];
const refund = {
  ...{ refundId: 'rfd_1', sessionId: 'sess_1', amount: 1_000_000, status: 'requires_signature', reason: '' },
  ...{ orderId: `0x${'44'.repeat(32)}`, exceptionId: '', cancelledAt: '', refundedAmount: 0 },
  ...{ txHash: '', createAt: '2026-01-02 03:04:10', updateAt: '2026-01-02 03:04:10' },
  requiredBalance: {
    ...{ tokenId: 'base::usdc', chainId: String(chainId), tokenAddress: token },
    amountInToken: '1000000',
  },
  txRequest: { chainId: String(chainId), to: gateway, data: '0xbbbb', value: '0' },
  prerequisites: [],
};

const hex = (value: number) => `0x${value.toString(16)}`;
const block = {
  ...{ number: hex(7), baseFeePerGas: hex(1), timestamp: hex(1), transactions: [], difficulty: hex(0) },
  ...{ hash: `0x${'00'.repeat(32)}`, parentHash: `0x${'00'.repeat(32)}`, nonce: '0x0000000000000000' },
  ...{ miner: wallet.address, extraData: '0x', gasLimit: hex(30_000_000), gasUsed: hex(0) },
};

/** A node of the merchant's chain: the outside world. Balance and allowance are enough, and nothing is back yet. */
async function openNode() {
  const sent: Transaction[] = [];
  const answers: Readonly<Record<string, (params: readonly string[]) => unknown>> = {
    eth_chainId: () => hex(chainId),
    eth_getTransactionCount: () => hex(5),
    eth_call: ([call]) => {
      const { data } = Object(call) as { data: string };
      return data.startsWith('0x21d64cd6') ? hex(0) : hex(1_000_000);
    },
    eth_estimateGas: () => hex(100_000),
    eth_gasPrice: () => hex(1),
    eth_maxPriorityFeePerGas: () => hex(1),
    eth_blockNumber: () => hex(7),
    eth_getBlockByNumber: () => block,
    eth_sendRawTransaction: ([raw = '']) => {
      sent.push(Transaction.from(raw));
      return sent.at(-1)?.hash;
    },
    eth_getTransactionReceipt: () => ({ status: '0x1' }),
  };
  const server = createServer(async (request, reply) => {
    const body = await json(request);
    type Call = { id: number; method: string; params: readonly string[] };
    const answer = ({ id, method, params }: Call) => ({
      ...{ jsonrpc: '2.0', id },
      result: answers[method]?.(params) ?? null,
    });
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify(Array.isArray(body) ? (body as Call[]).map(answer) : answer(body as Call)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    sent,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An API with this refund, and a folder with the wallet under the password `tea`. */
async function openShop(
  status = 'requires_signature',
  recipient = wallet.address,
): Promise<{ api: TestApi; file: string }> {
  const api = await openTestApi(({ path }) =>
    path.includes('/session/') ? { session: { recipient } } : { ...refund, status },
  );
  const file = join(api.folder, 'wallet.json');
  // Weaker than any real keystore, so that the test takes no second.
  writeFileSync(file, encryptKeystoreJsonSync(wallet, 'tea', { scrypt: { N: 2, r: 1, p: 1 } }));
  return { api, file };
}

function sign(
  { api, file }: { api: TestApi; file: string },
  rpcUrl: string,
  password: string,
  ...more: readonly string[]
) {
  const args = ['refunds', 'sign', 'rfd_1', '--keystore', file, '--rpc-url', rpcUrl, ...more];
  const environment = {
    ...{ XDG_CONFIG_HOME: api.folder, FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_x' },
    FLORIN_KEYSTORE_PASSWORD: password,
  };
  return api.run(args, { environment });
}

test('a refund is signed by the keystore’s wallet and sent to its node', async () => {
  await using node = await openNode();
  const shop = await openShop();
  await using _api = shop.api;
  const { exitCode, stdout, stderr } = await sign(shop, node.url, 'tea');
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, new RegExp(`^sent rfd_1 in ${node.sent[0]?.hash}; refund.completed comes when`));
  assert.deepEqual(
    node.sent.map(({ from, to, data }) => [from, to?.toLowerCase(), data]),
    [[wallet.address, gateway, '0xbbbb']],
  );
});

test('a wallet that the payment was not settled to signs only where --from names it', async () => {
  await using node = await openNode();
  const shop = await openShop('requires_signature', `0x${'55'.repeat(20)}`);
  await using _api = shop.api;
  const { exitCode, stderr } = await sign(shop, node.url, 'tea');
  assert.equal(exitCode, 1);
  assert.match(stderr, /^account_wrong: the payment was settled to 0x5555/);
  assert.deepEqual(node.sent, []);
  assert.equal((await sign(shop, node.url, 'tea', '--from', wallet.address)).exitCode, 0);
  assert.equal(node.sent.length, 1);
});

test('a refund that requires a signature says which money it needs on which chain', async () => {
  await using api = await openTestApi(() => refund);
  const environment = { XDG_CONFIG_HOME: api.folder, FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_x' };
  const { stdout } = await api.run(['refunds', 'create', '--session', 'sess_1'], { environment });
  assert.match(
    stdout,
    /\nYour wallet needs \$1\.00 in base::usdc on the chain 31337, and that chain's gas: sign /,
  );
  assert.match(stdout, /^createAt +2026-01-02 03:04:10 UTC$/m);
});

test('a wrong password and a refund that needs no signature send nothing', async () => {
  await using node = await openNode();
  const shop = await openShop();
  await using _api = shop.api;
  const wrong = await sign(shop, node.url, 'coffee');
  assert.deepEqual([wrong.exitCode, /cannot be opened: incorrect password/.test(wrong.stderr)], [1, true]);
  const done = await openShop('completed');
  await using _done = done.api;
  const over = await sign(done, node.url, 'tea');
  assert.deepEqual([over.exitCode, over.stderr.trim()], [1, 'rfd_1 is completed: there is nothing to sign']);
  assert.deepEqual(node.sent, []);
});
