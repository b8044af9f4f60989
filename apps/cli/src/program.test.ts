import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventTypes } from '@florin/sdk';
import { deepOnly } from '@florin/server/testing';
import { merchantProgram, openTestApi, refuse } from './api.fixture.ts';
import { merchantFamily } from './merchant-family.ts';
import { buildProgram } from './program.ts';

/** The words of a line as a shell splits them. */
function wordsOf(line: string): string[] {
  const text = line.replace(/ < .*$/, '');
  return [...text.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, one, two, bare]) => one ?? two ?? bare ?? '',
  );
}

test('every command has examples, and each example is a command line of that command', async () => {
  for (const [name, { examples = [] }] of Object.entries(merchantFamily.commands)) {
    assert.ok(examples.length > 0, name);
    for (const example of examples) {
      assert.ok(`${example} `.startsWith(`${name} `), example);
      const performed: unknown[] = [];
      const print = () => {};
      const program = buildProgram(merchantProgram, {
        writeOut: print,
        writeErr: print,
        perform: async (command) => void performed.push(command),
      });
      await program.parseAsync(wordsOf(example), { from: 'user' });
      assert.equal(performed.length, 1, example);
    }
  }
});

test('help shows the examples, and a misspelt command or option names the nearest', async () => {
  await using api = await openTestApi(() => []);
  const help = await api.run(['sessions', 'create', '--help']);
  assert.equal(help.exitCode, 0);
  assert.match(
    help.stdout,
    /\nExamples:\n {2}florin sessions create --token base::usdc --item 'Flat white=4\.50'/,
  );
  // The list of options says the rest.
  const ofRefund = await api.run(['refunds', 'create', '--help']);
  assert.match(ofRefund.stdout, /^Usage: florin refunds create --session <id> \[options\]\n/);
  assert.match(
    (await api.run(['trigger', '--help'])).stdout.replaceAll(/\s+/g, ' '),
    /all but account\.\*, session\.expired, refund\.failed, refund\.reopened, webhook\.\* \(choices: /,
  );
  const all = await api.run(['--help']);
  assert.match(all.stdout, /\nCommands of a merchant:\n {2}login /);
  assert.match(all.stdout, /Exit codes: 0 done, 1 failed/);
  assert.match((await api.run(['sesions', 'list'])).stderr, /\(Did you mean sessions\?\)/);
  assert.match(
    (await api.run(['sessions', 'get'])).stderr,
    /\nflorin sessions has: list, search, retrieve, create, cancel\n/,
  );
  assert.match((await api.run(['sessions', 'list', '--limt', '3'])).stderr, /\(Did you mean --limit\?\)/);
  assert.deepEqual(await api.run(['--version']), { exitCode: 0, stdout: '0.1.0\n', stderr: '' });
});

test('--json prints JSON alone, also for refusals and for what is not understood', async () => {
  await using api = await openTestApi((_request, response) => refuse(response, 100_201, 'session_not_found'));
  const environment = { FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_test' };
  const run = (...args: readonly string[]) => api.run(args, { environment });
  const docUrl = 'https://pay.example.com/docs/errors/100201';
  const refused = await run('sessions', 'retrieve', 'sess_1', '--json');
  assert.deepEqual([refused.exitCode, refused.stderr], [1, '']);
  assert.deepEqual(JSON.parse(refused.stdout), {
    error: {
      slug: 'session_not_found',
      message: 'Text: detail (100201)',
      code: 100_201,
      param: '',
      retryable: false,
      remedy: 'Do it.',
      docUrl,
      requestId: 'req_1',
    },
  });
  assert.deepEqual(await run('sessions', 'retrieve', 'sess_1'), {
    exitCode: 1,
    stdout: '',
    stderr: `session_not_found: Text: detail (100201), see ${docUrl}\n`,
  });
  const usage = async (...args: readonly string[]) => {
    const { exitCode, stdout, stderr } = await run(...args, '--json');
    assert.deepEqual([exitCode, stderr], [2, '']);
    return JSON.parse(stdout) as unknown;
  };
  assert.deepEqual(await usage('sessions', 'list', '--limit', 'all'), {
    error: { slug: 'usage', message: '--limit is all: give a number from 1 to 10000' },
  });
  assert.deepEqual(await usage('sesions', 'list'), {
    error: { slug: 'usage', message: "unknown command 'sesions'\n(Did you mean sessions?)" },
  });
});

test('a server of the Model Context Protocol prints nothing behind its messages', async () => {
  await using api = await openTestApi(() => []);
  const streams = { input: new PassThrough(), output: new PassThrough() };
  const result = await api.run(['mcp', '--url', api.url], { streams, speakMcp: async () => {} });
  assert.deepEqual(result, { exitCode: 0, stdout: '', stderr: '' });
});

test('texts of the API control no terminal', async () => {
  const hostile = '\u001b]0;owned\u0007\u009b2J';
  const product = { productId: 'prd_1', status: 'active', commonPrices: [4_500_000], name: hostile };
  await using api = await openTestApi(({ path }) =>
    path.includes('/list/1/') ? { products: [product], hasMore: false, nextCursor: '' } : [product],
  );
  const environment = { FLORIN_URL: api.url, FLORIN_KEY: 'sk_live_test' };
  for (const args of [
    ['products', 'list'],
    ['products', 'retrieve', 'prd_1'],
  ]) {
    const { stdout } = await api.run(args, { environment });
    assert.match(stdout, /\$4\.50/);
    assert.doesNotMatch(stdout.replaceAll('\n', ''), /\p{Cc}/u);
  }
});

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

function spawnMain(args: readonly string[], environment: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--conditions=source', main, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', ...environment },
  });
  return { status, stdout, stderr };
}

