import {
  getGasPrice,
  getTransactionCount,
  getTransactionReceipt,
  parseHash,
  type Rpc,
  type WalletSigner,
} from '@florin/evm';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { route } from '@florin/protocol/route.ts';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { Chains } from '#chains/chain.ts';
import type { Clock } from '#outside/clock.ts';
import { envelope } from '../envelope.ts';
import { routesOf } from '../route-handler.ts';

/** A wallet of the local world that pays for visitors without one. */
export interface DemoPayer {
  readonly address: Hex;
  /** Sends a transaction and waits for its block; returns its hash. */
  send(request: { chainId: number; to: Hex; data: Hex }): Promise<Hex>;
}

const sendDemoTransaction = route({
  method: 'POST',
  path: '/demo',
  summary: 'Send a transaction of the demo payer',
  tag: 'Hosted checkout',
  body: Type.Object(
    {
      chainId: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }),
      to: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
      data: Type.String({ pattern: '^0x([0-9a-f]{2})*$', maxLength: 20_000 }),
    },
    { additionalProperties: false },
  ),
  reply: Type.Object({ txHash: Type.String() }),
  permissions: [],
  effect: 'create',
  errors: ['field_invalid', 'payer_not_served'],
});

/** Lets the page send calls of configured tokens and gateways without a wallet, and no other calls. */
export function addDemoPayer(server: FastifyInstance, { chains }: { chains: Chains }, demo: DemoPayer): void {
  const addRoute = routesOf(server, { basePath: '/checkout/api', shape: envelope, authorize: () => null });
  addRoute(sendDemoTransaction, async ({ body }) => {
    const chainId = Number(body.chainId);
    const to = body.to as Hex;
    const chain = chains.byId(chainId);
    const isGateway = chain?.gateway.toLowerCase() === to.toLowerCase();
    if (chain === undefined || (!isGateway && chains.tokenAt(chainId, to) === undefined))
      throw new Refusal('payer_not_served', 'the demo payer calls gateways and tokens only');
    return { txHash: await demo.send({ chainId, to, data: body.data as Hex }) };
  });
}

/** Far above the gas of an approval or a payment. */
const gasLimit = 500_000n;
const receiptPauseMs = 200;
/** One minute. */
const maxReceiptAsks = 300;

/** The demo payer over a wallet and the configured nodes. Its transactions are sent one after the other. */
export function demoPayerOf(
  wallet: WalletSigner,
  deps: { readonly clock: Clock; readonly rpcOf: (chainId: number) => Rpc },
): DemoPayer {
  let last: Promise<unknown> = Promise.resolve();
  const send: DemoPayer['send'] = async ({ chainId, to, data }) => {
    const rpc = deps.rpcOf(chainId);
    const [nonce, gasPrice] = [
      await getTransactionCount(rpc, wallet.address, 'pending'),
      await getGasPrice(rpc),
    ];
    const fees = { maxFee: 2n * gasPrice, priorityFee: gasPrice };
    const raw = await wallet.signTransaction({ chainId, nonce, to, data, gasLimit, ...fees });
    const txHash = parseHash('transaction hash', await rpc.request('eth_sendRawTransaction', [raw]));
    for (let asked = 0; asked < maxReceiptAsks; asked += 1) {
      const receipt = await getTransactionReceipt(rpc, txHash);
      if (receipt?.succeeded === true) return txHash;
      if (receipt !== undefined) throw new Refusal('payer_not_served', `the transaction ${txHash} failed`);
      await deps.clock.sleep(receiptPauseMs);
    }
    throw new Refusal('payer_not_served', `the transaction ${txHash} is in no block`);
  };
  return {
    address: wallet.address,
    send(request) {
      const sent = last.then(() => send(request));
      // The caller handles a failure; the next transaction is sent regardless.
      last = sent.catch(() => undefined);
      return sent;
    },
  };
}
