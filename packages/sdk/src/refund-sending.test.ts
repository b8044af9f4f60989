import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { JsonRpcProvider, Wallet } from 'ethers';
import { createWalletClient, encodeFunctionData, http, keccak256, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { FlorinError, type RefundWallet, usd } from './florin.ts';
import { type Answer, openTestService } from './service.fixture.ts';

const chainId = 31_337;
const privateKey = `0x${'11'.repeat(32)}` as const;
const account = privateKeyToAccount(privateKey);
const [token, gateway] = [`0x${'22'.repeat(20)}`, `0x${'33'.repeat(20)}`] as [`0x${string}`, `0x${string}`];
const orderId = `0x${'44'.repeat(32)}` as const;
const abi = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address,address) view returns (uint256)',
  'function refundedOf(bytes32) view returns (uint256)',
]);
const calls = {
  balance: encodeFunctionData({ abi, functionName: 'balanceOf', args: [account.address] }),
  allowance: encodeFunctionData({ abi, functionName: 'allowance', args: [account.address, gateway] }),
  refunded: encodeFunctionData({ abi, functionName: 'refundedOf', args: [orderId] }),
};

const txRequest = (to: string, data: string) => ({ chainId: String(chainId), to, data, value: '0' });
const refund = {
  refundId: 'rfd_1',
  sessionId: 'sess_1',
  orderId,
  exceptionId: '',
  amount: 1_000_000,
  status: 'requires_signature',
  reason: '',
  txHash: '',
  cancelledAt: '',
  createAt: '2026-01-02 03:04:10',
  updateAt: '2026-01-02 03:04:10',
  // A token of 18 decimals: 10^12 units for each Micro-USD.
  requiredBalance: {
    tokenId: 'base::usdt',
    chainId: String(chainId),
    tokenAddress: token,
    amountInToken: '1000000000000000000',
  },
  txRequest: txRequest(gateway, '0xbbbb'),
  prerequisites: [
    { purpose: 'approve_exact_amount', description: '', txRequest: txRequest(token, '0xaaaa') },
  ],
} as const;

/** The chain as the wallet's node shows it. */
interface Chain {
  chainId: number;
  balance: bigint;
  allowance: bigint;
  /** Back on chain, in token units. */
  refunded: bigint;
  pending: number;
  receipt: { status: '0x0' | '0x1' } | null;
  readonly sent: string[];
  /** Called after each transaction. */
  onSent: () => void;
}

