import { waitUntil } from '../process.ts';
import { isReady } from '../service.ts';
import { readStartLimit } from '../start-limit.ts';
import { ActRefused, countIn, type PerformAct } from './act-world.ts';
import type { ReceiverMode } from './webhook-receiver.ts';

const MOST_MINUTES = 527_040;

export const advance: PerformAct = async (world, { argument }) => {
  const minutes = countIn(argument, { name: 'number of minutes', most: MOST_MINUTES });
  await world.advance(minutes * 60);
  const offset = world.clockOffsetSeconds();
  return {
    did: `Moved the chains and the service on by ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
    facts: {
      'the world’s time': new Date(Date.now() + offset * 1_000).toISOString(),
      'ahead of this machine': `${offset} s`,
    },
  };
};

const answerWith =
  (mode: ReceiverMode, text: string): PerformAct =>
  async ({ manifest, receiver }, { undo }) => {
    const webhookId = await receiver.register(manifest);
    receiver.mode = undo === true ? 'accept' : mode;
    return {
      did: undo === true ? 'The webhook accepts every delivery.' : text,
      facts: {
        webhook: webhookId,
        deliveries: `${manifest.merchantApi}/webhook/delivery/list/${webhookId}/1/20`,
      },
    };
  };

export const failWebhooks = answerWith('fail', 'The webhook answers 500 to every delivery.');
export const hangWebhooks = answerWith('hang', 'The webhook leaves every delivery without an answer.');

export const killWorker: PerformAct = async ({ killService, manifest }) => {
  const pid = killService();
  const begin = performance.now();
  const health = `${manifest.origin}/health/ready`;
  if (!(await waitUntil(() => isReady(health), readStartLimit().ms)))
    throw new ActRefused('The service has not started again: service.log of the world says why.');
  const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
  return {
    did: `Killed the service’s process ${pid}. Another one was ready after ${seconds} s.`,
    facts: { health },
  };
};

export const reset: PerformAct = async ({ reset: begin }) => {
  begin();
  return { did: 'The world stops, deletes its data and starts again.', facts: {} };
};
