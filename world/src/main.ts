import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorldHome } from './home.ts';
import { readStartLimit } from './start-limit.ts';
import { LocalWorld, WorldIsRunning } from './supervisor.ts';
import type { WorldManifest } from './world-config.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const readPort = (text: string | undefined): number | undefined => {
  if (text === undefined || text === '') return undefined;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`FLORIN_PORT=${text} is not a port.`);
  return port;
};

/** Prints lines for a person; a closed terminal must not end the world. */
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const describeLogin = ({ dashboard, dashboardLogin: login }: WorldManifest): string =>
  login === undefined
    ? ''
    : `  Dashboard               ${dashboard}  (sign in as ${login.email}, password ${login.password})
`;

const describeWorld = (manifest: WorldManifest, home: string, seconds: string): string => `
Florin is ready at ${manifest.origin} (${seconds} s). Everything about it is in ${join(home, 'world.json')}

  Console                 ${manifest.origin}/  (what runs, what happens, and buttons for what can go wrong)
  Mailbox                 ${manifest.mailbox}  (every e-mail of the service)
  Pay a fixed price       ${manifest.origin}/link/${manifest.linkIds.fixed}
  Pay what you like       ${manifest.origin}/link/${manifest.linkIds.custom}
  No wallet?              choose "Demo payer" on these pages
${describeLogin(manifest)}  Payer's key             ${manifest.payers[0]?.privateKey ?? ''}  (10,000 of every token)

  curl -s ${manifest.merchantApi}/account/list -H "Authorization: Bearer ${manifest.secretKey}"

Ctrl-C ends it and keeps the data.
`;

const startAndDescribe = async (world: LocalWorld, home: string): Promise<void> => {
  const begin = performance.now();
  const manifest = await world.start();
  print(describeWorld(manifest, home, ((performance.now() - begin) / 1_000).toFixed(1)));
};

const main = async (): Promise<void> => {
  const [argument] = process.argv.slice(2);
  if (argument !== undefined)
    throw new Error(
      `npm start does not know ${argument}. Set FLORIN_HOME, FLORIN_PORT or DATABASE_URL instead.`,
    );
  const home = process.env['FLORIN_HOME'] || join(CHECKOUT, '.florin');
  const port = readPort(process.env['FLORIN_PORT']);
  const serverUrl = process.env['DATABASE_URL'] || undefined;
  // A wrong one is refused before anything starts.
  readStartLimit();
  const open = (): LocalWorld =>
    new LocalWorld({
      ...{ home, port, serverUrl, log: print },
      onReset: () => {
        reset().catch((error: unknown) => {
          console.error(error);
          stop(1);
        });
      },
    });
  let world = open();
  let isStopping = false;
  const stop = (code: number): void => {
    if (isStopping) return;
    isStopping = true;
    print('Stops …');
    world.stop().then(
      () => process.exit(code),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  const reset = async (): Promise<void> => {
    print('Resets …');
    await world.stop();
    if (isStopping) return;
    new WorldHome(home).clear();
    world = open();
    await startAndDescribe(world, home);
  };
  for (const signal of SIGNALS) process.on(signal, () => stop(0));
  // The launcher was killed, so Ctrl-C can no longer reach this process.
  process.once('disconnect', () => stop(1));
  process.channel?.unref();
  if (process.send !== undefined && !process.connected) stop(1);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.on('uncaughtException', (error) => {
    console.error(error);
    stop(1);
  });
  try {
    await startAndDescribe(world, home);
  } catch (error) {
    if (isStopping) return;
    if (!(error instanceof WorldIsRunning)) throw error;
    print(`${error.message} Stop that one first, or choose another FLORIN_HOME.`);
    process.exit(0);
  }
};

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
