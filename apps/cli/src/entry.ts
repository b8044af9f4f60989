/** What a program of further families uses. */

export {
  argument,
  type CliClock,
  type CliOutside,
  type CommandOf,
  type CommandResult,
  mandatory,
  type Options,
  optional,
  repeatable,
  type Streams,
} from './command.ts';
export { CommandError, UsageError } from './command-error.ts';
export { complete } from './completion.ts';
export { reasonOf } from './forward.ts';
export { readWorld } from './local-world.ts';
export type { McpConversation } from './mcp-conversation.ts';
export { merchantFamily } from './merchant-family.ts';
export { table } from './output.ts';
export { runProcess } from './process.ts';
export { buildProgram, type CliResult, type Family, type ProgramSettings, runProgram } from './program.ts';
export { programVersion } from './version.ts';
