import { systemClock, systemRandom } from '@florin/server/operator';
import { runCli } from './cli.ts';
import { complete } from './completion.ts';

/** Ends at Ctrl-C, which may arrive twice: from the terminal and from the parent program. */
function ending(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}

const args = process.argv.slice(2);
if (args[0] === 'complete') await complete(args);
else {
  const { exitCode, stdout, stderr } = await runCli(args, {
    environment: process.env,
    clock: systemClock,
    random: systemRandom,
    tell: (sentence) => process.stderr.write(`${sentence}\n`),
    ending,
    streams: { input: process.stdin, output: process.stdout },
  });
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = exitCode;
}
