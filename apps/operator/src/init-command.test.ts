import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock, systemRandom } from '@florin/server/operator';
import { deepOnly, LifeChain } from '@florin/server/testing';
import { runCli } from './cli.ts';

let life: LifeChain;
let folder = '';
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'florin-init-'));
  life = await LifeChain.start({
    ...{ name: 'base', chainId: 31_337 },
    tokens: [{ symbol: 'usdc', decimals: 6 }],
  });
});
after(async () => {
  await life.anvil.close();
  rmSync(folder, { recursive: true });
});

const outside = { environment: {}, clock: systemClock, random: systemRandom, folder: '/', tell: () => {} };
const run = (...args: readonly string[]) => runCli(['init', '--json', ...args], outside);
test(
  'init makes keys, then a whole configuration as soon as the contracts are deployed',
  deepOnly,
  async () => {
    const out = join(folder, 'etc');
    const [token] = life.chain.tokens;
    const [rpc = ''] = life.chain.rpcUrls;
    const first = await run(
      ...['--out', out, '--origin', 'https://pay.example.com', '--compose'],
      ...['--chain', 'base', '--rpc', rpc, '--token', token?.address ?? ''],
    );
    assert.equal(first.exitCode, 0, first.stderr);
    const made = JSON.parse(first.stdout);
    assert.equal(made.isComplete, false);
    assert.match(made.next[0], new RegExp(`^deploy --chain base .*--order-signer ${made.orderSigner}`));
    const names = ['florin.json', 'master.key', 'database.url', 'order-signer.json', 'settler.password'];
    for (const name of names) assert.equal(statSync(join(out, name)).mode & 0o777, 0o600, name);

    const { gateway, vault, startBlock } = life.chain;
    const contracts = { name: 'base', chainId: '31337', gateway, vault, startBlock: String(startBlock) };
    writeFileSync(join(out, 'base.json'), JSON.stringify(contracts));
    const keystore = readFileSync(join(out, 'settler.json'), 'utf8');
    const second = await run('--out', out);
    assert.equal(second.exitCode, 0, second.stderr);
    const whole = JSON.parse(second.stdout);
    assert.deepEqual([whole.isComplete, whole.next], [true, ['migrate', 'doctor']]);
    assert.deepEqual([whole.orderSigner, whole.settler], [made.orderSigner, made.settler]);
    assert.equal(readFileSync(join(out, 'settler.json'), 'utf8'), keystore);

    // It was read back as the service reads it. Opening the keystores takes a second each, so once is enough.
    const config = JSON.parse(readFileSync(join(out, 'florin.json'), 'utf8'));
    assert.deepEqual(
      [
        config.environment,
        config.serviceDomain,
        config.http.trustedProxies,
        config.chains[0].tokens[0].tokenId,
      ],
      ['production', 'pay.example.com', ['10.89.40.0/24'], 'base::usdc'],
    );
    assert.match(
      readFileSync(join(out, 'database.url'), 'utf8'),
      /^postgres:\/\/florin:[0-9a-f]{48}@postgres:5432\/florin\n$/,
    );
    const environment = readFileSync(join(out, 'florin.env'), 'utf8');
    const secrets = (text: string) =>
      [...new Set(text.match(/\b(?:FLORIN|DATABASE)_[A-Z_]+_(?:FILE|KEYSTORE)\b/g))].toSorted();
    for (const file of ['systemd/florin@.service', 'compose/compose.yaml', 'kubernetes/florin.yaml']) {
      const text = readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), 'utf8');
      const ours = text.replaceAll(/^#.*$|POSTGRES_\w+/gm, '');
      assert.deepEqual(secrets(ours), secrets(environment), file);
    }
    assert.match(environment, new RegExp(`^export FLORIN_CONFIG='${out}/florin.json'$`, 'm'));
  },
);

test('what is missing is named, a wrong origin and a stranger as token are refused, and no key is made for them', async () => {
  const out = join(folder, 'none');
  const [rpc = ''] = life.chain.rpcUrls;
  assert.match((await run('--out', out)).stdout, /--origin is missing/);
  assert.match((await run('--out', out, '--origin', 'http://pay.example.com')).stdout, /must be https/);
  const base = ['--out', out, '--origin', 'https://pay.example.com', '--chain', 'base', '--rpc', rpc];
  const stranger = '0x000000000000000000000000000000000000dEaD';
  assert.match((await run(...base, '--token', stranger)).stdout, /is no token on the chain/);
  assert.equal(existsSync(join(out, 'order-signer.json')), false);
});
