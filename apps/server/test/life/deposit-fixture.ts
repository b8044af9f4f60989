import assert from 'node:assert/strict';
import { depositWayOf, type PreparedOrder } from '@florin/protocol/checkout-order.ts';
import type { ExceptionPolicy } from '@florin/protocol/exception-policy.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData, erc20Abi } from 'viem';
import type { Life } from './life.ts';
import type { LifeChain } from './life-chain.ts';
import { Payer } from './payer.ts';

/** A deposit address that a payer was given. */
export interface Address {
  readonly sessionId: string;
  readonly address: Hex;
  readonly amount: bigint;
  readonly payer: Payer;
  readonly deposit: NonNullable<ReturnType<typeof depositWayOf>>;
  /** Unix seconds. */
  readonly payUntil: string;
}

/** Sends a request to the hosted page's API. */
export async function askPage<Data>(life: Life, path: string, body: unknown): Promise<Data> {
  const response = await fetch(`${life.options.origin}/checkout/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const reply = (await response.json()) as { code: number; data: Data };
  assert.equal(reply.code, 0, JSON.stringify(reply));
  return reply.data;
}

/** A deposit address for a session of a new link with this policy; 100 USD, of which 0.20 is the fee. */
export async function addressOf(
  life: Life,
  token: Token,
  exceptionPolicy: ExceptionPolicy,
): Promise<Address> {
  const product = { name: 'A thing', commonPrices: [100_000_000] };
  const { productId } = await life.post<{ productId: string }>('/product/create', product);
  const { linkId, versionCode } = await life.post<{ linkId: string; versionCode: string }>(
    '/payment/link/create',
    {
      linkType: 'fixed',
      linkName: 'A link',
      accountId: life.accountId,
      settlementToken: token.tokenId,
      feeModel: 1,
      lineItems: [{ itemType: 'product', productId, unitPrice: 100_000_000 }],
      exceptionPolicy,
    },
  );
  const begun = await askPage<{ state: { sessionId: string } }>(life, '/session', {
    linkId,
    linkVersion: versionCode,
  });
  const { sessionId } = begun.state;
  const payer = new Payer(life);
  const asked = { sessionId, payer: payer.address, tokenId: token.tokenId, payerEmail: '' };
  const prepared = await askPage<PreparedOrder>(life, '/prepare', asked);
  const deposit = depositWayOf(prepared);
  if (deposit === undefined) throw new Error('no deposit address is offered');
  return {
    sessionId,
    address: deposit.address as Hex,
    amount: BigInt(prepared.amountInToken),
    payer,
    deposit,
    payUntil: prepared.deadline,
  };
}

/** A plain transfer to an address, as an exchange sends it. */
export async function transfer(
  life: Life,
  chain: LifeChain,
  token: Token,
  to: Hex,
  amount: bigint,
): Promise<void> {
  const exchange = new Payer(life);
  await exchange.fund(chain, token, amount);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
  await exchange.send(chain, { chainId: String(token.chainId), to: token.address, data, value: '0' });
}
