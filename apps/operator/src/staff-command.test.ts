import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { acceptInvitation, createUser, operator, systemClock, systemRandom } from '@florin/server/operator';
import { CliWorld } from './cli-world.fixture.ts';

let world: CliWorld;
before(async () => {
  world = await CliWorld.open();
});
after(() => world.close());

test('a person becomes staff by a link, is listed, and goes', async () => {
  const { url } = await world.json('staff add --email ops@example.com');
  const token = String(url).split('#')[1] ?? '';
  const deps = { clock: systemClock, random: systemRandom };
  const userId = await world.database.db.transaction(async (transaction) => {
    const person = { name: 'Ops', email: 'ops@example.com', passwordHash: 'x' };
    const made = await createUser(transaction, deps, person);
    await acceptInvitation(transaction, deps, {
      token,
      actor: { ...operator, id: made, name: person.email },
    });
    return made;
  });
  assert.match((await world.run('staff list')).stdout, new RegExp(`${userId} +ops@example\\.com`));
  assert.equal((await world.run(`staff remove --user ${userId}`)).exitCode, 0);
  assert.equal((await world.run('staff list')).stdout.includes(userId), false);
  const again = await world.run(`staff remove --user ${userId}`);
  assert.deepEqual([again.exitCode, /Member not found/.test(again.stderr)], [1, true]);
});

test('a link of a local world whose time was moved lasts a week of that world’s time', async () => {
  const month = 30 * 86_400;
  const moved = world.writeConfig('moved.json', { clockOffsetSeconds: month });
  const week = 7 * 86_400_000;
  for (const command of ['staff add', `invite --merchant ${await world.newMerchant()} --role owner`]) {
    const earliest = Date.now() + month * 1_000 + week;
    const { expiresAt } = await world.json(command, [], moved);
    const expiresMs = new Date(String(expiresAt)).getTime();
    assert.ok(expiresMs >= earliest && expiresMs <= Date.now() + month * 1_000 + week, String(expiresAt));
  }
});

test('an invitation to a nonsensical address is refused', async () => {
  const { exitCode, stderr } = await world.run('staff add --email nonsense');
  assert.deepEqual([exitCode, /must be an e-mail address/.test(stderr)], [1, true]);
});
