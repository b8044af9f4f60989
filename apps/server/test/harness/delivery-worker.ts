// The delivery engine alone, in a separate process that tests can kill. The role worker runs it beside its other
// loops. DELIVERY_DATABASE_URL and DELIVERY_MASTER_KEY (hexadecimal) name the database and the key; DELIVERY_LEASE_MS
// is the length of a lease.
import { defaultDeliverySettings, runDeliveries } from '@florin/outbox';
import { openDatabase } from '@florin/pg';
import { schema } from '#db/schema.ts';
import { systemClock } from '../../src/outside/clock.ts';
import { createEgress } from '../../src/outside/egress.ts';
import { systemRandom } from '../../src/outside/random.ts';
import { secretBox } from '../../src/outside/secret-box.ts';
import { jsonLog } from '../../src/telemetry/log.ts';
import { outboxWorker } from '../../src/webhooks/outbox-context.ts';

const ending = new AbortController();
const end = () => ending.abort();
process.once('SIGTERM', end);
process.once('disconnect', end);
const db = openDatabase({
  schema,
  url: process.env['DELIVERY_DATABASE_URL'] ?? '',
  onError: () => undefined,
});
const egress = createEgress({ addresses: { allowLoopback: true } });
const worker = outboxWorker({
  db,
  egress,
  clock: systemClock,
  random: systemRandom,
  log: jsonLog('warn'),
  secrets: secretBox([Buffer.from(process.env['DELIVERY_MASTER_KEY'] ?? '', 'hex')]),
  settings: {
    ...defaultDeliverySettings,
    leaseMs: Number(process.env['DELIVERY_LEASE_MS'] ?? defaultDeliverySettings.leaseMs),
  },
});
const running = runDeliveries(worker, ending.signal);
process.send?.('ready');
await running;
await egress.close();
await db.close();
process.exit(0);
