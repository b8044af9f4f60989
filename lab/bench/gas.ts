import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex, Order } from '@florin/protocol/order.ts';
import { orderKinds } from '@florin/protocol/order.ts';
import {
  domainVersion,
  gatewayDomainName,
  orderTypes,
  permitWitnessTypes,
  receiveAuthorizationTypes,
} from '@florin/protocol/typed-data.ts';
import { encodeFunctionData, hashTypedData, maxUint256, parseSignature, toHex, zeroAddress } from 'viem';
import type { BenchEnvironment } from './environment.ts';
import { chainId, fiatTokenAbi, type GasChain, permit2Address, startGasChain } from './gas-chain.ts';
import type { BenchResult } from './report.ts';

const total = 100_000_000n;
const batchSize = 50;
const anyHash = (): Hex => toHex(randomBytes(32));

type Bare = 'transfer' | 'transferFrom' | 'receiveWithAuthorization';

interface Row {
  readonly name: string;
  readonly gas: number;
  /** The token's own operation with the same effect, without an order. */
  readonly bare: Bare;
  readonly goal?: number;
}

/** The shared state of the measurements. */
interface Bench {
  readonly chain: GasChain;
  readonly newOrder: (orderType?: Order['orderType']) => Promise<Order>;
  readonly sign: (order: Order) => Promise<Hex>;
  readonly authorize: (order: Order) => Promise<Hex>;
  readonly approve: (owner: 'payer' | 'merchant', spender: Hex, amount: bigint) => Promise<number>;
  /** Gas of a call of the gateway. */
  readonly call: (
    from: 'payer' | 'merchant' | 'relayer' | 'settler' | 'signer',
    data: Hex,
  ) => Promise<number>;
}

const usdcDomain = (chain: GasChain) =>
  ({ name: 'USD Coin', version: '2', chainId, verifyingContract: chain.usdc }) as const;

function prepare(chain: GasChain): Bench {
  const { payer, merchant, signer } = chain.roles;
  const domain = {
    name: gatewayDomainName,
    version: domainVersion,
    chainId,
    verifyingContract: chain.gateway,
  } as const;
  const typed = (order: Order) =>
    ({ domain, types: orderTypes, primaryType: 'Order', message: order }) as const;
  return {
    chain,
    async newOrder(orderType = orderKinds.escrow) {
      const now = await chain.now();
      const places = { payer: payer.address, token: chain.usdc, to: merchant.address };
      const amounts = { total, payment: total, fee: total / 100n };
      const times = { payBy: now + 1_800n, reclaimAt: now + 604_800n };
      const kind = { orderType, targetChain: BigInt(chainId), via: zeroAddress };
      return { channelId: anyHash(), metaData: anyHash(), ...places, ...amounts, ...times, ...kind };
    },
    sign: (order) => signer.signTypedData(typed(order)),
    authorize: (order) =>
      payer.signTypedData({
        domain: usdcDomain(chain),
        types: receiveAuthorizationTypes,
        primaryType: 'ReceiveWithAuthorization',
        message: {
          ...{ from: payer.address, to: chain.gateway, value: order.total },
          ...{ validAfter: 0n, validBefore: order.payBy + 1n, nonce: hashTypedData(typed(order)) },
        },
      }),
    approve: (owner, spender, amount) =>
      chain.send(
        owner,
        chain.usdc,
        encodeFunctionData({ abi: fiatTokenAbi, functionName: 'approve', args: [spender, amount] }),
      ),
    call: (from, data) => chain.send(from, chain.gateway, data),
  };
}

async function measureBare({ chain, approve }: Bench): Promise<Readonly<Record<Bare, number>>> {
  const { payer, merchant, relayer } = chain.roles;
  const transfer = await chain.send(
    'payer',
    chain.usdc,
    encodeFunctionData({ abi: fiatTokenAbi, functionName: 'transfer', args: [merchant.address, total] }),
  );
  await approve('payer', relayer.address, total);
  const transferFrom = await chain.send(
    'relayer',
    chain.usdc,
    encodeFunctionData({
      abi: fiatTokenAbi,
      functionName: 'transferFrom',
      args: [payer.address, merchant.address, total],
    }),
  );
  const message = {
    ...{ from: payer.address, to: relayer.address, value: total },
    ...{ validAfter: 0n, validBefore: maxUint256, nonce: anyHash() },
  };
  const primaryType = 'ReceiveWithAuthorization';
  const signed = await payer.signTypedData({
    domain: usdcDomain(chain),
    types: receiveAuthorizationTypes,
    primaryType,
    message,
  });
  const { r, s, v } = parseSignature(signed);
  const { from, to, value, validAfter, validBefore, nonce } = message;
  const args = [from, to, value, validAfter, validBefore, nonce, Number(v), r, s] as const;
  const data = encodeFunctionData({ abi: fiatTokenAbi, functionName: 'receiveWithAuthorization', args });
  return { transfer, transferFrom, receiveWithAuthorization: await chain.send('relayer', chain.usdc, data) };
}

