import { registerHooks } from 'node:module';
import { bugPatches, patched } from './bug-patches.ts';

/**
 * The program of one worker: lives through histories, one after the other, over a database of its own. Arguments: the
 * database's URL; the name of a seeded bug, which is in the source before anything of it is loaded; whether to print every
 * event. The last two may be empty.
 */

const [databaseUrl = '', bugName = '', tells = ''] = process.argv.slice(2);
const source = new URL('../../src/', import.meta.url).href;
const patches = bugPatches[bugName] ?? [];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const file = url.startsWith(source) ? url.slice(source.length) : '';
    if (!patches.some((patch) => patch.file === file)) return loaded;
    return { ...loaded, source: patched(file, String(loaded.source), patches), shortCircuit: true };
  },
});

// Loaded after the hooks stand, as nothing can be changed in what is loaded already.
const { Connections } = await import('./connections.ts');
const { Tables } = await import('./backup.ts');
const { runHistory } = await import('./history.ts');

/** Histories between two sweeps of what deleted rows leave in the files. */
const vacuumEvery = 250;

const connections = await Connections.open(databaseUrl);
const tables = await Tables.of(connections);
let count = 0;
let turn = Promise.resolve();

async function live(seed: number): Promise<void> {
  count += 1;
  if (count % vacuumEvery === 0) await tables.vacuum();
  const bug = bugName === '' ? {} : { bugName };
  const telling = tells === '' ? {} : { tell: (line: string) => console.log(line) };
  process.send?.(await runHistory({ seed, connections, tables, ...bug, ...telling }));
}

process.on('message', ({ seed }: { seed: number }) => {
  turn = turn.then(() => live(seed));
});
// Whoever gave the work has ended, or has no more of it.
process.on('disconnect', () => process.exit());
process.send?.('ready');
