import {
  type CliOutside,
  type CommandResult,
  type Options,
  optional,
  argument as positional,
} from './command.ts';
import { CommandError } from './command-error.ts';
import { reasonOf } from './forward.ts';
import { type RunningWorld, readWorld, requiredWorld } from './local-world.ts';
import type { MerchantCommand, MerchantCommands } from './resource.ts';
import { type WorldAct, type WorldActReport, worldActs } from './world-act.ts';

/** Longer than any act takes: one that waits for a block gives up before. */
const actTimeoutMs = 120_000;
const resetLimitMs = 120_000;
const resetPollMs = 100;

const subjects = {
  session: 'a session’s id or the address of its page (default: a new session)',
  refund: 'a refund’s id (default: the newest that waits)',
  blocks: 'how many',
  chain: 'the chain (base unless you say otherwise)',
  token: 'the token (base::usdc unless you say otherwise)',
  minutes: 'how many',
} as const;

const sampleOf = {
  session: 'sess_…',
  refund: 'rfd_…',
  blocks: '5',
  chain: 'base',
  token: 'base::usdc',
  minutes: '40',
} as const;

/** `florin world …`: one command for each act. */
export const worldCommands: MerchantCommands = Object.fromEntries(
  worldActs.map((act) => [`world ${act.name}`, commandOf(act)]),
);

function commandOf(act: WorldAct): MerchantCommand {
  const { argument } = act;
  const options = [
    ...(act.option === 'chain' ? [optional('--chain <name>', 'the chain (default: base)')] : []),
    ...(act.option === 'token'
      ? [optional('--token <id>', 'what is paid with, such as ethereum::usdt (default: the first offer)')]
      : []),
    ...(act.watchUndone === undefined ? [] : [optional('--undo', 'ends it')]),
  ];
  return {
    does: act.does,
    examples: [exampleOf(act)],
    options,
    ...(argument === undefined
      ? {}
      : {
          argument: positional(
            argument.isRequired ? `<${argument.subject}>` : `[${argument.subject}]`,
            subjects[argument.subject],
          ),
        }),
    run: (given, outside) => perform(act, given, outside),
  };
}

function exampleOf({ name, argument }: WorldAct): string {
  return `world ${name}${argument === undefined ? '' : ` ${sampleOf[argument.subject]}`}`;
}

async function perform(act: WorldAct, options: Options, outside: CliOutside): Promise<CommandResult> {
  const world = requiredWorld(outside);
  const request = {
    argument: act.argument === undefined ? undefined : options.optional(act.argument.subject),
    chain: act.option === 'chain' ? options.optional('chain') : undefined,
    token: act.option === 'token' ? options.optional('token') : undefined,
    undo: options.flag('undo'),
  };
  const report = await ask(world, act.name, request);
  if (act.name === 'reset') await waitForReset(world, outside);
  return { text: textOf(report), json: report };
}

async function ask(
  { console, controlToken }: RunningWorld,
  name: string,
  request: object,
): Promise<WorldActReport> {
  const response = await fetch(`${console}/acts/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(actTimeoutMs),
  }).catch((error: Error) => {
    throw new CommandError(`the local world at ${console} does not answer: ${reasonOf(error)}`);
  });
  const reply = (await response.json()) as WorldActReport | { error: string };
  if ('error' in reply) throw new CommandError(reply.error);
  return reply;
}

/** A world that was reset has another secret key. */
async function waitForReset(before: RunningWorld, outside: CliOutside): Promise<void> {
  const { clock } = outside;
  const deadline = clock.monotonicMs() + resetLimitMs;
  while (clock.monotonicMs() < deadline) {
    const now = readWorld(outside);
    if (now !== undefined && now.secretKey !== before.secretKey) return;
    await clock.sleep(resetPollMs);
  }
  throw new CommandError('the world has not started again: the terminal of npm start says why');
}

function textOf({ did, facts, watch }: WorldActReport): string {
  const width = Math.max(0, ...Object.keys(facts).map((label) => label.length));
  const lines = Object.entries(facts).map(([label, value]) => `  ${label.padEnd(width)}  ${value}`);
  return [did, ...lines, `Watch: ${watch}`].join('\n');
}
