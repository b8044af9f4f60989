import { type CliOutside, type Options, optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { isLoopback, type RunningWorld, readWorld } from './local-world.ts';
import { readState } from './state-file.ts';

/** An installation and the key of a merchant. */
export interface Access {
  readonly url: string;
  readonly key: string;
  /** The local world that it is; undefined for any other installation. */
  readonly world: RunningWorld | undefined;
}

/** The options with which a merchant's command finds the API. */
export const accessOptions = [
  optional('--url <url>', 'the installation (default: FLORIN_URL, then the profile, then the local world)'),
  optional('--key <key>', 'an API key (default: FLORIN_KEY, then the profile, then the local world)'),
  optional('--profile <name>', 'what florin login has stored under this name (default: FLORIN_PROFILE)'),
  optional('--local', 'the local world of this folder, whatever the environment and the profile say'),
];

/** The file with every profile. */
export const profileFile = 'profiles.json';
export const defaultProfile = 'default';

/** Where a URL and a key may come from. */
interface AccessSource {
  readonly url: string | undefined;
  readonly key: string | undefined;
}

/**
 * The URL and the key of flags, the environment, the profile or the local world, in this order. A key goes to no other
 * installation than the one that it is stored with.
 */
export function accessOf(options: Options, outside: CliOutside): Access {
  const world =
    options.flag('local') || options.optional('profile') === undefined ? readWorld(outside) : undefined;
  const { url, key } = firstOf(sourcesOf(options, outside, world));
  if (url === undefined || key === undefined) throw new UsageError(missing(options, url));
  return { url, key, world: world !== undefined && isSameOrigin(world.origin, url) ? world : undefined };
}

/**
 * The URL of `--url`, the environment, the profile or the local world, and the key that the environment or a named profile has
 * for it: an assistant gets no key that was stored for a person.
 */
export function installationOf(
  options: Options,
  outside: CliOutside,
): {
  readonly url: string;
  readonly key: string | undefined;
} {
  const { url, key } = firstOf(assistantSourcesOf(options, outside));
  if (url === undefined)
    throw new UsageError(
      'no installation: give --url https://pay.example.com, or start the local world, or name its folder in FLORIN_HOME',
    );
  return { url, key };
}

function* assistantSourcesOf(options: Options, outside: CliOutside): Generator<AccessSource> {
  const { environment } = outside;
  yield { url: options.optional('url'), key: undefined };
  const named = options.optional('profile');
  if (named !== undefined) yield profileSource(environment, named);
  else {
    yield environmentSource(environment);
    yield { ...profileSource(environment, environment['FLORIN_PROFILE']), key: undefined };
  }
  yield { url: readWorld(outside)?.origin, key: undefined };
}

/** The first URL of the sources, and the first key that fits it. */
function firstOf(sources: Iterable<AccessSource>): AccessSource {
  let [url, key]: (string | undefined)[] = [];
  for (const source of sources) {
    const isFitting = url === undefined || source.url === undefined || isSameOrigin(source.url, url);
    if (key === undefined && isFitting) key = source.key;
    url ??= source.url;
    // The others may be damaged.
    if (url !== undefined && key !== undefined) break;
  }
  if (url !== undefined && !URL.canParse(url))
    throw new UsageError(`the URL is ${url}: give one such as https://pay.example.com`);
  if (url !== undefined && key !== undefined) checkWay(url);
  return { url, key };
}

/** Refuses a URL to which a key would go in plain text through other machines. */
export function checkWay(url: string): void {
  const { protocol = '', host = '' } = URL.parse(url) ?? {};
  if (protocol === 'http:' && !isLoopback(url))
    throw new UsageError(`http would show the key to everyone on the way to ${host}: give https://${host}`);
}

function* sourcesOf(
  options: Options,
  { environment, tell }: CliOutside,
  world: RunningWorld | undefined,
): Generator<AccessSource> {
  const flags = { url: options.optional('url'), key: options.optional('key') };
  if (flags.key !== undefined)
    tell('--key stays in the history of your shell: florin login and FLORIN_KEY keep it out of there');
  yield flags;
  const named = options.optional('profile');
  if (named === undefined && !options.flag('local')) {
    yield environmentSource(environment);
    yield profileSource(environment, environment['FLORIN_PROFILE']);
  }
  if (named !== undefined && !options.flag('local')) yield profileSource(environment, named);
  yield { url: world?.merchantApi, key: world?.secretKey };
}

function isSameOrigin(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}

/** FLORIN_API_URL and FLORIN_API_KEY are the older names. An empty one counts as absent. */
function environmentSource(environment: CliOutside['environment']): AccessSource {
  const presentOf = (...names: readonly string[]) =>
    names.map((name) => environment[name]).find((value) => value !== undefined && value !== '');
  return { url: presentOf('FLORIN_URL', 'FLORIN_API_URL'), key: presentOf('FLORIN_KEY', 'FLORIN_API_KEY') };
}

function profileSource(environment: CliOutside['environment'], named: string | undefined): AccessSource {
  const profiles = readState(environment, profileFile);
  const found = profiles[named ?? defaultProfile];
  if (named !== undefined && found === undefined)
    throw new CommandError(`there is no profile ${named}: florin login --profile ${named} stores one`);
  return { url: found?.['url'], key: found?.['key'] };
}

function missing(options: Options, url: string | undefined): string {
  if (options.flag('local'))
    return 'there is no local world in this folder or above: start it with npm start, or name its folder in FLORIN_HOME';
  const what = url === undefined ? 'no installation' : `no API key for ${url}`;
  return `${what}: run florin login, set FLORIN_URL and FLORIN_KEY, or start the local world, or name its folder in FLORIN_HOME`;
}