const payCall = (order: Order, signature: Hex): Hex =>
  encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'pay', args: [order, signature] });

const settleCall = (orders: readonly Order[]): Hex =>
  encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'settle', args: [orders] });

/** Pays with the allowance that the service requests: exactly the total, which the payment uses up. */
async function pay({ approve, chain, call, sign }: Bench, order: Order): Promise<number> {
  await approve('payer', chain.gateway, order.total);
  return call('payer', payCall(order, await sign(order)));
}

/**
 * The sender of a payment that the payer has signed. With the order signer, the transaction itself is the service's
 * consent.
 */
type Relayer = 'signer' | 'relayer';

async function consentOf({ sign }: Bench, relayer: Relayer, order: Order): Promise<Hex> {
  return relayer === 'signer' ? '0x' : sign(order);
}

async function payByAuthorization(bench: Bench, relayer: Relayer, order: Order): Promise<number> {
  const args = [order, await consentOf(bench, relayer, order), await bench.authorize(order)] as const;
  const functionName = 'payWithAuthorization';
  return bench.call(relayer, encodeFunctionData({ abi: paymentGatewayAbi, functionName, args }));
}

async function payByPermit2(bench: Bench, relayer: Relayer, order: Order, nonce: bigint): Promise<number> {
  const { chain, call } = bench;
  const permit = await chain.roles.payer.signTypedData({
    domain: { name: 'Permit2', chainId, verifyingContract: permit2Address },
    types: permitWitnessTypes,
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token: order.token, amount: order.total },
      ...{ spender: chain.gateway, nonce, deadline: order.payBy, witness: order },
    },
  });
  const args = [order, await consentOf(bench, relayer, order), nonce, permit] as const;
  return call(relayer, encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'payWithPermit2', args }));
}

async function measurePayments(bench: Bench): Promise<Row[]> {
  const { chain, newOrder, approve, call, sign } = bench;
  // The gateway's storage is warm, as on a chain in use: fees have accrued, and Permit2 knows the payer.
  const first = await newOrder();
  await pay(bench, first);
  await call('settler', settleCall([first]));
  await approve('payer', permit2Address, maxUint256);
  await payByPermit2(bench, 'relayer', await newOrder(), 0n);

  const exact = await pay(bench, await newOrder());
  const direct = await pay(bench, await newOrder(orderKinds.direct));
  await approve('payer', chain.gateway, 2n * total);
  const order = await newOrder();
  const more = await call('payer', payCall(order, await sign(order)));
  return [
    { name: 'pay by allowance', gas: exact, bare: 'transferFrom', goal: 95_000 },
    { name: 'pay by allowance, some of it left', gas: more, bare: 'transferFrom' },
    {
      name: 'pay with EIP-3009, relayed',
      gas: await payByAuthorization(bench, 'signer', await newOrder()),
      ...{ bare: 'receiveWithAuthorization', goal: 129_000 },
    },
    {
      name: 'pay with EIP-3009, relayed by a third party',
      gas: await payByAuthorization(bench, 'relayer', await newOrder()),
      bare: 'receiveWithAuthorization',
    },
    {
      name: 'pay with Permit2, relayed',
      gas: await payByPermit2(bench, 'signer', await newOrder(), 1n),
      bare: 'transferFrom',
    },
    { name: 'direct by allowance', gas: direct, bare: 'transferFrom', goal: 112_000 },
    {
      name: 'direct with EIP-3009, relayed',
      gas: await payByAuthorization(bench, 'signer', await newOrder(orderKinds.direct)),
      bare: 'receiveWithAuthorization',
    },
  ];
}

