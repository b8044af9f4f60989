import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
import { type Hex, parseTransaction } from 'viem';
import { systemClock } from '../../test/context.ts';
import { emitter, eventCall, idOf } from '../../test/emitter.ts';
import { senderWallets } from '../../test/sender-wallets.ts';
import { getTransactionReceipt } from '../nodes/actions.ts';
import { type Rpc, RpcError } from '../nodes/rpc.ts';
import { runWatcher } from '../watcher/watcher.ts';
import { defaultSenderSettings, type SenderContext } from './context.ts';
import { offeredAhead } from './sender.sql.ts';
import { createSender } from './sender.ts';
import { newLoopState, senderRound } from './sender-loop.ts';
import type { SendPlan, SendRequest } from './sent.ts';
import { findPending } from './store.ts';
import { type WalletSigner, walletOf } from './wallet.ts';

const sentCalls = statement({
  name: 'relayer_test_calls',
  parameters: { chainId: 'int8' },
  columns: { wallet: 'text', nonce: 'int8', purpose: 'text', call_data: 'text' },
  text: 'select wallet, nonce, purpose, call_data from sent_transactions where chain_id = :chainId order by wallet, nonce',
});

const { database, anvil, rpc, chain, outcomes, told, options, watching, close } = await senderWallets(62_000);
after(close);
const [first, second, relayer] = [1, 2, 3].map((number) => walletOf(`0x${`${number}`.repeat(64)}`));
assert.ok(first !== undefined && second !== undefined && relayer !== undefined);
const fund = (address: Hex, wei: bigint) =>
  anvil.request('anvil_setBalance', [address, `0x${wei.toString(16)}`]);
for (const { address } of [first, second, relayer]) await fund(address, 100n * 10n ** 18n);
const sender = createSender({ ...options(), wallet: first, otherWallets: [second], relayer });

/** Two calls of the same length, so that they cost the same gas. */
const ownCall = (number: number): SendRequest => ({
  purpose: 'own',
  to: emitter,
  data: eventCall(idOf(number)),
});
const relayedCall = (number: number): Required<SendRequest> => ({
  purpose: 'relay',
  to: emitter,
  data: eventCall(idOf(number)),
  dataByRelayer: eventCall(idOf(number + 1_000)),
});

async function planned(request: SendRequest): Promise<SendPlan> {
  const plan = await sender.plan(chain.chainId, request);
  assert.ok(!('reverted' in plan));
  return plan;
}

const record = (plan: SendPlan) => database.db.transaction((transaction) => sender.record(transaction, plan));

async function send(request: SendRequest): Promise<void> {
  const { transactionId } = await record(await planned(request));
  await sender.broadcast(transactionId);
}

test('96 calls and 20 relayed calls at once: each leaves from its own wallet, and all succeed', async () => {
  const stop = new AbortController();
  const running = [sender.run(stop.signal), runWatcher({ ...watching(), signal: stop.signal })];
  try {
    const ownCalls = Array.from({ length: 96 }, (_, number) => send(ownCall(number)));
    const relayed = Array.from({ length: 20 }, (_, number) => send(relayedCall(number + 200)));
    await Promise.all([...ownCalls, ...relayed]);
    const deadline = performance.now() + 180_000;
    while (outcomes.length < 116 && performance.now() < deadline) {
      await anvil.mine();
      await systemClock.sleep(50);
    }
  } finally {
    stop.abort();
    await Promise.all(running);
  }
  assert.deepEqual([...new Set(outcomes.map(({ status }) => status))], ['succeeded']);
  const rows = await database.db.query(sentCalls, { chainId: chain.chainId });
  const callsOf = (...wallets: readonly WalletSigner[]) => {
    const addresses = wallets.map(({ address }) => address.toLowerCase());
    return rows
      .filter(({ wallet }) => addresses.includes(wallet))
      .map(({ purpose, call_data }) => `${purpose} ${call_data}`)
      .sort();
  };
  const expected = (count: number, call: (number: number) => string) =>
    Array.from({ length: count }, (_, number) => call(number)).sort();
  assert.deepEqual(
    callsOf(first, second),
    expected(96, (number) => `own ${ownCall(number).data}`),
  );
  assert.deepEqual(
    callsOf(relayer),
    expected(20, (number) => `relay ${relayedCall(number + 200).dataByRelayer}`),
  );
  for (const { address } of [first, second, relayer]) {
    const nonces = rows.filter(({ wallet }) => wallet === address.toLowerCase()).map(({ nonce }) => nonce);
    assert.deepEqual(
      nonces,
      nonces.map((_, index) => BigInt(index)),
    );
  }
});

