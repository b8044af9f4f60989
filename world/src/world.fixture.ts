import { fileURLToPath } from 'node:url';
import type { Seed } from './seed.ts';
import { LocalWorld, WorldIsRunning } from './supervisor.ts';

/** Runs a world around the stub service, as `main.ts` runs the real one. Arguments: the home and the port, if any. */
const [, , home = '', asked = ''] = process.argv;
const port = asked === '' ? undefined : Number(asked);
const seed = async (): Promise<Seed> => ({
  merchantId: 'mer_test',
  secretKey: 'sk_live_test',
  restrictedKey: 'rk_live_test',
  consoleKey: 'rk_live_console',
  accountId: 'acc_test',
  productId: 'prd_test',
  linkIds: { fixed: 'lnk_fixed', custom: 'lnk_custom', crossChain: 'lnk_cross' },
});
const serviceScript = fileURLToPath(new URL('./stub-service.fixture.ts', import.meta.url));
const onReset = (): void => undefined;
const world = new LocalWorld({ home, port, log: console.log, onReset, serviceScript, seed });
process.once('SIGTERM', () => {
  world.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
try {
  await world.start();
  console.log('ready');
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
  process.exit(error instanceof WorldIsRunning ? 3 : 1);
}
