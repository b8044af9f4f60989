import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { ledgerBalances } from '#ledger/entry.ts';
import { startService } from '../../src/service/service.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
before(async () => {
  life = await Life.start(startService, { hasCctp: true });
  life.mine();
});
after(() => life.close());

async function pay(unitPrice: number): Promise<{ sessionId: string; orderId: string }> {
  const sessionId = await checkout(life, unitPrice, 'base::usdc');
  const payer = new Payer(life);
  const usdc = life.ethereum.token('usdc');
  await payer.fund(life.ethereum, usdc, 2n * BigInt(unitPrice));
  const prepared = await payer.prepare(sessionId, usdc);
  await payer.execute(life.ethereum, prepared);
  return { sessionId, orderId: prepared.aiView.paymentExecutionGuide.order.orderId };
}

/** The contract that a transaction on the merchant's chain calls. */
async function calledBy(txHash: string): Promise<string> {
  const receipt = await life.base.anvil.request('eth_getTransactionReceipt', [txHash]);
  return (receipt as { to: string }).to;
}

const merchantsUsdc = () => life.base.balanceOf(life.base.token('usdc'), life.merchantWallet);

test('an order above CCTP’s limit of a thousand dollars is paid out by the vault, and a smaller one is burnt and minted to the merchant', async () => {
  const before = await merchantsUsdc();
  const large = await pay(1_001_000_000);
  const paidOut = await life.sessionIn(large.sessionId, 'completed');
  assert.equal((await merchantsUsdc()) - before, 994_994_000n);
  assert.equal(await calledBy(paidOut.session.completeTx), life.base.chain.vault.toLowerCase());

  const small = await pay(20_000_000);
  const { session, transaction } = await life.sessionIn(small.sessionId, 'completed');
  assert.equal((await merchantsUsdc()) - before, 994_994_000n + 19_880_000n);
  assert.equal(transaction?.targetTx, session.completeTx);
  assert.equal(await calledBy(session.completeTx), life.base.chain.cctp?.transmitter.toLowerCase());
  const types = (await life.eventOf(small.sessionId, 'session.completed')).map(({ type }) => type);
  assert.deepEqual(types, [
    'session.created',
    'session.payment_detected',
    'session.paid',
    'session.settling',
    'session.completed',
  ]);
  const books = await ledgerBalances(life.database.db);
  const gatewayHolds = books.find(({ account }) => account === 'gateway:ethereum')?.balance;
  const usdc = life.ethereum.token('usdc');
  assert.equal(gatewayHolds, await life.ethereum.balanceOf(usdc, life.ethereum.chain.gateway));
  const open = books.filter(({ account }) => /^(bridge|merchant):/.test(account));
  assert.deepEqual(
    open.filter(({ balance }) => balance !== 0n),
    [],
  );
});

test('an order without an attestation waits, and is minted once it has one', deepOnly, async () => {
  const { options } = life;
  const before = await merchantsUsdc();
  await life.stopService();
  // No service answers at this address.
  Object.assign(options, { attestationUrl: 'http://127.0.0.1:9' });
  await life.startService();
  const { sessionId } = await pay(8_000_000);
  await life.eventually(
    () => life.session(sessionId),
    ({ session }) => session.status === 'settling',
    'settling',
  );
  await life.stopService();
  Object.assign(options, { attestationUrl: life.attester?.url });
  await life.startService();
  await life.sessionIn(sessionId, 'completed');
  assert.equal((await merchantsUsdc()) - before, 7_952_000n);
});

test('a message delivered by a third party completes the session, too', deepOnly, async () => {
  const { options } = life;
  await life.stopService();
  Object.assign(options, { attestationUrl: 'http://127.0.0.1:9' });
  await life.startService();
  const before = await merchantsUsdc();
  const { sessionId, orderId } = await pay(9_000_000);
  const burnt = await life.eventually(
    () => burnOf(orderId),
    (hash) => hash !== '',
    'the burn to be final',
  );
  const answer = await life.eventually(
    () => attested(burnt),
    (messages) => messages[0]?.status === 'complete',
    'the attestation',
  );
  const [message] = answer;
  assert.ok(message !== undefined && life.base.chain.cctp !== undefined);
  await life.base.call(life.base.chain.cctp.transmitter, 'LocalMessageTransmitter', 'receiveMessage', [
    message.message,
    message.attestation,
  ]);
  await life.sessionIn(sessionId, 'completed');
  assert.equal((await merchantsUsdc()) - before, 8_946_000n);
});

const burnHash = statement({
  name: 'story_burn_hash',
  parameters: { orderId: 'text' },
  columns: { tx_hash: 'text' },
  text: `select tx_hash from chain_events where order_id = :orderId and event_name = 'Settled' and is_final`,
});

async function burnOf(orderId: string): Promise<string> {
  const [row] = await life.database.db.query(burnHash, { orderId });
  return row?.tx_hash ?? '';
}

interface Attested {
  readonly status: string;
  readonly message: string;
  readonly attestation: string;
}

async function attested(txHash: string): Promise<readonly Attested[]> {
  const response = await fetch(`${life.attester?.url}/v2/messages/0?transactionHash=${txHash}`);
  return ((await response.json()) as { messages?: Attested[] }).messages ?? [];
}
