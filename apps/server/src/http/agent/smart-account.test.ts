import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CreatedSessionView, PreparedView } from '@florin/protocol/agent-view.ts';
import { AbiCoder } from 'ethers';
import type { FastifyInstance } from 'fastify';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { AgentWorld } from '../../../test/harness/agent-fixture.ts';
import {
  creationBody,
  newNonce,
  newPayer,
  preparationBody,
  viewOf,
} from '../../../test/harness/agent-payer.ts';
import { localLimits } from '../../../test/harness/local-limits.ts';
import { defaultRateLimits, walletCallGuard } from '../rate-limit.ts';
import { buildServer } from '../server.ts';
import { agentDoor } from './agent.ts';

let world: AgentWorld;
let server: FastifyInstance;
let linkId: string;
before(async () => {
  world = await AgentWorld.open();
  linkId = await world.addLink();
  const walletCalls = walletCallGuard(localLimits(defaultRateLimits, world.clock));
  assert.ok(walletCalls);
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    doors: [agentDoor({ db: world.db, deps: world.deps, basePaths: ['/api/v1'], walletCalls })],
    ready: async () => ({ ready: true, checks: {} }),
  });
});
after(async () => {
  await server.close();
  await world.close();
});

async function create(remoteAddress: string, changes: Parameters<typeof creationBody>[3] = {}) {
  const payload = await creationBody(world, newPayer(), linkId, {
    authorizationNonce: newNonce(),
    ...changes,
  });
  const url = '/api/v1/payment/session/create';
  const reply = await server.inject({ method: 'POST', url, payload, remoteAddress });
  return reply.json<{ code: number }>().code;
}

test('one address may run smart account code 20 times a minute, after all other checks, and plain accounts are unaffected', async () => {
  world.chain.code = '0x60806040';
  world.chain.verdict = undefined;
  const { count } = defaultRateLimits.walletCalls;
  const cheap = [
    await create('203.0.113.7', { amount: '1' }),
    await create('203.0.113.7', { authorizationExpiresAt: '1' }),
    await create('203.0.113.7', { linkVersion: 'ver_other' }),
  ];
  assert.deepEqual(cheap, [100609, 100602, 100104]);
  const callsBefore = world.chain.callsSeen;
  for (let index = 0; index < count; index += 1) assert.equal(await create('203.0.113.7'), 100601);
  assert.equal(world.chain.callsSeen, callsBefore + 2 * count);
  assert.equal(await create('203.0.113.7'), 900101);
  // The account's code was read but not run.
  assert.equal(world.chain.callsSeen, callsBefore + 2 * count + 1);
  assert.equal(await create('203.0.113.8'), 100601);
  world.chain.code = '0x';
  assert.equal(await create('203.0.113.7'), 0);
  world.chain.code = '0x60806040';
  world.clock.time += 3_000;
  assert.equal(await create('203.0.113.7'), 100601);
  assert.equal(await create('203.0.113.7'), 900101);
});

test('an account that is not deployed creates and prepares by wrapped signatures', async () => {
  const values = [`0x${'fa'.repeat(20)}`, '0xdeadbeef', `0x${'77'.repeat(65)}`];
  const body = AbiCoder.defaultAbiCoder().encode(['address', 'bytes', 'bytes'], values);
  const signature = `${body}${'6492'.repeat(16)}`;
  world.chain.code = '0x';
  world.chain.verdict = `0x1626ba7e${'0'.repeat(56)}`;
  const payer = newPayer();
  const { message } = await creationBody(world, payer, linkId);
  const view = viewOf<CreatedSessionView>(
    await world.post('/payment/session/create', { message, signature }),
  );
  const preparation = await preparationBody(payer, view.aiView.preparePaymentRequirement);
  const prepared = viewOf<PreparedView>(
    await world.post('/payment/prepare', { message: preparation.message, signature }),
  );
  assert.equal(prepared.aiView.workflow.stage, 'payment_prepared');
  world.chain.verdict = `0xffffffff${'0'.repeat(56)}`;
  const next = { ...message, authorizationNonce: newNonce() };
  const refused = await world.post('/payment/session/create', { message: next, signature });
  assert.equal(refused.body['code'], 100601);
});
