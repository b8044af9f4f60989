import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { awsKmsSigner, googleKmsSigner, type SignerHttp, signerHttp, web3Signer } from '@florin/signing';
import {
  type FakeSigner,
  startGoogleKms,
  startKms,
  startRole,
  startWeb3Signer,
} from '@florin/signing/testing';
import { systemClock } from '#outside/clock.ts';
import type { ServiceOptions } from '../../src/service/options.ts';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { addresses } from './roles.ts';
import { onEveryChain, rolesOf, sendGas } from './rotation-steps.ts';
import { checkout } from './story-fixture.ts';

const price = 2_000_000;
const payersAtOnce = 6;
/** Payments that each payer has money for: far more than the rotations take. */
const paymentsOfEach = 10_000;

let life: Life;
let kms: FakeSigner & { readonly keyId: string };
let google: FakeSigner & { readonly keyVersion: string };
let web3: FakeSigner;
let role: Awaited<ReturnType<typeof startRole>>;
let http: SignerHttp;
const stop = new AbortController();
before(async () => {
  [life, kms, google, web3, role] = await Promise.all([
    Life.start(),
    startKms(),
    startGoogleKms(),
    startWeb3Signer(),
    startRole(),
  ]);
  http = signerHttp(systemClock);
  process.env['GCE_METADATA_HOST'] = role.url.slice('http://'.length);
  process.env['METADATA_SERVER_DETECTION'] = 'assume-present';
});
after(async () => {
  stop.abort();
  delete process.env['GCE_METADATA_HOST'];
  delete process.env['METADATA_SERVER_DETECTION'];
  await Promise.all([life.close(), kms.close(), google.close(), web3.close(), role.close(), http.close()]);
});

/** Repeats what fails while the service restarts, as a client does. */
async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === 100) throw error;
      await setTimeout(200);
    }
  }
}

/** Payers who pay one session after the other, each when the last one is completed, until the signal aborts. */
function load(payers: readonly Payer[], signal: AbortSignal) {
  const sent: string[] = [];
  const open = new Set<string>();
  const usdc = life.ethereum.token('usdc');
  const pay = async (payer: Payer) => {
    while (!signal.aborted) {
      const sessionId = await patiently(() => checkout(life, price, 'base::usdc'));
      open.add(sessionId);
      const reply = await patiently(() => payer.prepare(sessionId, usdc));
      await payer.execute(life.ethereum, reply);
      open.delete(sessionId);
      sent.push(sessionId);
      await patiently(() => life.sessionIn(sessionId, 'completed'));
    }
  };
  return { sent, open, done: Promise.all(payers.map(pay)) };
}

async function rotate(
  from: { orderSigner: `0x${string}`; settler: `0x${string}` },
  to: Pick<ServiceOptions, 'orderKey' | 'settlerKey'> & { order: FakeSigner; settle: FakeSigner },
  running: ReturnType<typeof load>,
): Promise<void> {
  const { order, settle, orderKey, settlerKey } = to;
  await sendGas(life, [order.address, settle.address]);
  await onEveryChain(life, rolesOf(order.address, settle.address), true);
  await nextSettled(running);
  await life.stopService();
  Object.assign(life.options, { orderKey, settlerKey });
  await life.startService();
  // The orders that the old key signed are paid before it is revoked.
  const signedBefore = [...running.open];
  const stillOpen = () => signedBefore.filter((sessionId) => running.open.has(sessionId));
  await life.eventually(stillOpen, ({ length }) => length === 0, 'orders of the old key to be paid');
  await nextSettled(running);
  await onEveryChain(life, rolesOf(from.orderSigner, from.settler), false);
  await nextSettled(running);
}

/** Waits until a payment that is sent from now on is settled. */
async function nextSettled({ sent }: ReturnType<typeof load>): Promise<void> {
  const from = sent.length;
  const next = await life.eventually(
    () => sent[from],
    (sessionId) => sessionId !== undefined,
    'a payment',
  );
  await life.sessionIn(next ?? '', 'completed');
}

test('both keys are replaced twice while payers pay, and no payment is lost or settled twice', async (t) => {
  const usdc = life.ethereum.token('usdc');
  const payers = Array.from({ length: payersAtOnce }, () => new Payer(life));
  for (const payer of payers) await payer.fund(life.ethereum, usdc, BigInt(price * paymentsOfEach));
  life.mine();
  const running = load(payers, stop.signal);
  // A payer who cannot pay ends the test at once.
  await Promise.all([running.done, rotateTwice(t, running)]);
});

async function rotateTwice(t: TestContext, running: ReturnType<typeof load>): Promise<void> {
  await nextSettled(running);
  const { keyId, address, url: endpoint } = kms;
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' };
  const first = {
    orderKey: web3Signer(http, web3),
    settlerKey: awsKmsSigner({ region: 'eu-central-1', keyId, address, endpoint, credentials }),
  };
  await rotate(addresses, { ...first, order: web3, settle: kms }, running);
  const ofFirst = running.sent.length;
  // The signers change their roles, so that each kind signs both orders and transactions.
  const { keyVersion } = google;
  const settlerKey = googleKmsSigner(http, { keyVersion, address: google.address, endpoint: google.url });
  const otherKms = await startKms();
  const orderKey = awsKmsSigner({
    ...{ region: 'eu-central-1', keyId: otherKms.keyId, address: otherKms.address },
    ...{ endpoint: otherKms.url, credentials },
  });
  const second = { orderKey, settlerKey, order: otherKms, settle: google };
  await rotate({ orderSigner: web3.address, settler: kms.address }, second, running);
  stop.abort();
  await running.done;
  const senders = new Set<string>();
  let net = 0n;
  for (const sessionId of running.sent) {
    const { session, transaction } = await life.sessionIn(sessionId, 'completed');
    net += BigInt(transaction?.netValue ?? 0);
    const settled = await life.base.anvil.request('eth_getTransactionReceipt', [session.completeTx]);
    senders.add((settled as { from: string }).from);
  }
  const expected = [addresses.settler, kms.address, google.address].map((each) => each.toLowerCase());
  assert.deepEqual([...senders].toSorted(), expected.toSorted());
  // The merchant has the money of each payment once.
  const balance = await life.base.balanceOf(life.base.token('usdc'), life.merchantWallet);
  assert.equal(balance, net);
  t.diagnostic(`${running.sent.length} payments, ${ofFirst} until the second rotation, none lost`);
  await otherKms.close();
}
