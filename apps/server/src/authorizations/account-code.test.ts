import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { AbiCoder } from 'ethers';
import {
  accepts,
  chainId,
  contractWallet,
  create,
  creation,
  creationTypes,
  cryptography,
  domain,
  domainName,
  noCode,
  payer,
  wallet,
} from '../../test/harness/signed-message.ts';
import type { PayerChain } from './payer-chain.ts';
import { isAuthorizedBy, isPaymentSignedBy } from './signature.ts';

const magic: Hex = `0x1626ba7e${'0'.repeat(56)}`;
const answers: Record<string, { answer: Hex | undefined; isAccepted: boolean }> = {
  // proves W8.8
  'the magic value in one word': { answer: magic, isAccepted: true },
  // proves W8.8
  'a revert or an empty tank': { answer: undefined, isAccepted: false },
  nothing: { answer: '0x', isAccepted: false },
  'the four bytes alone': { answer: '0x1626ba7e', isAccepted: false },
  'a longer answer': { answer: `${magic}${'0'.repeat(64)}`, isAccepted: false },
  'dirty low bytes': { answer: `0x1626ba7e${'0'.repeat(55)}1`, isAccepted: false },
  true: { answer: `0x${'0'.repeat(63)}1`, isAccepted: false },
  'the magic value at the wrong end': { answer: `0x${'0'.repeat(56)}1626ba7e`, isAccepted: false },
  'the failure value': { answer: `0x${'f'.repeat(8)}${'0'.repeat(56)}`, isAccepted: false },
};

for (const [name, { answer, isAccepted }] of Object.entries(answers)) {
  test(`a smart account that answers ${name} ${isAccepted ? 'authorizes' : 'does not authorize'}`, async () => {
    assert.equal(await accepts(contractWallet(answer), create(creation), `0x${'77'.repeat(80)}`), isAccepted);
  });
}

// proves W8.8
test("an account with code never falls back to its key's own signature", async () => {
  const signature = await wallet.signTypedData(domain, creationTypes, creation);
  assert.equal(await accepts(contractWallet(undefined), create(creation), signature), false);
});

test('a smart account is asked once, at its own address, with a cap on gas', async () => {
  const seen: Parameters<PayerChain['callAt']>[1][] = [];
  await accepts(contractWallet(magic, seen), create(creation), '0x1234');
  assert.deepEqual(
    seen.map(({ to, gas, data }) => ({ to, gas, selector: data.slice(0, 10) })),
    [{ to: payer, gas: 2_000_000n, selector: '0x1626ba7e' }],
  );
});

const untouchable: PayerChain = {
  codeAt: async () => assert.fail('the chain was asked'),
  callAt: async () => assert.fail('the chain was asked'),
};
const suffix = '6492'.repeat(16);

/** A wrapped signature (ERC-6492) of an account that a factory would deploy. */
function wrap(signature: string): string {
  const values = [`0x${'fa'.repeat(20)}`, '0xdeadbeef', signature];
  return `${AbiCoder.defaultAbiCoder().encode(['address', 'bytes', 'bytes'], values)}${suffix}`;
}

test('a wrapper that cannot be opened, or holds another one, is refused without asking the chain', async () => {
  const forms = [
    `0x${suffix}`,
    `0x${'77'.repeat(64)}${suffix}`,
    `${wrap('0x1234').slice(0, 200)}${suffix}`,
    `0x${'ff'.repeat(96)}${suffix}`,
    wrap(wrap('0x1234')),
  ];
  for (const form of forms) assert.equal(await accepts(untouchable, create(creation), form), false);
});

test('a wrapped signature of a payment is refused without asking the chain', async () => {
  const claim = { chainId, payer, digest: `0x${'12'.repeat(32)}`, signature: wrap('0x1234') as Hex } as const;
  assert.equal(await isPaymentSignedBy({ cryptography, payerChain: untouchable }, claim), false);
});

test('an account that is deployed is asked about the inner signature, and its factory is not called', async () => {
  const seen: Parameters<PayerChain['callAt']>[1][] = [];
  assert.equal(await accepts(contractWallet(magic, seen), create(creation), wrap('0x12345678')), true);
  assert.equal(await accepts(contractWallet(magic, seen), create(creation), '0x12345678'), true);
  assert.deepEqual(seen[0], seen[1]);
});

test('an account that is not deployed is asked in one call without a recipient, with a cap on gas', async () => {
  const seen: Parameters<PayerChain['callAt']>[1][] = [];
  const chain: PayerChain = {
    codeAt: async () => '0x',
    callAt: async (_chainId, call) => {
      seen.push(call);
      return magic;
    },
  };
  assert.equal(await accepts(chain, create(creation), wrap('0x12345678')), true);
  assert.deepEqual(
    seen.map(({ to, gas }) => ({ to, gas })),
    [{ to: undefined, gas: 6_000_000n }],
  );
});

test("a wrapper around a plain account's own signature is no way around the canonical form", async () => {
  const signature = await wallet.signTypedData(domain, creationTypes, creation);
  const chain: PayerChain = { codeAt: async () => '0x', callAt: async () => `0x${'0'.repeat(64)}` };
  assert.equal(await accepts(chain, create(creation), wrap(signature)), false);
});

test('a caller who has used up its share cannot run account code, and plain accounts still work', async () => {
  const spent = () => {
    throw new Refusal('rate_limited');
  };
  const signature = (await wallet.signTypedData(domain, creationTypes, creation)) as Hex;
  const digest = cryptography.digest(domainName, create(creation));
  const check = (payerChain: PayerChain, form: string) =>
    isAuthorizedBy(
      { cryptography, payerChain, admitWalletCall: spent },
      { chainId, payer, digest, signature: form as Hex },
    );
  const seen: Parameters<PayerChain['callAt']>[1][] = [];
  await assert.rejects(check(contractWallet(magic, seen), signature), { slug: 'rate_limited' });
  await assert.rejects(check(contractWallet(magic, seen), wrap(signature)), { slug: 'rate_limited' });
  await assert.rejects(check(noCode, wrap(signature)), { slug: 'rate_limited' });
  assert.deepEqual(seen, []);
  assert.equal(await check(noCode, signature), true);
});
