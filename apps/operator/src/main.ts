import { runProcess } from '@florin/cli';
import { systemClock, systemRandom } from '@florin/server/operator';
import { checkoutProgram } from './cli.ts';

await runProcess(checkoutProgram, { clock: systemClock, random: systemRandom });
