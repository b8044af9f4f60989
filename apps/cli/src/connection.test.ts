import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { openTestApi, type TestApi } from './api.fixture.ts';
import { writeState } from './state-file.ts';

const empty = { accounts: [] };
const list = ['accounts', 'list'];

/** A local world of the folder `shop`, and a folder below it. */
function addWorld({ folder, url }: TestApi, change: object = {}): string {
  const below = join(folder, 'shop/src/pages');
  mkdirSync(below, { recursive: true });
  mkdirSync(join(folder, 'shop/.florin'));
  const world = { origin: url, merchantApi: `${url}/payment/v1`, console: url, secretKey: 'sk_live_world' };
  writeFileSync(join(folder, 'shop/.florin/world.json'), JSON.stringify({ ...world, ...change }));
  return below;
}

test('the key and the URL come from flags, then the environment, then the profile, then a local world above the folder', async () => {
  await using api = await openTestApi(() => []);
  const folder = addWorld(api);
  const stored = { XDG_CONFIG_HOME: api.folder };
  const environment = { ...stored, FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_environment' };
  const usedKey = async (args: readonly string[], variables: Record<string, string> = stored) => {
    const { exitCode, stderr } = await api.run([...list, ...args], { environment: variables, folder });
    assert.equal(exitCode, 0, stderr);
    return api.seen.at(-1)?.key;
  };
  assert.equal(await usedKey([]), 'sk_live_world');
  writeState(stored, 'profiles.json', {
    default: { url: api.url, key: 'sk_live_profile' },
    till: { url: api.url, key: 'rk_live_till' },
  });
  assert.equal(await usedKey([]), 'sk_live_profile');
  assert.equal(await usedKey([], { ...stored, FLORIN_PROFILE: 'till' }), 'rk_live_till');
  assert.equal(await usedKey([], environment), 'sk_live_environment');
  const older = { ...stored, FLORIN_API_URL: `${api.url}/payment/v1`, FLORIN_API_KEY: 'sk_live_older' };
  assert.equal(await usedKey([], older), 'sk_live_older');
  assert.equal(await usedKey(['--profile', 'till'], environment), 'rk_live_till');
  assert.equal(await usedKey(['--local'], environment), 'sk_live_world');
  assert.deepEqual(api.told, []);
  assert.equal(await usedKey(['--key', 'sk_live_flag'], environment), 'sk_live_flag');
  assert.match(api.told[0] ?? '', /^--key stays in the history of your shell/);
});

test('a key goes to no other installation than the one that it is stored with', async () => {
  await using api = await openTestApi(() => empty);
  await using other = await openTestApi(() => empty);
  const environment = { XDG_CONFIG_HOME: api.folder };
  writeState(environment, 'profiles.json', { default: { url: api.url, key: 'sk_live_profile' } });
  for (const variables of [
    environment,
    { ...environment, FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_mine' },
  ]) {
    const result = await api.run([...list, '--url', other.url], { environment: variables });
    assert.equal(result.exitCode, 2);
    assert.match(result.stderr, /^no API key for http:\/\/127\.0\.0\.1:\d+: run florin login/);
  }
  assert.deepEqual([api.seen, other.seen], [[], []]);
});

test('a key goes by plain http to this machine alone', async () => {
  await using api = await openTestApi(() => empty);
  const url = 'http://pay.example.com';
  const environment = { XDG_CONFIG_HOME: api.folder };
  writeState(environment, 'profiles.json', { default: { url, key: 'sk_live_profile' } });
  const keyed = { ...environment, FLORIN_URL: url, FLORIN_KEY: 'sk_live_mine' };
  const lines: readonly (readonly [args: readonly string[], variables: Record<string, string>])[] = [
    [list, environment],
    [list, keyed],
    [[...list, '--url', url, '--key', 'sk_live_flag'], environment],
    [['mcp'], keyed],
    // Refused before it asks for a key.
    [['login', '--url', url], environment],
  ];
  for (const [args, variables] of lines) {
    const { exitCode, stderr } = await api.run(args, {
      environment: variables,
      streams: { input: new PassThrough(), output: new PassThrough() },
      speakMcp: async () => assert.fail('the key went to the assistant’s server'),
    });
    assert.equal(exitCode, 2, args.join(' '));
    assert.match(
      stderr,
      /^http would show the key to everyone on the way to pay\.example\.com: give https:\/\/pay\.example\.com\n/,
    );
  }
});

test('a world.json that names another machine is refused before a key is sent', async () => {
  await using api = await openTestApi(() => empty);
  const folder = addWorld(api, { merchantApi: 'https://elsewhere.example.com/payment/v1' });
  const environment = { XDG_CONFIG_HOME: api.folder, FLORIN_KEY: 'sk_live_mine' };
  const { exitCode, stderr } = await api.run(list, { environment, folder });
  assert.deepEqual([exitCode, api.seen], [1, []]);
  assert.match(stderr, /world\.json is no local world: merchantApi is not on this machine\n$/);
});

test('without a key, a URL and a world a command says what to do', async () => {
  await using api = await openTestApi(() => empty);
  const sentence =
    /^no installation: run florin login, set FLORIN_URL and FLORIN_KEY, or start the local world, or name its folder in FLORIN_HOME\n/;
  const { exitCode, stderr } = await api.run(list);
  assert.equal(exitCode, 2);
  assert.match(stderr, sentence);
  assert.match(
    (await api.run([...list, '--local'])).stderr,
    /^there is no local world in this folder or above: .* name its folder in FLORIN_HOME\n/,
  );
  assert.match((await api.run([...list, '--profile', 'live'])).stderr, /^there is no profile live: /);
  assert.match((await api.run(['pay', 'sess_1'])).stderr, /^no local world runs here: /);
});
