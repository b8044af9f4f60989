import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { createUser, systemClock, systemRandom } from '@florin/server/operator';
import { checkoutProgram } from './cli.ts';
import { CliWorld } from './cli-world.fixture.ts';

/** Commands that read, or write files, contracts, the schema or the database as a whole. */
const unrecorded = [
  ...['init', 'migrate', 'keystore create', 'deploy', 'verify', 'handover', 'doctor', 'backup', 'restore'],
  ...['restore report', 'merchant list', 'member list', 'staff list', 'account list', 'key list'],
  ...['settlement list', 'exception list', 'exception show', 'chain dropped', 'ledger verify'],
  ...['reconcile status', 'kit find', 'kit reclaim', 'kit settle', 'kit rescue', 'kit verify'],
  ...['operator signer', 'operator settler', 'operator guardian', 'operator fee-recipient'],
  ...['operator caps', 'operator withdraw', 'operator pause', 'operator unpause', 'operator offer'],
  'operator accept',
  // The keys stay the same.
  'webhook reseal',
];
/** They need payments: their entries are in the tests of settlements and exceptions. */
const elsewhere = ['settlement release', 'exception accept', 'exception refund', 'exception resolve'];

let world: CliWorld;
before(async () => {
  world = await CliWorld.open();
});
after(() => world.close());

const entries = statement({
  name: 'command_test_audit_entries',
  columns: { action: 'text', merchant_id: 'text?', actor_kind: 'text' },
  text: 'select action, merchant_id, actor_kind from audit_entries order by entry_id',
});

const addStaff = statement({
  name: 'command_test_add_staff',
  parameters: { userId: 'text' },
  text: 'insert into staff (user_id, created_at) values (:userId, now())',
});

const insertHalted = statement({
  name: 'command_test_insert_halted',
  parameters: { chainId: 'int8' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time,
     halted_reason, updated_at)
   values (:chainId, 20, '0x', now(), 16, '0x', now(), 'reorg below the final block 16', now())`,
});

test('every command that changes something writes one entry of the audit log, as the operator', async () => {
  const { db } = world.database;
  const deps = { clock: systemClock, random: systemRandom };
  const person = { name: 'Lee', email: 'lee@example.com', passwordHash: 'x' };
  const userId = await db.transaction((transaction) => createUser(transaction, deps, person));
  await db.query(addStaff, { userId });
  await db.query(insertHalted, { chainId: BigInt(world.life.chain.chainId) });

  const walked = new Set<string>();
  let seen = 0;
  /** Runs a command with options, and compares the entries that it wrote with the one it should. */
  const run = async (name: string, options: string, action: string, merchantId: string | null = null) => {
    const answer = await world.json(`${name} ${options}`.trim());
    const written = (await db.query(entries)).slice(seen);
    const owner = merchantId ?? (name === 'merchant create' ? String(answer['merchantId']) : null);
    assert.deepEqual(written, [{ action, merchant_id: owner, actor_kind: 'operator' }], name);
    seen += 1;
    walked.add(name);
    return answer;
  };

  const merchantId = String((await run('merchant create', '--name Tea', 'createMerchant'))['merchantId']);
  const of = `--merchant ${merchantId}`;
  const ofMerchant = (name: string, options: string, action: string) =>
    run(name, `${of} ${options}`, action, merchantId);
  await ofMerchant('merchant brand', '--color #112233', 'updateBranding');
  await ofMerchant('invite', '--role viewer', 'inviteMember');
  const { keyId } = await ofMerchant('key create', '--kind secret', 'createApiKey');
  await run('key revoke', `--key ${keyId}`, 'disableApiKey', merchantId);
  const wallet = `--name Till --address 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A --currencies ethereum::usdc`;
  const { accountId } = await ofMerchant('account create', wallet, 'addWalletAccount');
  await ofMerchant('account update', `--account ${accountId} --settlement-mode escrow`, 'updateAccount');
  await ofMerchant('account remove', `--account ${accountId}`, 'removeAccount');
  await run('member recover', `--user ${userId}`, 'startRecovery');
  await run('member cancel-recovery', `--user ${userId}`, 'cancelRecovery');
  await run('staff add', '', 'inviteStaff');
  await run('staff remove', `--user ${userId}`, 'removeStaff');
  await run('payer erase', '--email payer@example.com', 'erasePayer');
  await run('chain backfill', '--chain ethereum --from 3', 'backfillChain');
  await run('chain resume', '--chain ethereum', 'resumeChain');
  await run('reconcile release', '--chain ethereum --differences accept', 'releaseChain');

  const [operators] = checkoutProgram.families;
  const known = [...walked, ...elsewhere, ...unrecorded];
  assert.deepEqual(Object.keys(operators?.commands ?? {}).sort(), known.sort());
});
