import { Florin, FlorinError } from '@florin/sdk';
import { type CliOutside, type Options, optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { checkWay, defaultProfile, profileFile } from './connection.ts';
import type { MerchantCommand } from './resource.ts';
import { readSecret } from './secret-prompt.ts';
import { readState, statePath, writeState } from './state-file.ts';

const profileOption = optional('--profile <name>', 'the name that it is stored under (default: default)');

export const loginCommand: MerchantCommand = {
  does: 'stores the URL of an installation and an API key, which it asks for, in a file that only you can read',
  examples: [
    'login --url https://pay.example.com',
    'login --url https://pay.example.com --profile live < key.txt',
  ],
  options: [
    optional('--url <url>', 'the installation (default: FLORIN_URL)'),
    profileOption,
    optional('--key <key>', 'the key; it stays in the history of your shell, so rather leave it out'),
  ],
  async run(options, outside) {
    const { environment } = outside;
    const profile = nameOf(options);
    const url = options.optional('url') ?? environment['FLORIN_URL'];
    if (url === undefined || url === '')
      throw new UsageError('--url is missing, such as https://pay.example.com');
    checkWay(url);
    const key = await keyOf(options, outside);
    await checkKey(url, key);
    const state = readState(environment, profileFile);
    writeState(environment, profileFile, { ...state, [profile]: { url, key } });
    const path = statePath(environment, profileFile);
    return { text: `stored ${url} as the profile ${profile} in ${path}`, json: { profile, url, path } };
  },
};

export const logoutCommand: MerchantCommand = {
  does: 'removes a stored URL and key',
  examples: ['logout', 'logout --profile live'],
  options: [profileOption],
  async run(options, { environment }) {
    const profile = nameOf(options);
    const { [profile]: found, ...others } = readState(environment, profileFile);
    if (found === undefined) throw new CommandError(`there is no profile ${profile}`);
    writeState(environment, profileFile, others);
    return {
      text: `removed the profile ${profile}; the key works until it is revoked in the dashboard`,
      json: { profile },
    };
  },
};

function nameOf(options: Options): string {
  const name = options.optional('profile') ?? defaultProfile;
  if (!/^[a-z0-9][\w.-]{0,63}$/i.test(name) || name === '__proto__')
    throw new UsageError(`--profile is ${name}: give a name such as live`);
  return name;
}

/** The key of the flag, the environment, a pipe or a prompt that shows nothing of it. */
async function keyOf(options: Options, outside: CliOutside): Promise<string> {
  const { environment, tell } = outside;
  const given = options.optional('key');
  if (given !== undefined) {
    tell('--key stays in the history of your shell: leave it out, and florin login asks for the key');
    return given;
  }
  const kept = environment['FLORIN_KEY'] ?? environment['FLORIN_API_KEY'];
  if (kept !== undefined && kept !== '') return kept;
  return readSecret(outside, {
    question: 'API key',
    missing: 'there is no key: pipe it in, or set FLORIN_KEY',
  });
}

/** Refuses a URL where no installation answers, and a key that it does not know. A key may have few permissions. */
async function checkKey(url: string, key: string): Promise<void> {
  try {
    await new Florin(key, { baseUrl: url }).accounts.list().page();
  } catch (error) {
    if (!(error instanceof FlorinError) || error.slug !== 'api_key_forbidden') throw error;
  }
}