const escapeSequence = '\u001b[';

test('a pipe gets no colours', () => {
  const { status, stdout } = spawnMain(['--help']);
  assert.deepEqual([status, stdout.includes(escapeSequence)], [0, false]);
});

test('a reader may force colours, and NO_COLOR wins', deepOnly, () => {
  assert.ok(spawnMain(['--help'], { FORCE_COLOR: '1' }).stdout.includes(escapeSequence));
  assert.ok(!spawnMain(['--help'], { FORCE_COLOR: '1', NO_COLOR: '1' }).stdout.includes(escapeSequence));
});

test('a shell completes commands and options', deepOnly, () => {
  assert.match(spawnMain(['complete', '--', 'sess']).stdout, /^sessions\t/);
  assert.match(spawnMain(['complete', '--', 'sessions', 'list', '--sta']).stdout, /^--status\t/);
  // The types of events that `trigger` takes, and the statuses of a list.
  const valuesOf = (...line: readonly string[]) =>
    [...spawnMain(['complete', '--', ...line]).stdout.matchAll(/^([^:\t]+)\t/gm)].map(([, value]) => value);
  assert.deepEqual(valuesOf('trigger', ''), eventTypes);
  assert.deepEqual(valuesOf('trigger', 'session.pa'), ['session.payment_detected', 'session.paid']);
  assert.deepEqual(valuesOf('sessions', 'list', '--status', 'ex'), ['expired']);
  for (const args of [['completion'], ['completion', 'tcsh']])
    assert.deepEqual(spawnMain(args), {
      ...{ status: 2, stdout: '' },
      stderr:
        'give a shell: bash, zsh, fish or powershell; florin completion --help says what to do with the script\n',
    });
  const { status, stdout } = spawnMain(['completion', '--help']);
  assert.deepEqual([status, stdout.includes('source <(npx --no-install florin completion bash)')], [0, true]);
});

test(
  'the script of completion is read twice without an error, and works where PATH has no florin',
  deepOnly,
  () => {
    const script = spawnMain(['completion', 'bash']).stdout;
    // A shell without bash-completion.
    const press = [
      script,
      script,
      'florin --version',
      'COMP_WORDS=(florin sess) COMP_CWORD=1',
      // Outside a key press there is nothing whose options could be set.
      'compopt() { true; }',
      '__florin_complete',
      'echo "$COMPREPLY"',
    ].join('\n');
    const { stdout, stderr } = spawnSync('bash', ['--norc'], {
      ...{ input: press, encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } },
    });
    assert.deepEqual({ stdout, stderr }, { stdout: '0.1.0\nsessions\n', stderr: '' });
  },
);
