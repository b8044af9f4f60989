import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CliOutside } from './command.ts';
import { CommandError } from './command-error.ts';

/** The part of `world.json` that commands read. */
export interface RunningWorld {
  /** The folder of world.json. */
  readonly home: string;
  readonly origin: string;
  readonly merchantApi: string;
  readonly secretKey: string;
  readonly accountId: string;
  readonly console: string;
  readonly controlToken: string;
}

const addresses = ['origin', 'merchantApi', 'console'] as const;

/** The local world of FLORIN_HOME, or of a `.florin` in this folder or one above it; undefined when there is none. */
export function readWorld({ environment, folder }: CliOutside): RunningWorld | undefined {
  const given = environment['FLORIN_HOME'];
  for (let at = folder; ; at = dirname(at)) {
    const home = given ?? join(at, '.florin');
    const text = readText(join(home, 'world.json'));
    if (text !== undefined) return worldOf(home, text);
    if (given !== undefined || at === dirname(at)) return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // No world runs there; the caller reports what to do instead.
    return undefined;
  }
}

function worldOf(home: string, text: string): RunningWorld {
  const world = { ...(JSON.parse(text) as Omit<RunningWorld, 'home'>), home };
  // A folder from elsewhere may hold a world.json that names another's server, which would get a key of the environment.
  const away = addresses.find((name) => !isLoopback(world[name]));
  if (away !== undefined)
    throw new CommandError(`${join(home, 'world.json')} is no local world: ${away} is not on this machine`);
  return world;
}

/** Whether a URL leads to this machine. */
export function isLoopback(url: string): boolean {
  return /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/.test(URL.parse(url)?.hostname ?? '');
}

/** The local world, or an error that says how to get one. */
export function requiredWorld(outside: CliOutside): RunningWorld {
  const world = readWorld(outside);
  if (world === undefined)
    throw new CommandError(
      'no local world runs here: start it with npm start in a checkout, or name its folder in FLORIN_HOME',
    );
  return world;
}
