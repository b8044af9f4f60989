import { runProcess } from '@florin/cli';
import { systemClock, systemRandom } from '@florin/server/operator';
import { checkoutProgram } from './cli.ts';

// A release is called by its own name, and says so in its help.
const name = process.env['FLORIN_PROGRAM'] ?? checkoutProgram.name;
await runProcess({ ...checkoutProgram, name }, { clock: systemClock, random: systemRandom });
