import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { CliOutside } from './command.ts';
import { UsageError } from './command-error.ts';

/** Whether a person at a terminal is asked, and answers yes; `undefined` where there is no terminal. */
export async function confirmation(
  { streams, tell }: CliOutside,
  question: string,
): Promise<boolean | undefined> {
  if (streams === undefined || !isTerminal(streams.input)) return undefined;
  tell(`${question} [y/N]`);
  const lines = createInterface({ input: streams.input });
  try {
    // The end of input, such as Ctrl-D, is no answer.
    const { value } = await lines[Symbol.asyncIterator]().next();
    return /^y(es)?$/i.test(String(value ?? '').trim());
  } finally {
    lines.close();
  }
}

function isTerminal(input: NodeJS.ReadableStream): boolean {
  return 'isTTY' in input && input.isTTY === true;
}

/** A secret of a pipe, or of a prompt that shows nothing of it. Refuses an empty one with `missing`. */
export async function readSecret(
  { streams, tell }: CliOutside,
  { question, missing }: { readonly question: string; readonly missing: string },
): Promise<string> {
  if (streams === undefined) throw new UsageError(missing);
  const { input } = streams;
  const secret = (isTerminal(input) ? await prompt(input, tell, question) : await text(input)).trim();
  if (secret === '') throw new UsageError(missing);
  return secret;
}

async function prompt(
  input: NodeJS.ReadableStream,
  tell: CliOutside['tell'],
  question: string,
): Promise<string> {
  tell(`${question} (it is not shown):`);
  // What is typed is echoed to here.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
  }
}
