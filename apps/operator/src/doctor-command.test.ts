import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { addresses, keys } from '@florin/server/testing';
import { privateKeyToAddress } from 'viem/accounts';
import { CliWorld, failure } from './cli-world.fixture.ts';

let world: CliWorld;
before(async () => {
  world = await CliWorld.open();
});
after(() => world.close());

test('doctor reports no problem for a deployment that matches its configuration', async () => {
  const result = await world.run('doctor');
  assert.equal(result.exitCode, 0, result.stdout);
  assert.match(result.stdout, /^ok {4}configuration: is complete$/m);
  assert.match(result.stdout, /^ok {4}row-level security: separates the rows of merchants$/m);
  assert.match(result.stdout, /^ok {4}ethereum::usdc vault: float 100000, caps 1000000 per order,/m);
  assert.match(result.stdout, /\nno problems found\n$/);
});

test('doctor reports a problem and exits with 1', async () => {
  const wrong = world.writeConfig('wrong.json', {
    databaseUrl: 'postgres://127.0.0.1:1/none',
    signer: { orderKey: `0x${'77'.repeat(32)}`, settlerKey: keys.settler },
  });
  const result = await world.run('doctor', [], wrong);
  assert.equal(result.exitCode, 1);
  const lines = result.stdout.split('\n').filter((line) => line.startsWith('WRONG'));
  const stranger = privateKeyToAddress(`0x${'77'.repeat(32)}`);
  const { gateway, vault } = world.life.chain;
  const advice = 'or configure the registered key';
  assert.deepEqual(lines, [
    'WRONG database: the database cannot be used: connect ECONNREFUSED 127.0.0.1:1',
    `WRONG ethereum contracts: chain ethereum: the gateway ${gateway} does not know the order signer ${stranger}: register it there (setSigner), ${advice}`,
    `WRONG ethereum contracts: chain ethereum: the vault ${vault} does not know the order signer ${stranger}: register it there (setSigner), ${advice}`,
  ]);
});

test('doctor checks the gas of the order signer’s wallet where it sends gasless payments', async () => {
  const { orderSigner } = addresses;
  const lineOf = async (config?: string) =>
    (await world.run('doctor', [], config)).stdout.match(/^.*ethereum order signer: .*$/m)?.[0];
  assert.equal(
    await lineOf(),
    `ok    ethereum order signer: ${orderSigner} holds 100 of the native coin, enough for three days`,
  );
  const { anvil } = world.life;
  await anvil.request('anvil_setBalance', [orderSigner, '0x0']);
  assert.match(
    (await lineOf()) ?? '',
    /^WRONG ethereum order signer: \S+ holds 0 of the native coin: send it at least \S+ for three days' gas; without it settlers send gasless payments, at 4,500 more gas each$/,
  );
  assert.equal(
    await lineOf(world.writeConfig('settler.json', { gasless: { relayer: 'settler' } })),
    undefined,
  );
  await anvil.request('anvil_setBalance', [orderSigner, '0x56bc75e2d63100000']);
});

const writeAddress = statement({
  name: 'cli_test_account_address',
  parameters: { accountId: 'text', accountAddress: 'text' },
  text: 'update accounts set account_address = :accountAddress where account_id = :accountId',
});

test('doctor reports accounts and fee recipients that are contracts of the installation', async () => {
  const { gateway, vault } = world.life.chain;
  assert.match(
    (await world.run('doctor')).stdout,
    /^ok {4}accounts: none is a contract of this installation$/m,
  );
  const merchantId = await world.newMerchant();
  const { accountId } = await world.json(
    `account create --merchant ${merchantId} --name Main --address 0x${'c3'.repeat(20)} --currencies ethereum::usdc`,
  );
  await world.database.db.query(writeAddress, { accountId: String(accountId), accountAddress: vault });
  await world.life.call(gateway, 'PaymentGateway', 'setFeeRecipient', [vault]);
  const { stdout } = await world.run('doctor');
  const remedy = `florin account remove --merchant ${merchantId} --account ${accountId}`;
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.startsWith('WRONG')),
    [
      `WRONG accounts: ${accountId} pays into the vault of ethereum: have the merchant provide its own wallet, create an account for it, then ${remedy}`,
      `WRONG ethereum fees: the gateway ${gateway} sends them to the vault of ethereum: have its controller call setFeeRecipient with your own wallet`,
    ],
  );
  await world.run(remedy.slice('florin '.length));
  await world.life.call(gateway, 'PaymentGateway', 'setFeeRecipient', [addresses.feeRecipient]);
  assert.equal((await world.run('doctor')).exitCode, 0);
});