test('while the relayer lacks gas, another wallet sends relayed calls with the data for other wallets', async () => {
  const callOf = async () => {
    const { wallet, data } = await planned(relayedCall(300));
    return [wallet, data];
  };
  const byRelayer = [relayer.address, relayedCall(300).dataByRelayer];
  const byAnother = (wallet: WalletSigner) => [wallet.address, relayedCall(300).data];
  told.length = 0;
  const { gasLimit, maxFee } = await planned(relayedCall(300));
  const cost = 200_000n * maxFee;
  await fund(relayer.address, 9n * cost);
  assert.deepEqual(
    (await Promise.all([callOf(), callOf()])).sort(),
    [byAnother(first), byAnother(second)].sort(),
  );
  // Without the margin, calls would switch wallets one by one near the limit.
  await fund(relayer.address, 11n * cost);
  assert.notDeepEqual(await callOf(), byRelayer);
  await fund(relayer.address, 21n * cost);
  assert.deepEqual(await callOf(), byRelayer);
  // The balance must still pay for the gas of unmined transactions.
  await fund(relayer.address, 10n * cost + (23n * gasLimit * maxFee) / 2n);
  for (let count = 0; count < 12; count += 1) await record(await planned(secondCall(count)));
  assert.notDeepEqual(await callOf(), byRelayer);
  assert.deepEqual(told, [
    'sender.relayer_without_gas',
    'sender.relayer_with_gas',
    'sender.relayer_without_gas',
  ]);
});

const secondCall = (number: number): SendRequest => ({ ...relayedCall(number + 400), purpose: 'collect' });

