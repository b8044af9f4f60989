import { registerHooks } from 'node:module';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Runs the test files that its arguments name. Each command line that succeeds goes into the file FLORIN_COMMAND_RECORD, one
 * line of JSON each.
 */

const cli = new URL('./cli.ts', import.meta.url).href;
const original = 'export function runCli(';

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== cli) return loaded;
    const text = String(loaded.source);
    if (!text.includes(original)) throw new Error('cli.ts has no runCli any more');
    return {
      ...loaded,
      source: `${text.replace(original, 'function runUnrecorded(')}\n${recorded}`,
      shortCircuit: true,
    };
  },
});

const recorded = `
import { appendFileSync } from 'node:fs';
export async function runCli(args: readonly string[], outside: CommandContext): Promise<CliResult> {
  const result = await runUnrecorded(args, outside);
  if (result.exitCode === 0) appendFileSync(process.env['FLORIN_COMMAND_RECORD'] ?? '', JSON.stringify(args) + '\\n');
  return result;
}
`;

// One after the other: hooks belong to the suite that is being made.
for (const file of process.argv.slice(2))
  await describe(file, async () => {
    await import(pathToFileURL(file).href);
  });
