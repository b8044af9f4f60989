import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandContext } from './command.ts';

const checkout = fileURLToPath(new URL('../../../', import.meta.url));

/** The part of `world.json` that commands read. */
export interface RunningWorld {
  readonly merchantApi: string;
  readonly secretKey: string;
  readonly console: string;
  readonly controlToken: string;
}

/** The local world of FLORIN_HOME or of this checkout; undefined when none runs. */
export function readWorld(environment: CommandContext['environment']): RunningWorld | undefined {
  const home = environment['FLORIN_HOME'] ?? join(checkout, '.florin');
  let text: string;
  try {
    text = readFileSync(join(home, 'world.json'), 'utf8');
  } catch {
    // No world runs here; the caller reports what to do instead.
    return undefined;
  }
  return JSON.parse(text) as RunningWorld;
}
