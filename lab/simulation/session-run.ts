import type { Actors } from './actors.ts';
import { runAgent } from './agent-payer.ts';
import { runBatchPayer } from './batch-payer.ts';
import { runDepositPayer } from './deposit-payer.ts';
import { runGaslessPayer } from './gasless-payer.ts';
import { runReclaimingPayer, runRefundingMerchant } from './reclaim-and-refund.ts';

/** Runs the parties of one session, beginning at its start time. */
export async function runSession(actors: Actors, startMs: number): Promise<void> {
  const { world, behaviour, name } = actors;
  await world.sleep(startMs);
  if (behaviour === 'agent') return runAgent(actors);
  const sessionId = await actors.create();
  if (sessionId === undefined) return;
  world.options.scheduler.trace(`${name} is ${behaviour}`);
  switch (behaviour) {
    case 'silent':
      return;
    case 'late':
      return actors.payLate(sessionId);
    case 'double_payer':
      await Promise.all(world.models.map((model, index) => actors.pay(sessionId, model, index)));
      return;
    case 'batch':
      return runBatchPayer(actors, sessionId);
    case 'gasless':
      return runGaslessPayer(actors, sessionId);
    case 'deposit':
    case 'deposit_short':
    case 'deposit_over':
    case 'deposit_twice':
    case 'deposit_late':
      return runDepositPayer(actors, sessionId);
    case 'reclaim':
      return runReclaimingPayer(actors, sessionId);
    case 'refund_settled':
      await Promise.all([actors.pay(sessionId, actors.anyChain()), runRefundingMerchant(actors, sessionId)]);
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