async function measureSettlement(bench: Bench): Promise<Row[]> {
  const { chain, newOrder, approve, call } = bench;
  const single = await newOrder();
  await pay(bench, single);
  const settled = await call('settler', settleCall([single]));
  const orders: Order[] = [];
  for (let index = 0; index < batchSize; index += 1) {
    const order = await newOrder();
    await pay(bench, order);
    orders.push(order);
  }
  const batch = await call('settler', settleCall(orders));
  const held = await newOrder();
  await pay(bench, held);
  const refund = await call(
    'settler',
    encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'refund', args: [held] }),
  );
  await approve('merchant', chain.gateway, total);
  const args = [single, total] as const;
  const back = await call(
    'merchant',
    encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'refundSettled', args }),
  );
  return [
    { name: 'settle one order', gas: settled, bare: 'transfer', goal: 70_000 },
    {
      name: `settle ${batchSize} orders of one merchant, each`,
      gas: Math.round(batch / batchSize),
      ...{ bare: 'transfer', goal: 15_000 },
    },
    { name: 'refund before settlement', gas: refund, bare: 'transfer' },
    { name: 'refund after settlement', gas: back, bare: 'transferFrom' },
  ];
}

/** What flatters no one, by the forge test that records it: the approval before an allowance, first uses, other tokens, other chains. */
const unflattering = [
  'approve, before a payment by allowance',
  "pay by allowance, the gateway's first of a token",
  'settle, single, the first of a token and of a merchant',
  'pay with Permit2, a new word of nonces',
  'pay with permit',
  'collect',
  'pay by allowance, USDT',
  'settle, single, USDT, its first fees',
  'pay by allowance, for CCTP',
  'settle by CCTP, with a fee',
  'settle by CCTP, without a fee',
  'settle, single, into the vault',
  'payout',
];

/** Measured once on the same token and compiler; its code is not part of this repository. */
const commercePayments = [
  { receipt: 'commerce-payments: authorize with EIP-3009, recorded', gas: 146_882 },
  { receipt: 'commerce-payments: capture, recorded', gas: 83_026 },
  { receipt: 'commerce-payments: charge with EIP-3009, recorded', gas: 176_709 },
];

function readSnapshot(): { receipt: string; gas: number }[] {
  const file = new URL('../../contracts/snapshots/gateway.json', import.meta.url);
  const snapshot = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  return unflattering.map((name) => {
    const gas = snapshot[name];
    if (gas === undefined) throw new Error(`contracts/snapshots/gateway.json has no ${name}`);
    return { receipt: `forge: ${name}`, gas: Number(gas) };
  });
}

/** Gas of the gateway's operations, compared with the token's own operations on the same chain. */
export async function measureGas({ effort, log, onEnd }: BenchEnvironment): Promise<BenchResult> {
  const chain = await startGasChain();
  onEnd(() => chain.stop());
  const bench = prepare(chain);
  const bare = await measureBare(bench);
  const rows = [...(await measurePayments(bench)), ...(await measureSettlement(bench))];
  const shown = rows.map(({ name, gas, bare: against, goal }) => ({
    receipt: name,
    gas,
    'against the token alone': `**${(gas / bare[against]).toFixed(2)}** × ${against}`,
    wanted: goal === undefined ? '' : `≤ ${goal}${gas <= goal ? '' : ', missed'}`,
  }));
  for (const row of shown) log(Object.values(row).join('  '));
  const alone = Object.entries(bare).map(([name, gas]) => ({
    ...{ receipt: `the token's ${name}`, gas, 'against the token alone': '', wanted: '' },
  }));
  return {
    ...{ subject: 'gas', title: 'Gas of the contracts', effort, measured: [], ratios: [], halfLoads: [] },
    rows: [
      ...[...alone, ...shown],
      ...[...readSnapshot(), ...commercePayments].map((row) => ({
        ...row,
        'against the token alone': '',
        wanted: '',
      })),
    ],
    notes: [
      "Receipts of anvil, hard fork Prague: Circle's own FiatTokenV2_2 behind its proxy, Uniswap's own Permit2, a fee of 1 %, and all parties have held the token before.",
      'The bare transferFrom and ours use an allowance of exactly the amount up, which earns 4,800 gas back. The service requests exactly this allowance.',
      'Relayed payments leave from the wallet of the order signer, whose transaction is the consent to the order. A third party needs its signature: 65 more bytes of calldata and one more recovery. The goal is for payments that the service relays.',
      'An allowance of exactly the total needs an approval before each payment: together they cost more than EIP-3009, which needs none.',
      'One settlement alone misses its goal by 573 gas, 0.8 %: it would need a way of its own, or an event that tells readers less (decision 150). The service settles in batches, each of fifty for 14,788.',
      'An L2 charges calldata besides the gas: 580 bytes to pay by allowance, 644 for a relayed EIP-3009 payment, 416 for each order of a settlement.',
      'Ours carries an order of thirteen words, the signature of the service unless its signer sends, a single-use key (22,100), the event for audits, and compares balances before and after.',
    ],
  };
}