/** A node of node:http: the outside world. */
async function openNode(changes: Partial<Chain> = {}) {
  const amount = BigInt(refund.requiredBalance.amountInToken);
  const chain: Chain = {
    ...{
      chainId,
      balance: amount,
      allowance: 0n,
      refunded: 0n,
      pending: 5,
      receipt: { status: '0x1' },
      sent: [],
      onSent: () => {},
    },
    ...changes,
  };
  const server = createServer(async (request, response) => {
    const asked = (await json(request)) as RpcCall | RpcCall[];
    const one = ({ id, method, params }: RpcCall) => ({
      jsonrpc: '2.0',
      id,
      result: answerOf(chain, method, params),
    });
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    chain,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const hex = (value: bigint | number) => `0x${value.toString(16)}`;

const hash = `0x${'00'.repeat(32)}`;
const block = {
  ...{ number: hex(7), baseFeePerGas: hex(1), timestamp: hex(1), transactions: [], difficulty: hex(0) },
  ...{ hash, parentHash: hash, stateRoot: hash, receiptsRoot: hash, nonce: '0x0000000000000000' },
  ...{ miner: account.address, extraData: '0x', gasLimit: hex(30_000_000), gasUsed: hex(0) },
};

function answerOf(chain: Chain, method: string, params: readonly unknown[]): unknown {
  switch (method) {
    case 'eth_chainId':
      return hex(chain.chainId);
    case 'net_version':
      return String(chain.chainId);
    case 'eth_getTransactionCount':
      return hex(params[1] === 'pending' ? chain.pending : 5);
    case 'eth_call': {
      const { data } = params[0] as { data: string };
      if (data === calls.balance) return hex(chain.balance);
      return hex(data === calls.allowance ? chain.allowance : chain.refunded);
    }
    case 'eth_estimateGas':
      return hex(100_000);
    case 'eth_gasPrice':
    case 'eth_maxPriorityFeePerGas':
      return hex(1);
    case 'eth_blockNumber':
      return hex(7);
    case 'eth_getBlockByNumber':
      return block;
    case 'eth_sendRawTransaction':
      chain.sent.push(String(params[0]).includes('aaaa') ? 'approve' : 'refund');
      chain.onSent();
      return keccak256(params[0] as `0x${string}`);
    case 'eth_getTransactionReceipt':
      return chain.receipt;
    default:
      return null;
  }
}

/** What the service says of the refund. */
function serviceOf({
  status = refund.status as string,
  refundedAmount = 0,
  recipient = account.address as string,
  isInDoubt = false,
} = {}): Answer {
  return (response, { path }) => {
    if (path.includes('/session/')) {
      // As wallets write it: checksummed there, in lower case here.
      const session = { recipient: recipient.toLowerCase() };
      return void response.end(JSON.stringify({ code: 0, message: 'success', data: { session } }));
    }
    const now = { ...refund, status, refundedAmount };
    const data = path.includes('list') ? { refunds: [now] } : now;
    const known = status === 'requires_signature' && !isInDoubt ? data : { ...data, txRequest: undefined };
    response.end(JSON.stringify({ code: 0, message: 'success', data: known }));
  };
}

const wallets: Readonly<Record<string, (url: string) => RefundWallet>> = {
  'a wallet client of viem': (url) =>
    createWalletClient({ account, transport: http(url, { retryCount: 0 }) }),
  'a signer of ethers': (url) =>
    new Wallet(privateKey, new JsonRpcProvider(url, chainId, { staticNetwork: true })),
};
const viemWallet = wallets['a wallet client of viem'] ?? assert.fail();

for (const [name, walletOf] of Object.entries(wallets)) {
  test(`${name} sends the approval, then the refund, once for one object`, async () => {
    await using node = await openNode();
    await using service = await openTestService(serviceOf());
    const refund = await service.florin.refunds.create({ sessionId: 'sess_1', amount: usd('1') });
    const wallet = walletOf(node.url);
    const sent = await refund.send(wallet);
    assert.match(sent.txHash, /^0x[0-9a-f]{64}$/);
    assert.deepEqual(node.chain.sent, ['approve', 'refund']);
    assert.deepEqual(await refund.send(wallet), sent);
    assert.equal(node.chain.sent.length, 2);
    assert.equal(JSON.stringify(refund).includes('send'), false);
  });
}

test('a refund of a list can be sent, and an approval that still holds is not sent again', async () => {
  await using node = await openNode({ allowance: 10n ** 18n });
  await using service = await openTestService(serviceOf());
  for await (const refund of service.florin.refunds.list()) await refund.send(viemWallet(node.url));
  assert.deepEqual(node.chain.sent, ['refund']);
});

test('nothing is sent where a part could go back twice, or the wallet could not pay', async () => {
  const final = { refundedAmount: 2_000_000 };
  for (const [slug, chain, known] of [
    ['wallet_elsewhere', { chainId: 1 }, {}],
    ['balance_short', { balance: 10n ** 18n - 1n }, {}],
    ['account_busy', { pending: 6 }, {}],
    ['refund_under_way', { refunded: 1n }, {}],
    ['refund_under_way', { refunded: 2n * 10n ** 18n + 1n }, final],
    ['node_behind', { refunded: 2n * 10n ** 18n - 1n }, final],
    ['refund_over', {}, { status: 'failed' }],
    ['refund_over', {}, { status: 'cancelled' }],
    ['refund_over', {}, { isInDoubt: true }],
  ] as const) {
    await using node = await openNode(chain);
    await using service = await openTestService(serviceOf(), serviceOf(known));
    const refund = await service.florin.refunds.retrieve('rfd_1');
    await assert.rejects(refund.send(viemWallet(node.url)), { slug }, slug);
    assert.deepEqual(node.chain.sent, [], slug);
  }
});

test('an account that the payment was not settled to is refused before the wallet is asked, unless it is named', async () => {
  const treasury = `0x${'Ab'.repeat(20)}`;
  for (const walletOf of Object.values(wallets)) {
    await using node = await openNode();
    await using service = await openTestService(serviceOf({ recipient: treasury }));
    const refund = await service.florin.refunds.retrieve('rfd_1');
    const wallet = walletOf(node.url);
    await assert.rejects(refund.send(wallet), {
      slug: 'account_wrong',
      message: `the payment was settled to ${treasury.toLowerCase()}, and the wallet sends from ${account.address}: connect that account, or name this one as from`,
    });
    await assert.rejects(refund.send(wallet, { from: treasury }), {
      slug: 'account_wrong',
      message: `from is ${treasury}, and the wallet sends from ${account.address}: connect that account`,
    });
    for (const [options, param] of [
      [{ from: 'treasury' }, 'from'],
      [Object({ form: account.address }), 'form'],
    ] as const)
      await assert.rejects(refund.send(wallet, options), { slug: 'argument_invalid', param });
    assert.deepEqual(node.chain.sent, []);
    await refund.send(wallet, { from: account.address.toLowerCase() });
    assert.deepEqual(node.chain.sent, ['approve', 'refund']);
  }
});

test('what is no wallet is refused as an argument', async () => {
  await using service = await openTestService(serviceOf());
  const refund = await service.florin.refunds.retrieve('rfd_1');
  const provider = { request: async () => assert.fail('a provider was asked') };
  for (const wrong of [undefined, null, privateKey, 7, {}, account, provider, new JsonRpcProvider()])
    await assert.rejects(refund.send(wrong as RefundWallet), { slug: 'argument_invalid', param: 'wallet' });
});

test('what another person has sent during the approval is found before the refund is signed', async () => {
  await using node = await openNode();
  await using service = await openTestService(serviceOf());
  const { chain } = node;
  const refund = await service.florin.refunds.retrieve('rfd_1');
  chain.onSent = () => {
    chain.refunded = 1n;
  };
  await assert.rejects(refund.send(viemWallet(node.url)), { slug: 'refund_under_way' });
  assert.deepEqual(chain.sent, ['approve']);
});

test('a refund that failed before it was sent can be tried again', async () => {
  await using node = await openNode({ balance: 0n });
  await using service = await openTestService(serviceOf());
  const refund = await service.florin.refunds.retrieve('rfd_1');
  await assert.rejects(refund.send(viemWallet(node.url)), { slug: 'balance_short' });
  node.chain.balance = 10n ** 18n;
  await refund.send(viemWallet(node.url));
  assert.deepEqual(node.chain.sent, ['approve', 'refund']);
});

test('a transaction that fails on chain or is in no block is no success', async () => {
  for (const [slug, receipt] of [
    ['transaction_failed', { status: '0x0' }],
    ['transaction_unseen', null],
  ] as const) {
    await using node = await openNode({ allowance: 10n ** 18n, receipt });
    await using service = await openTestService(serviceOf());
    const refund = await service.florin.refunds.retrieve('rfd_1');
    await assert.rejects(refund.send(viemWallet(node.url), { timeoutMs: 0 }), { slug });
  }
});

test('a refund that needs no signature, and a wallet without account or node, are refused', async () => {
  await using pending = await openTestService(serviceOf({ status: 'pending' }));
  const done = await pending.florin.refunds.retrieve('rfd_1');
  await assert.rejects(done.send(new Wallet(privateKey)), { slug: 'refund_over' });
  await using service = await openTestService(serviceOf());
  const refund = await service.florin.refunds.retrieve('rfd_1');
  await assert.rejects(refund.send(new Wallet(privateKey)), /connect the signer/);
  const nobody = createWalletClient({ transport: http('http://127.0.0.1:9') });
  await assert.rejects(refund.send(nobody), /give the wallet client an account/);
});

test('what the wallet says when it refuses is told, and nothing was sent', async () => {
  await using service = await openTestService(serviceOf());
  const refund = await service.florin.refunds.retrieve('rfd_1');
  const unreachable = createWalletClient({
    account,
    transport: http('http://127.0.0.1:9', { retryCount: 0 }),
  });
  await assert.rejects(refund.send(unreachable), (error) => {
    assert.ok(error instanceof FlorinError);
    assert.match(error.message, /^the wallet or its node refused: HTTP request failed/);
    return error.slug === 'wallet_refused' && error.cause !== undefined;
  });
});