test('a call recorded for the relayer’s wallet is never sent by another wallet, not even after a restart', async () => {
  const key = { chainId: chain.chainId, wallet: relayer.address, limit: 100 };
  const before = await findPending(database.db, key);
  assert.equal(before.length, 12);
  const late = { ...systemClock, now: () => new Date(systemClock.now().getTime() + 60_000) };
  const contextOf = (wallet: WalletSigner): SenderContext => ({
    ...{ ...options(), wallet, clock: late, settings: defaultSenderSettings },
  });
  for (const wallet of [first, second]) await senderRound(contextOf(wallet), chain, newLoopState());
  assert.deepEqual(await findPending(database.db, key), before);
  await fund(relayer.address, 10n ** 20n);
  // Blocks ask for more than the offer.
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${(40n * 10n ** 9n).toString(16)}`]);
  await anvil.mine();
  await senderRound(contextOf(relayer), chain, newLoopState());
  await anvil.mine();
  const [next] = await findPending(database.db, key);
  const newest = next?.attempts.at(-1);
  assert.ok(newest !== undefined && next?.attempts.length === 2, 'it was replaced by its own wallet');
  const receipt = await getTransactionReceipt(rpc, newest.txHash);
  assert.equal(receipt?.succeeded, true);
});

test('the relayer’s wallet sends only relayed calls, and is not one of the other wallets', async () => {
  const plan = { ...(await planned(ownCall(500))), wallet: relayer.address };
  await assert.rejects(record(plan), /sends only relayed calls/);
  assert.throws(
    () => createSender({ ...options(), wallet: first, relayer: first }),
    /the sender has one wallet twice/,
  );
});

test('a call that needs far more gas than usual is sent alone by another wallet', async () => {
  await fund(relayer.address, 10n ** 20n);
  assert.equal((await planned(relayedCall(600))).wallet, relayer.address);
  const costly: SendRequest = {
    ...relayedCall(600),
    to: second.address,
    dataByRelayer: `0x${'01'.repeat(50_000)}`,
  };
  const { gasLimit, maxFee } = await planned(costly);
  assert.ok(gasLimit > 2_000_000n, `${gasLimit}`);
  told.length = 0;
  const { address } = relayer;
  const [ahead] = await database.db.query(offeredAhead, {
    chainId: chain.chainId,
    wallet: address.toLowerCase(),
  });
  await fund(address, (ahead?.wei ?? 0n) + 9n * gasLimit * maxFee);
  const walletsOf = async () => [(await planned(costly)).wallet, (await planned(relayedCall(600))).wallet];
  assert.deepEqual(await walletsOf(), [address, address]);
  await fund(address, (ahead?.wei ?? 0n) + (gasLimit * maxFee * 9n) / 10n);
  const [sentBy, next] = await walletsOf();
  assert.notEqual(sentBy, address);
  assert.equal(next, address);
  assert.deepEqual(told, []);
});

test('where a node refuses the relayer’s balance, another wallet sends, and the log says so once', async () => {
  await fund(relayer.address, 10n ** 20n);
  let isSilent = true;
  const asked: Rpc = {
    ...rpc,
    request: async (method, params, ...more) => {
      if (isSilent && method === 'eth_getBalance') throw new RpcError(-32_000, 'no archive');
      return rpc.request(method, params, ...more);
    },
  };
  const guarded = createSender({ ...options(), rpcOf: () => asked, wallet: first, relayer });
  const walletOfPlan = async () => {
    const plan = await guarded.plan(chain.chainId, relayedCall(700));
    assert.ok(!('reverted' in plan));
    return [plan.wallet, plan.data];
  };
  told.length = 0;
  for (let count = 0; count < 3; count += 1)
    assert.deepEqual(await walletOfPlan(), [first.address, relayedCall(700).data]);
  isSilent = false;
  for (let count = 0; count < 2; count += 1)
    assert.deepEqual(await walletOfPlan(), [relayer.address, relayedCall(700).dataByRelayer]);
  assert.deepEqual(told, ['sender.relayer_balance_unknown', 'sender.relayer_balance_known']);
});

/** A slow signer that refuses some calls. */
function remoteWallet(wallet: WalletSigner, refused: ReadonlySet<Hex>): WalletSigner {
  return {
    ...wallet,
    async signTransaction(transaction) {
      await systemClock.sleep(5);
      if (refused.has(transaction.data)) throw new Error('the signer refuses');
      return wallet.signTransaction(transaction);
    },
  };
}

test('calls signed at the same time have consecutive nonces, also when the signer fails for some', async () => {
  const wallet = walletOf(`0x${'4'.repeat(64)}`);
  await fund(wallet.address, 10n ** 20n);
  const refused = new Set([810, 813].map((number) => relayedCall(number).dataByRelayer));
  const batches: bigint[][] = [];
  const watched: Rpc = {
    ...rpc,
    batch: async (calls, ...more) => {
      const raws = calls.flatMap(({ method, params }) =>
        method === 'eth_sendRawTransaction' ? [params[0] as Hex] : [],
      );
      if (raws.length > 0) batches.push(raws.map((raw) => BigInt(parseTransaction(raw).nonce ?? 0)));
      return rpc.batch(calls, ...more);
    },
  };
  const remote = createSender({
    ...options(),
    ...{ rpcOf: () => watched, wallet: first, relayer: remoteWallet(wallet, refused) },
  });
  const plans = await Promise.all(
    Array.from({ length: 24 }, (_, number) => remote.plan(chain.chainId, relayedCall(800 + number))),
  );
  const results = await Promise.allSettled(
    plans.map(async (plan) => {
      assert.ok(!('reverted' in plan));
      const { transactionId } = await database.db.transaction((transaction) =>
        remote.record(transaction, plan),
      );
      await remote.broadcast(transactionId);
    }),
  );
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  assert.deepEqual(failures, ['Error: the signer refuses', 'Error: the signer refuses']);
  const key = { chainId: chain.chainId, wallet: wallet.address, limit: 100 };
  const pending = await findPending(database.db, key);
  assert.deepEqual(
    pending.map(({ nonce }) => nonce),
    Array.from({ length: 22 }, (_, index) => BigInt(index)),
  );
  const sentData = pending.map(({ attempts }) => parseTransaction(attempts[0]?.raw ?? '0x').data);
  assert.deepEqual(
    sentData,
    pending.map(({ data }) => data),
    'each nonce carries the call that is stored for it',
  );
  assert.equal(new Set(sentData).size, 22);
  assert.equal(batches.flat().length, 22);
  for (const nonces of batches)
    assert.deepEqual(
      nonces,
      [...nonces].sort((one, other) => Number(one - other)),
    );
  await anvil.mine();
  for (const { attempts } of pending) {
    const receipt = await getTransactionReceipt(rpc, attempts[0]?.txHash ?? '0x');
    assert.equal(receipt?.succeeded, true);
  }
});
