import { type Signer, type SigningKey, signerOf } from '@florin/signing';
import type { ChainHandler } from '#contracts/event.ts';
import type { Clock } from '#outside/clock.ts';
import { version } from '#outside/version.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { ServiceOptions } from './options.ts';

/** The options with the metrics of this process in them; unchanged without a place to show them. */
export async function withMetrics(options: ServiceOptions): Promise<ServiceOptions> {
  if (options.monitoring === undefined) return options;
  const { openMetrics } = await import('#telemetry/metrics.ts');
  const metrics = openMetrics({ version, roles: [...options.roles] });
  const onMove = (moved: StoredSession) => {
    metrics.sessionMoved(moved.status);
    const { status, paymentSucceededAt: paidAt, settlementSucceededAt: settledAt } = moved;
    if (status === 'completed' && paidAt !== undefined && settledAt !== undefined)
      metrics.settled(secondsBetween(paidAt, settledAt));
  };
  const { orderKey, settlerKey, otherSettlerKeys = [] } = options;
  const counted = (key: SigningKey, role: string) => countedSigner(key, role, metrics);
  return {
    ...{ ...options, metrics, onMove, log: metrics.countLog(options.log) },
    orderKey: counted(orderKey, 'order signer'),
    settlerKey: counted(settlerKey, 'settler'),
    otherSettlerKeys: otherSettlerKeys.map((key) => counted(key, 'settler')),
  };
}

/** Signs with the key, and counts that: an operator compares it with what the holder of the key counts. */
function countedSigner(key: SigningKey, role: string, metrics: Metrics): Signer {
  const signer = signerOf(key);
  return {
    address: signer.address,
    async sign(preimage) {
      try {
        const signature = await signer.sign(preimage);
        metrics.signed(role, true);
        return signature;
      } catch (error) {
        metrics.signed(role, false);
        throw error;
      }
    },
  };
}

/** The handler, which also measures how long after its block a payment is read. */
export function measured(
  handler: ChainHandler,
  { metrics, clock }: { metrics: Metrics; clock: Clock },
): ChainHandler {
  return {
    ...handler,
    async onBlock(transaction, chain, block, events) {
      await handler.onBlock(transaction, chain, block, events);
      for (const { name } of events)
        if (name === 'Paid') metrics.detected(chain.name, secondsBetween(block.time, clock.now()));
    },
  };
}

/** Clocks of chains and of this machine differ: what seems to come before its cause took no time. */
function secondsBetween(start: Date, end: Date): number {
  return Math.max(0, (end.getTime() - start.getTime()) / 1_000);
}
