import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Wallet } from 'ethers';
import { privateKeyToAccount } from 'viem/accounts';
import { payerAccountOf } from './account.ts';
import { AgentError, eip1193Account, type PayLinkOptions, payLink } from './agent.ts';
import { nonceOf } from './creation.ts';
import { alternateOf } from './discovery.ts';
import { agentTypedData, preparationTypes } from './typed-data.ts';

const run = promisify(execFile);
const key = `0x${'0a'.repeat(32)}` as const;
const account = privateKeyToAccount(key);
const options: PayLinkOptions = { account, maxAmount: 1n };

const isRefused = (reason: string) => (error: unknown) =>
  error instanceof AgentError && error.reason === reason && error.remedy !== '';

test('one purchase has one nonce on every machine, and another purchase has another', async () => {
  const purchase = { linkId: 'lnk_1', payer: account.address, key: 'July' };
  const nonce = await nonceOf(purchase);
  const text = `["florin-agent-1","lnk_1","${account.address.toLowerCase()}","July"]`;
  assert.equal(nonce, `0x${createHash('sha256').update(text).digest('hex')}`);
  const others = [
    { ...purchase, linkId: 'lnk_2' },
    { ...purchase, key: 'June' },
    { ...purchase, payer: `0x${'11'.repeat(20)}` as const },
    // Adjacent parts cannot merge.
    { ...purchase, linkId: 'lnk_1J', key: 'uly' },
  ];
  assert.equal(new Set([nonce, ...(await Promise.all(others.map(nonceOf)))]).size, 5);
  const lower = account.address.toLowerCase() as `0x${string}`;
  assert.equal(await nonceOf({ ...purchase, payer: lower }), nonce);
});

test('a page names its agent view by a link element', () => {
  const href = 'https://pay.example.com/aipay/api/v1/payment/link/lnk_1';
  assert.equal(alternateOf(`<head><link rel="alternate" type="application/json" href="${href}">`), href);
  assert.equal(alternateOf('<LINK href="/a?b&amp;c" type="application/json" rel="x Alternate"/>'), '/a?b&c');
  assert.equal(alternateOf('<link rel="alternate" type="text/html" href="/other">'), undefined);
  assert.equal(alternateOf('<p>link rel="alternate"</p>'), undefined);
});

const badTargets = [
  'nonsense',
  'http://pay.example.com/link/lnk_1',
  'ftp://pay.example.com/link/lnk_1',
  'https://user:secret@pay.example.com/link/lnk_1',
];
for (const target of badTargets) {
  test(`the target ${target} is refused before any request`, async () => {
    const silent = { ...options, fetch: () => assert.fail('something was asked') };
    await assert.rejects(payLink(target, silent), isRefused('target_invalid'));
  });
}

test('an option or a limit that is not known is refused before any request', async () => {
  const silent = { ...options, fetch: () => assert.fail('something was asked') };
  const wrong: readonly (readonly [options: object, name: string])[] = [
    [{ idempotencykey: 'July' }, 'idempotencykey'],
    [{ policy: { host: ['pay.example.com'] } }, 'policy.host'],
  ];
  for (const [more, name] of wrong)
    await assert.rejects(
      payLink('https://pay.example.com/link/lnk_1', { ...silent, ...more }),
      (error) =>
        isRefused('argument_invalid')(error) && (error as Error).message.startsWith(`${name} is not known`),
    );
});

test('a policy with an unknown member of a token, or a value of another type, is refused before any request', async () => {
  const token = { chainId: 8453, address: `0x${'b2'.repeat(20)}`, decimals: 6 };
  const wrong: readonly (readonly [policy: object, message: string])[] = [
    [
      { tokens: [token, { ...token, maxAmount: 1 }] },
      'policy.tokens[1].maxAmount is not known: give chainId, address, decimals',
    ],
    [
      { tokens: [{ ...token, chainId: '8453' }] },
      'policy.tokens[0].chainId must be a whole number, such as 8453',
    ],
    [
      { tokens: [{ ...token, address: 'usdc' }] },
      'policy.tokens[0].address must be 0x and 40 hexadecimal digits',
    ],
    [
      { tokens: [{ ...token, decimals: undefined }] },
      'policy.tokens[0].decimals must be a whole number, such as 6',
    ],
    [{ tokens: [null] }, 'policy.tokens[0] must be an object'],
    [{ tokens: token }, 'policy.tokens must be a list'],
    [{ chains: ['8453'] }, 'policy.chains[0] must be a whole number'],
    [{ hosts: 'pay.example.com' }, 'policy.hosts must be a list'],
    [{ merchants: [7] }, 'policy.merchants[0] must be a text'],
  ];
  for (const [policy, message] of wrong)
    await assert.rejects(
      payLink('https://pay.example.com/link/lnk_1', {
        ...options,
        policy,
        fetch: () => assert.fail('something was asked'),
      }),
      (error) => isRefused('argument_invalid')(error) && (error as Error).message === message,
      message,
    );
});

