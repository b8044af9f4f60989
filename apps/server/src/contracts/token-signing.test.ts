import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HttpRpc, openHttpRpc } from '@florin/evm';
import { permitKinds, type Token } from '@florin/protocol/token.ts';
import { permit2Address } from '#chains/shared-contract.ts';
import { systemClock } from '#outside/clock.ts';
import { silentLog } from '#telemetry/log.ts';
import { LifeChain } from '../../test/life/life-chain.ts';
import { readTokenSigning, signingProblem, tokenSigningReader } from './token-signing.ts';

let life: LifeChain;
let rpc: HttpRpc;
before(async () => {
  const tokens = [
    { symbol: 'usdc', decimals: 6 },
    { symbol: 'usdt', decimals: 6 },
    { symbol: 'dai', decimals: 18 },
  ] as const;
  life = await LifeChain.start({ name: 'base', chainId: 31_338, tokens });
  const { chainId, rpcUrls } = life.chain;
  rpc = openHttpRpc({ chainId, urls: rpcUrls, clock: systemClock, log: silentLog });
});
after(async () => {
  await rpc.close();
  await life.anvil.close();
});

async function kindsOf(token: Token): Promise<string[]> {
  const { permits } = await readTokenSigning(rpc, token);
  return permitKinds.filter((kind) => permits.has(kind));
}

test('the signatures that move a token are read from its chain', async () => {
  assert.deepEqual(await kindsOf(life.token('usdc')), ['eip2612', 'eip3009', 'permit2']);
  assert.deepEqual(await kindsOf(life.token('usdt')), ['permit2']);
  assert.deepEqual(await kindsOf(life.token('dai')), ['eip2612', 'permit2']);
});

test("a token's domain is the one that its DOMAIN_SEPARATOR proves, regardless of the configured name", async () => {
  const usdc = life.token('usdc');
  const { domain } = await readTokenSigning(rpc, { ...usdc, name: 'Some other name' });
  const { chainId, address } = usdc;
  assert.deepEqual(domain, { name: 'Test USDC', version: '2', chainId, verifyingContract: address });
});

test('a token whose separator belongs to another chain has no signatures of its own', async () => {
  const moved = { ...life.token('usdc'), chainId: 1 };
  const signing = await readTokenSigning(rpc, moved);
  assert.deepEqual([[...signing.permits], signing.domain], [[], undefined]);
});

// proves W3.1
test('a difference from the configuration is reported, and a configuration that states nothing is not checked', async () => {
  const usdt = life.token('usdt');
  const signing = await readTokenSigning(rpc, usdt);
  assert.equal(signingProblem(usdt, signing), undefined);
  assert.equal(signingProblem({ ...usdt, permits: ['permit2'] }, signing), undefined);
  assert.equal(
    signingProblem({ ...usdt, permits: ['eip3009', 'permit2'] }, signing),
    `base::usdt: the contract at ${usdt.address} takes the signatures permit2, the configuration says eip3009, permit2: correct permits, or omit it`,
  );
});

test('a token is read once, and again only if its chain gave no answer', async () => {
  let asked = 0;
  let isDown = true;
  const read = tokenSigningReader(() => ({
    ...rpc,
    async request(method, params, options) {
      if (isDown) throw new Error('down');
      if (JSON.stringify(params).includes(permit2Address)) asked += 1;
      return rpc.request(method, params, options);
    },
  }));
  const usdc = life.token('usdc');
  await assert.rejects(read(usdc), /down/);
  isDown = false;
  const [first, second] = await Promise.all([read(usdc), read(usdc)]);
  assert.equal(first, second);
  assert.equal(await read(usdc), first);
  assert.equal(asked, 1);
});
