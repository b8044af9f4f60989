import { type McpConversation, runProcess } from '@florin/cli';
import { systemClock, systemRandom } from '@florin/server/operator';
import { checkoutProgram } from './cli.ts';

/** Loaded when it is used: its libraries are large. */
const speakMcp = async (conversation: McpConversation): Promise<void> => {
  const stdio = await import('@florin/mcp/stdio');
  await stdio.speakMcp(conversation);
};

// A release is called by its own name, and says so in its help.
const name = process.env['FLORIN_PROGRAM'] ?? checkoutProgram.name;
await runProcess({ ...checkoutProgram, name }, { clock: systemClock, random: systemRandom, speakMcp });