test('hosts outside the policy get no request, even behind a page', async () => {
  const policy = { hosts: ['pay.example.com'] };
  const silent = { ...options, policy, fetch: () => assert.fail('something was asked') };
  await assert.rejects(payLink('https://evil.example/link/lnk_1', silent), isRefused('policy_refused'));
  const view = 'https://evil.example/aipay/api/v1/payment/link/lnk_1';
  const asked: string[] = [];
  const page = async (url: string | URL | Request) => {
    asked.push(String(url));
    return new Response(`<link rel="alternate" type="application/json" href="${view}">`);
  };
  await assert.rejects(
    payLink('https://pay.example.com/link/lnk_1', { ...options, policy, fetch: page }),
    isRefused('policy_refused'),
  );
  assert.deepEqual(asked, ['https://pay.example.com/link/lnk_1']);
});

test('a wallet of ethers pays as an account of viem does, and anything else is refused before any request', async () => {
  const wallet = new Wallet(key);
  const own = await payerAccountOf(wallet);
  assert.equal(own.address, account.address);
  const types = { Tea: [{ name: 'cups', type: 'uint256' }] } as const;
  const tea = {
    domain: { name: 'Tea', chainId: 1 },
    types,
    primaryType: 'Tea',
    message: { cups: 2n },
  } as const;
  assert.equal(await own.signTypedData(tea), await account.signTypedData(tea));
  const transaction = {
    ...({ type: 'eip1559', chainId: 1, nonce: 7, to: account.address, data: '0x1234', value: 5n } as const),
    ...{ gas: 60_000n, maxFeePerGas: 30n, maxPriorityFeePerGas: 2n },
  };
  assert.equal(await own.signTransaction?.(transaction), await account.signTransaction(transaction));
  const silent = { ...options, fetch: () => assert.fail('something was asked') };
  for (const wrong of [key, undefined, {}, { address: account.address }, { signTypedData() {} }])
    await assert.rejects(
      payLink('https://pay.example.com/link/lnk_1', { ...silent, account: wrong as never }),
      isRefused('account_refused'),
    );
});

test('an unreachable service is reported, and is no reason to pay anew', async () => {
  const controller = new AbortController();
  const down = async () => {
    controller.abort();
    throw new TypeError('fetch failed');
  };
  const target = { linkId: 'lnk_1', base: 'https://pay.example.com/aipay/api/v1' };
  await assert.rejects(
    payLink(target, { ...options, fetch: down, signal: controller.signal }),
    (error: unknown) =>
      error instanceof AgentError && error.isRetryable && /same payment|resumes/.test(error.remedy),
  );
});

test('a browser wallet signs what a local account signs', async () => {
  const message = {
    purpose: 'prepare_payment',
    sessionId: 'sess_1',
    merchantId: 'mer_1',
    paymentChainId: '8453',
    paymentToken: `0x${'b2'.repeat(20)}`,
    payer: account.address,
    payerEmail: '',
    authorizationNonce: `0x${'0c'.repeat(32)}`,
    authorizationExpiresAt: '1767323730',
  };
  const typedData = agentTypedData('aipay.pay.example.com', preparationTypes, message);
  const provider = {
    async request({ method, params = [] }: { method: string; params?: unknown[] }) {
      assert.deepEqual([method, params[0]], ['eth_signTypedData_v4', account.address]);
      const { types, domain, message: values } = JSON.parse(String(params[1]));
      const { EIP712Domain, ...rest } = types;
      assert.deepEqual(
        EIP712Domain.map(({ name }: { name: string }) => name),
        ['name', 'version', 'chainId'],
      );
      return new Wallet(key).signTypedData(domain, rest, values);
    },
  };
  assert.equal(
    await eip1193Account(provider, account.address).signTypedData(typedData),
    await account.signTypedData(typedData as Parameters<typeof account.signTypedData>[0]),
  );
});

test('the published package uses web interfaces only, and has no dependencies', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-agent-build-'));
  try {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    // Compiled without the types of Node.js, so only web interfaces compile.
    const project = join(root, 'packages/agent/tsconfig.build.json');
    await run(process.execPath, [
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      project,
      '--outDir',
      folder,
    ]);
    assert.ok((await readdir(folder)).includes('agent.d.ts'));
    const program = `import(${JSON.stringify(join(folder, 'agent.js'))}).then((agent) => console.log(Object.keys(agent).join()))`;
    const { stdout } = await run(process.execPath, ['-e', program]);
    assert.equal(stdout, 'AgentError,eip1193Account,knownTokens,payLink\n');
    const manifest = (await import('../package.json', { with: { type: 'json' } })).default;
    assert.equal('dependencies' in manifest, false);
  } finally {
    await rm(folder, { recursive: true });
  }
});
