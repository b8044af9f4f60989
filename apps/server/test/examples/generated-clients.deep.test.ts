import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { openApiDocument } from '@florin/protocol/openapi.ts';
import { MerchantWorld } from '../harness/merchant-fixture.ts';

/**
 * The programs of the guide “Generate a client” in Python and Go, whose generators neither npm nor this checkout brings: each is
 * generated, compiled and run against the service where the generator is on the PATH, and skipped elsewhere.
 */

const run = promisify(execFile);
const guide = readFileSync(
  fileURLToPath(new URL('../../../../docs/guide/generate-a-client.md', import.meta.url)),
  'utf8',
);
const folder = mkdtempSync(join(tmpdir(), 'florin-generated-'));
const origin = 'https://pay.example.com';
let world: MerchantWorld;
let url: string;
let accountId: string;
let environment: NodeJS.ProcessEnv;

before(async () => {
  world = await MerchantWorld.open();
  url = await world.server.listen({ host: '127.0.0.1', port: 0 });
  const merchantId = await world.addMerchant();
  accountId = await world.addAccount(merchantId);
  environment = { ...process.env, FLORIN_KEY: await world.addKey(merchantId) };
  const document = openApiDocument({ origin, tables: [merchantApi] });
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
});
after(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** Why a test cannot run here; false when each of these commands succeeds. */
function without(...commands: readonly (readonly [program: string, ...args: string[]])[]): string | false {
  const missing = commands.find(([program, ...args]) => spawnSync(program, args).status !== 0);
  return missing !== undefined && `this machine has no \`${missing.join(' ')}\``;
}

/** A program of the guide, for the service of this test. */
function programOf(language: string, file: string): string {
  const [, program] = new RegExp(`^\`\`\`${language} ${file}\n([\\s\\S]*?)\n\`\`\`$`, 'm').exec(guide) ?? [];
  assert.ok(program !== undefined, file);
  assert.match(program, /https:\/\/pay\.example\.com/);
  return program.replace(origin, url);
}

const sessionOf = (printed: string): string => /^(sess_\w{22}) False False\n$/i.exec(printed)?.[1] ?? printed;

async function assertOpened(printed: string, order: string): Promise<void> {
  const path = `/payment/v1/session/${sessionOf(printed)}`;
  const headers = { authorization: `Bearer ${environment['FLORIN_KEY']}` };
  const answer = await fetch(url + path, { headers });
  const { data } = (await answer.json()) as { data: { session: { metadata: object; amount: number } } };
  assert.deepEqual([data.session.metadata, data.session.amount], [{ order }, 4_500_000]);
}

const skipPython = without(
  ['openapi-python-client', '--version'],
  ['python3', '-c', 'import attr, dateutil, httpx'],
);

test('a client in Python opens an order, and has a refusal as a class of its own', {
  skip: skipPython,
}, async () => {
  const cwd = join(folder, 'python');
  mkdirSync(cwd);
  const source = ['--path', join(folder, 'openapi.json')];
  const options = ['--meta', 'none', '--output-path', 'florin'];
  const generated = await run('openapi-python-client', ['generate', ...source, ...options], { cwd });
  // It leaves out what it does not understand, and says so.
  assert.doesNotMatch(generated.stdout, /WARNING parsing|ERROR/);
  writeFileSync(join(cwd, 'payments.py'), programOf('python', 'payments.py'));
  const main = `from payments import *
opened = open_order("${accountId}", "P-1")
print(opened, is_paid(opened), is_paid("sess_0000000000000000000000"))`;
  const { stdout } = await run('python3', ['-c', main], { cwd, env: environment });
  await assertOpened(stdout, 'P-1');

  // The type checker sees each result of an operation, and nothing else.
  writeFileSync(join(cwd, 'package.json'), '{"private":true}');
  const pyright = ['--yes', '--ignore-scripts', 'pyright@1.1.414', '--pythonpath', await pythonPath()];
  const check = (file: string) => run('npx', [...pyright, file], { cwd, env: environment });
  const program = programOf('python', 'payments.py');
  const errorsIn = async (changed: string): Promise<string> => {
    writeFileSync(join(cwd, 'checked.py'), `# pyright: reportUnnecessaryComparison=error\n${changed}`);
    return check('checked.py').then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
  };
  assert.equal(await errorsIn(program), '');
  for (const [right, wrong, said] of [
    [
      'answer.data.session.payment',
      'answer.data.payment',
      /Cannot access attribute "payment_succeeded_time"/,
    ],
    [
      'return False',
      'return answer.error.slug == "sesion_not_found"',
      /"Literal\['session_not_found'\]" and "Literal\['sesion_not_found'\]"/,
    ],
  ] as const) {
    const broken = program.replace(right, wrong);
    assert.notEqual(broken, program);
    assert.match(await errorsIn(broken), said);
  }
});

const skipGo = without(['go', 'version'], ['oapi-codegen', '-version']);

test('a client in Go opens an order, and has a refusal as a type of its own', { skip: skipGo }, async () => {
  const cwd = join(folder, 'go');
  mkdirSync(join(cwd, 'florin'), { recursive: true });
  const options = ['-generate', 'types,client', '-package', 'florin', '-o', 'florin/florin.go'];
  await run('oapi-codegen', [...options, '../openapi.json'], { cwd });
  writeFileSync(join(cwd, 'payments.go'), programOf('go', 'payments.go'));
  writeFileSync(
    join(cwd, 'main.go'),
    `package main
import ("context"; "fmt"; "os")
func main() {
	ctx := context.Background()
	opened, err := openOrder(ctx, "${accountId}", "G-1")
	if err != nil { fmt.Println(err); os.Exit(1) }
	isOpenPaid, err := isPaid(ctx, opened)
	if err != nil { fmt.Println(err); os.Exit(1) }
	isOtherPaid, err := isPaid(ctx, "sess_0000000000000000000000")
	if err != nil { fmt.Println(err); os.Exit(1) }
	fmt.Println(opened, isOpenPaid, isOtherPaid)
}`,
  );
  await run('go', ['mod', 'init', 'shop'], { cwd });
  await run('go', ['mod', 'tidy'], { cwd });
  await run('go', ['vet', '.'], { cwd });
  const { stdout } = await run('go', ['run', '.'], { cwd, env: environment });
  await assertOpened(stdout, 'G-1');
});

/** The interpreter that has the packages of the generated client. */
async function pythonPath(): Promise<string> {
  return (await run('python3', ['-c', 'import sys; print(sys.executable)'])).stdout.trim();
}
