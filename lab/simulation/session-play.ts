import type { Actors } from './actors.ts';
import { playAgent } from './agent-play.ts';
import { playBatch } from './batch-play.ts';
import { playDeposit } from './deposit-play.ts';
import { playGasless } from './gasless-play.ts';
import { playReclaim, playSettledRefund } from './return-play.ts';

/** Plays the payer of one session, beginning at its start time. */
export async function playSession(actors: Actors, startMs: number): Promise<void> {
  const { world, character, name } = actors;
  await world.sleep(startMs);
  if (character === 'agent') return playAgent(actors);
  const sessionId = await actors.create();
  if (sessionId === undefined) return;
  world.options.scheduler.note(`${name} is ${character}`);
  switch (character) {
    case 'silent':
      return;
    case 'late':
      return actors.payLate(sessionId);
    case 'double_payer':
      await Promise.all(world.models.map((model, index) => actors.pay(sessionId, model, index)));
      return;
    case 'batch':
      return playBatch(actors, sessionId);
    case 'gasless':
      return playGasless(actors, sessionId);
    case 'deposit':
    case 'deposit_short':
    case 'deposit_over':
    case 'deposit_twice':
    case 'deposit_late':
      return playDeposit(actors, sessionId);
    case 'reclaim':
      return playReclaim(actors, sessionId);
    case 'refund_settled':
      await Promise.all([actors.pay(sessionId, actors.anyChain()), playSettledRefund(actors, sessionId)]);
      return;
    case 'direct':
      // On the chain where the session settles.
      return actors.pay(sessionId, world.models[0] ?? actors.anyChain());
    case 'cancel_race':
      await Promise.all([actors.pay(sessionId, actors.anyChain()), actors.cancel(sessionId)]);
      return;
    case 'refund':
      await Promise.all([actors.pay(sessionId, actors.anyChain()), actors.refund(sessionId)]);
      return;
    default:
      await actors.pay(sessionId, actors.anyChain());
  }
}
