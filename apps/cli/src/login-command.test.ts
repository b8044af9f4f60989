import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { type Answer, openTestApi, refuse } from './api.fixture.ts';

const known: Answer = ({ key }, response) => {
  if (key === 'rk_live_narrow') return refuse(response, 200_103, 'api_key_forbidden');
  return key === 'sk_live_good' ? [] : refuse(response, 200_102, 'api_key_invalid');
};

const piped = (key: string) => ({
  streams: { input: Readable.from([`${key}\n`]), output: new PassThrough() },
});

test('login stores a checked key and its URL where only this person can read them, and logout removes them', async () => {
  await using api = await openTestApi(known);
  const path = join(api.folder, 'florin/profiles.json');
  const stored = await api.run(['login', '--url', api.url], piped('sk_live_good'));
  assert.deepEqual(stored, {
    exitCode: 0,
    stdout: `stored ${api.url} as the profile default in ${path}\n`,
    stderr: '',
  });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(api.folder, 'florin')).mode & 0o777, 0o700);
  const environment = { XDG_CONFIG_HOME: api.folder, FLORIN_KEY: 'rk_live_narrow' };
  // A key with few permissions is a key.
  await api.run(['login', '--url', api.url, '--profile', 'till'], { environment });
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), {
    default: { url: api.url, key: 'sk_live_good' },
    till: { url: api.url, key: 'rk_live_narrow' },
  });
  assert.equal((await api.run(['accounts', 'list'])).exitCode, 0);
  assert.match(
    (await api.run(['logout', '--profile', 'till'])).stdout,
    /^removed the profile till; the key works/,
  );
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(path, 'utf8')) as object), ['default']);
  assert.match((await api.run(['logout', '--profile', 'till'])).stderr, /^there is no profile till\n/);
});

test('login stores no key that the installation does not know, and no empty one', async () => {
  await using api = await openTestApi(known);
  const wrong = await api.run(['login', '--url', api.url], piped('sk_live_wrong'));
  assert.deepEqual([wrong.exitCode, wrong.stderr.slice(0, 16)], [1, 'api_key_invalid:']);
  assert.match(
    (await api.run(['login', '--url', api.url], piped(''))).stderr,
    /^there is no key: pipe it in/,
  );
  assert.match((await api.run(['login'])).stderr, /^--url is missing/);
  assert.match(
    (await api.run(['login', '--url', api.url, '--profile', '../x'])).stderr,
    /^--profile is \.\.\/x: /,
  );
  assert.equal((await api.run(['accounts', 'list'])).exitCode, 2);
});

test('a key as a flag is taken with a warning, and a terminal does not show what is typed', async () => {
  await using api = await openTestApi(known);
  await api.run(['login', '--url', api.url, '--key', 'sk_live_good']);
  assert.match(api.told[0] ?? '', /^--key stays in the history of your shell: /);
  const [input, output] = [
    Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} }),
    new PassThrough(),
  ];
  const asked = api.run(['login', '--url', api.url, '--profile', 'typed'], { streams: { input, output } });
  input.write('sk_live_good\r');
  assert.equal((await asked).exitCode, 0);
  assert.deepEqual([api.told[1], output.readableLength], ['API key (it is not shown):', 0]);
});

test('profiles that others can read are refused', async () => {
  await using api = await openTestApi(known);
  await api.run(['login', '--url', api.url], piped('sk_live_good'));
  const path = join(api.folder, 'florin/profiles.json');
  chmodSync(path, 0o644);
  const { exitCode, stderr } = await api.run(['accounts', 'list']);
  assert.deepEqual(
    [exitCode, stderr],
    [1, `${path} holds secrets and others can read it: run chmod 600 ${path}\n`],
  );
});
