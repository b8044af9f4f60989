import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { decodeFunctionData, getAddress, type Hex } from 'viem';
import type { Life } from './life.ts';
import { startLifeWithProcess } from './life-with-process.ts';
import { type AgentReply, alternative, Payer, succeeded } from './payer.ts';
import { addresses } from './roles.ts';
import type { ServiceProcess } from './service-process.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
let service: ServiceProcess;
before(async () => {
  ({ life, service } = await startLifeWithProcess());
});
after(() => life.close());

interface Prepared {
  readonly payer: Payer;
  readonly sessionId: string;
  readonly reply: AgentReply;
}

async function prepared(): Promise<Prepared> {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await life.ethereum.mint(token, payer.address, 5_000_000n);
  const sessionId = await checkout(life, 5_000_000);
  return { payer, sessionId, reply: await payer.prepare(sessionId, token) };
}

/** Signs an EIP-3009 authorization and submits it; returns the transaction of the answer. */
async function submit({ payer, reply }: Prepared): Promise<Hex> {
  const { path, body } = await payer.signed(alternative(reply, 'eip3009'));
  const submitted = (await payer.ask('POST', path, body)) as AgentReply & { txHash: Hex };
  return (succeeded(submitted) as typeof submitted).txHash;
}

/** The sender of a gateway call, and the order's signature in it. */
async function consentOf(txHash: string): Promise<readonly [sender: Hex, call: string, isSigned: boolean]> {
  const sent = (await life.ethereum.anvil.request('eth_getTransactionByHash', [txHash])) as {
    from: Hex;
    input: Hex;
  };
  const { functionName, args = [] } = decodeFunctionData({ abi: paymentGatewayAbi, data: sent.input });
  const signature = String(args[1]);
  assert.ok(signature === '0x' || signature.length === 132, signature);
  return [getAddress(sent.from), functionName, signature !== '0x'];
}

const sourceOf = async (sessionId: string) => {
  const { transaction } = await life.sessionIn(sessionId, 'completed');
  return consentOf(transaction?.sourceTx ?? '');
};

const fund = (wallet: Hex, wei: Hex) => life.ethereum.anvil.request('anvil_setBalance', [wallet, wei]);

test('the order signer’s wallet sends a payment by signature, and needs no signature of the order', async () => {
  const payment = await prepared();
  await submit(payment);
  assert.deepEqual(await sourceOf(payment.sessionId), [addresses.orderSigner, 'payWithAuthorization', false]);
  const { session } = await life.session(payment.sessionId);
  const settled = (await life.ethereum.anvil.request('eth_getTransactionByHash', [session.completeTx])) as {
    from: Hex;
  };
  assert.equal(getAddress(settled.from), addresses.settler);
});

test('the order signer’s wallet collects a deposit in the same way', async () => {
  const { sessionId, reply } = await prepared();
  const { address, amountInToken } = alternative(reply, 'deposit');
  assert.ok(address !== undefined && amountInToken !== undefined);
  await life.ethereum.mint(life.ethereum.token('usdc'), address as Hex, BigInt(amountInToken));
  assert.deepEqual(await sourceOf(sessionId), [addresses.orderSigner, 'collect', false]);
});

test('while that wallet is empty, a settler sends the payment with a signature; afterwards the wallet sends again', async () => {
  const wallet = addresses.orderSigner;
  await fund(wallet, '0x0');
  const first = await prepared();
  await submit(first);
  assert.deepEqual(await sourceOf(first.sessionId), [addresses.settler, 'payWithAuthorization', true]);
  await fund(wallet, '0x56bc75e2d63100000');
  const second = await prepared();
  await submit(second);
  assert.deepEqual(await sourceOf(second.sessionId), [wallet, 'payWithAuthorization', false]);
});

test('a transaction that a killed process recorded is sent unchanged by the same wallet', async () => {
  const payment = await prepared();
  await life.pauseMining();
  const txHash = await submit(payment);
  await service.kill();
  await life.ethereum.anvil.request('anvil_dropTransaction', [txHash]);
  assert.equal(await life.ethereum.anvil.request('eth_getTransactionByHash', [txHash]), null);
  await service.start();
  life.mine();
  const { transaction } = await life.sessionIn(payment.sessionId, 'completed');
  assert.equal(transaction?.sourceTx, txHash);
  assert.deepEqual(await consentOf(txHash), [addresses.orderSigner, 'payWithAuthorization', false]);
});