test('doctor checks the tokens that settlers need for additions to short deposits', async () => {
  const token = world.life.token('usdc');
  const adding = world.writeConfig('adding.json', { gasless: { deposits: { addedAboveFee: 20_000 } } });
  const lineOf = async (config?: string) =>
    (await world.run('doctor', [], config)).stdout.match(/^.*ethereum::usdc additions: .*$/m)?.[0];
  assert.equal(await lineOf(), undefined);
  assert.equal(
    await lineOf(adding),
    `WRONG ethereum::usdc additions: settlers hold 0 for additions to short deposits, of at most 100 a day: send 100 to ${addresses.settler}, or short deposits wait and go back`,
  );
  await world.life.mint(token, addresses.settler, 100_000_000n);
  assert.equal(
    await lineOf(adding),
    'ok    ethereum::usdc additions: settlers hold 100 for additions to short deposits, of at most 100 a day',
  );
});

const haltChain = statement({
  name: 'cli_test_halt',
  parameters: { chainId: 'int8' },
  text: `insert into chain_cursors
     (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, halted_reason, updated_at)
   values (:chainId, 9, '0x09', now(), 8, '0x08', now(), 'a final block was replaced', now())`,
});

test('doctor reports a halted chain, which is resumed by hand', async () => {
  assert.deepEqual(
    await world.run('chain resume --chain ethereum'),
    failure(1, 'the service has not followed the chain ethereum yet'),
  );
  await world.database.db.query(haltChain, { chainId: BigInt(world.life.chain.chainId) });
  assert.match(
    (await world.run('doctor')).stdout,
    /^WRONG ethereum watcher: halted: a final block was replaced:/m,
  );
  assert.deepEqual(await world.json('chain resume --chain ethereum'), {
    chain: 'ethereum',
    wasHalted: true,
    reason: 'a final block was replaced',
  });
  assert.match(
    (await world.run('doctor')).stdout,
    /^WRONG ethereum watcher: was halted: a final block was replaced: continues once/m,
  );
  await world.database.db.query(endResync, { chainId: BigInt(world.life.chain.chainId) });
  assert.equal((await world.run('doctor')).exitCode, 0);
  assert.equal(
    (await world.run('chain resume --chain ethereum')).stdout,
    'the chain ethereum was not halted\n',
  );
});

// The watcher's own statement after it has read the chain again.
const endResync = statement({
  name: 'cli_test_resync_end',
  parameters: { chainId: 'int8' },
  text: `update chain_cursors set is_resync_due = false, halted_reason = '' where chain_id = :chainId`,
});

const dropEvent = statement({
  name: 'cli_test_drop',
  parameters: { chainId: 'int8' },
  text: `insert into dropped_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name,
     order_id, arguments, dropped_at)
   values (:chainId, 7, '0x07', 0, '0xaa', now(), 'gateway', 'Paid', '0xbb', '{}', now())`,
});

test('events that a resumed chain has reverted are reported until they return', async () => {
  assert.deepEqual(await world.run('chain dropped --chain ethereum'), {
    exitCode: 0,
    stdout: 'no final event was reverted on ethereum\n',
    stderr: '',
  });
  await world.database.db.query(dropEvent, { chainId: BigInt(world.life.chain.chainId) });
  const told = await world.run('chain dropped --chain ethereum');
  assert.equal(told.exitCode, 1);
  assert.match(told.stdout, /^MISSING +Paid +0xbb +unknown +7 +0xaa$/m);
  assert.match(told.stdout, /^1 of 1 reverted events of ethereum have not returned$/m);
  assert.match((await world.run('doctor')).stdout, /^WRONG ethereum watcher: final events were reverted/m);
  await world.database.db.query(forgetDropped);
});

const forgetDropped = statement({
  name: 'cli_test_forget_dropped',
  text: 'delete from dropped_events',
});

test('final blocks are read again from the requested block, and later ones are not', async () => {
  assert.deepEqual(
    await world.run('chain backfill --chain ethereum --from 9'),
    failure(
      1,
      'block 9 of ethereum is not final yet: the last final block is 8, and later ones are read anyway',
    ),
  );
  assert.deepEqual(
    await world.run('chain backfill --chain ethereum --from x'),
    failure(1, '--from is x: give a block number'),
  );
  assert.deepEqual(await world.json('chain backfill --chain ethereum --from 3'), {
    chain: 'ethereum',
    from: '3',
    to: '8',
  });
  assert.match((await world.run('doctor')).stdout, /final up to 8, reading block 3 again$/m);
});

test('doctor reports a chain with a single provider', async () => {
  assert.match(
    (await world.run('doctor')).stdout,
    /^ok {4}ethereum providers: only one, which alone decides when a block is final: .*; final is finalized$/m,
  );
});
