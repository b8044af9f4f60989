import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { awsKmsSigner, type SignerHttp, signerHttp, web3Signer } from '@florin/signing';
import { type FakeSigner, startKms, startWeb3Signer } from '@florin/signing/testing';
import { systemClock } from '#outside/clock.ts';
import { Life } from './life.ts';
import type { LifeChain } from './life-chain.ts';
import { type AgentReply, alternative, Payer, succeeded } from './payer.ts';
import { addresses } from './roles.ts';
import { onEveryChain, rolesOf, sendGas } from './rotation-steps.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
let kms: FakeSigner & { readonly keyId: string };
let web3: FakeSigner;
let http: SignerHttp;
before(async () => {
  [life, kms, web3] = await Promise.all([Life.start(), startKms(), startWeb3Signer()]);
  http = signerHttp(systemClock);
  life.mine();
});
after(() => Promise.all([life.close(), kms.close(), web3.close(), http.close()]));

async function senderOf(chain: LifeChain, txHash: string): Promise<string> {
  const receipt = (await chain.anvil.request('eth_getTransactionReceipt', [txHash])) as { from: string };
  return receipt.from;
}

async function prepared(): Promise<{ sessionId: string; payer: Payer; reply: AgentReply }> {
  const sessionId = await checkout(life, 2_000_000, 'base::usdc');
  const payer = new Payer(life);
  const usdc = life.ethereum.token('usdc');
  await life.pauseMining();
  await payer.fund(life.ethereum, usdc, 2_000_000n);
  life.mine();
  return { sessionId, payer, reply: await payer.prepare(sessionId, usdc) };
}

test('an open order is paid after both keys are replaced by remote ones, and the old keys are useless', async () => {
  const open = await prepared();
  // 1. The contracts accept the new keys in addition to the old ones.
  await onEveryChain(life, rolesOf(web3.address, kms.address), true);
  await sendGas(life, [kms.address, web3.address]);
  // 2. The service signs with the new keys.
  await life.stopService();
  const { keyId, address, url: endpoint } = kms;
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' };
  const settings = { region: 'eu-central-1', keyId, address, credentials, endpoint };
  Object.assign(life.options, {
    orderKey: web3Signer(http, web3),
    settlerKey: awsKmsSigner(settings),
  });
  await life.startService();
  // 3. Orders signed by the old key are paid; the new keys settle them and pay them out.
  await open.payer.execute(life.ethereum, open.reply);
  const { session } = await life.sessionIn(open.sessionId, 'completed');
  assert.equal(await senderOf(life.base, session.completeTx), kms.address.toLowerCase());
  // 4. No order signed by the old keys is open: they are revoked.
  await onEveryChain(life, rolesOf(addresses.orderSigner, addresses.settler), false);
  const next = await prepared();
  await next.payer.execute(life.ethereum, next.reply);
  await life.sessionIn(next.sessionId, 'completed');
  // 5. Relayed payments leave from the new order signer's wallet.
  const gasless = await prepared();
  const { path, body } = await gasless.payer.signed(alternative(gasless.reply, 'eip3009'));
  succeeded(await gasless.payer.ask('POST', path, body));
  const paid = await life.sessionIn(gasless.sessionId, 'completed');
  assert.equal(await senderOf(life.ethereum, paid.session.initiateTx), web3.address.toLowerCase());
  assert.ok((kms.asked.get('TrentService.Sign') ?? 0) >= 4 && web3.asked.size === 2);
});
