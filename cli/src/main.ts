import { systemClock } from '@florin/server/src/outside/clock.ts';
import { systemRandom } from '@florin/server/src/outside/random.ts';
import { runCli } from './cli.ts';

const { exitCode, stdout, stderr } = await runCli(process.argv.slice(2), {
  environment: process.env,
  clock: systemClock,
  random: systemRandom,
  tell: (sentence) => process.stderr.write(`${sentence}\n`),
});
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;
