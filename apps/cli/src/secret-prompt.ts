import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { CliOutside } from './command.ts';
import { UsageError } from './command-error.ts';

/** A secret of a pipe, or of a prompt that shows nothing of it. Refuses an empty one with `missing`. */
export async function readSecret(
  { streams, tell }: CliOutside,
  { question, missing }: { readonly question: string; readonly missing: string },
): Promise<string> {
  if (streams === undefined) throw new UsageError(missing);
  const { input } = streams;
  const isTerminal = 'isTTY' in input && input.isTTY === true;
  const secret = (isTerminal ? await prompt(input, tell, question) : await text(input)).trim();
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
