import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import { Signature, TypedDataEncoder, Wallet } from 'ethers';
import fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';
import { otherSignature } from '../../test/harness/other-signature.ts';
import {
  accepts,
  chainId,
  create,
  creation,
  creationTypes,
  cryptography,
  domain,
  domainName,
  noCode,
  payer,
  preparation,
  preparationTypes,
  prepare,
  wallet,
} from '../../test/harness/signed-message.ts';

const hexText = (size: number) => fc.uint8Array({ minLength: size, maxLength: size }).map(toHexText);
function toHexText(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
const wellFormed = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed());

// proves S5.5, S5.6
test('digests of creations are those of ethers over the fields of the specification', () => {
  const message = fc.record({
    purpose: wellFormed,
    linkId: wellFormed,
    linkVersion: wellFormed,
    merchantId: wellFormed,
    payer: hexText(20),
    paymentChainId: uint,
    paymentToken: hexText(20),
    amount: uint,
    authorizationNonce: hexText(32),
    authorizationExpiresAt: uint,
  });
  fc.assert(
    fc.property(message, (values) => {
      const ethersDomain = { name: domainName, version: '1', chainId: BigInt(values.paymentChainId) };
      const expected = TypedDataEncoder.hash(ethersDomain, creationTypes, values);
      assert.equal(cryptography.digest(domainName, create(values)), expected);
    }),
  );
});

// proves S5.5, S5.7
test('digests of preparations are those of ethers over the fields of the specification', () => {
  const message = fc.record({
    purpose: wellFormed,
    sessionId: wellFormed,
    merchantId: wellFormed,
    payer: hexText(20),
    payerEmail: wellFormed,
    paymentChainId: uint,
    paymentToken: hexText(20),
    authorizationNonce: hexText(32),
    authorizationExpiresAt: uint,
  });
  fc.assert(
    fc.property(message, (values) => {
      const ethersDomain = { name: domainName, version: '1', chainId: BigInt(values.paymentChainId) };
      const expected = TypedDataEncoder.hash(ethersDomain, preparationTypes, values);
      assert.equal(cryptography.digest(domainName, prepare(values)), expected);
    }),
  );
});

test('upper-case and lower-case hex are one message', () => {
  const upper = {
    ...creation,
    authorizationNonce: `0x${'AB'.repeat(32)}`,
    paymentToken: creation.paymentToken.toLowerCase(),
    payer: payer.toLowerCase(),
  };
  assert.equal(
    cryptography.digest(domainName, create(upper)),
    cryptography.digest(domainName, create(creation)),
  );
});

test('signatures of any key over any digest are recovered as ethers recovers them', async () => {
  await fc.assert(
    fc.asyncProperty(hexText(32), hexText(32), async (key, digest) => {
      fc.pre(BigInt(key) > 0n && BigInt(key) < 2n ** 255n);
      const signer = new Wallet(key);
      const { serialized } = signer.signingKey.sign(digest);
      assert.equal(cryptography.recover(digest as Hex, serialized as Hex), signer.address.toLowerCase());
    }),
    { numRuns: 50 },
  );
});

test("a plain account's signature counts, made by ethers or by viem", async () => {
  const byEthers = await wallet.signTypedData(domain, creationTypes, creation);
  const byViem = await privateKeyToAccount(wallet.privateKey as Hex).signTypedData({
    domain,
    types: preparationTypes,
    primaryType: 'PreparePaymentAuthorization',
    message: {
      ...preparation,
      payer,
      paymentChainId: BigInt(chainId),
      paymentToken: preparation.paymentToken as Hex,
      authorizationNonce: preparation.authorizationNonce as Hex,
      authorizationExpiresAt: BigInt(preparation.authorizationExpiresAt),
    },
  });
  assert.deepEqual(
    [await accepts(noCode, create(creation), byEthers), await accepts(noCode, prepare(preparation), byViem)],
    [true, true],
  );
});

const mutations: Record<string, string> = {
  purpose: 'prepare_payment',
  linkId: 'lnk_0000000000000000000002',
  linkVersion: 'ver_0000000000000000000002',
  sessionId: 'sess_0000000000000000000002',
  merchantId: 'mer_0000000000000000000002',
  payer: `0x${'11'.repeat(20)}`,
  payerEmail: '',
  paymentChainId: '1',
  paymentToken: `0x${'22'.repeat(20)}`,
  amount: '10020001',
  authorizationNonce: `0x${'ef'.repeat(32)}`,
  authorizationExpiresAt: '1800000001',
};

for (const field of Object.keys(creation)) {
  test(`a creation whose ${field} differs from the signed one is refused`, async () => {
    const signature = await wallet.signTypedData(domain, creationTypes, creation);
    const mutated = { ...creation, [field]: mutations[field] ?? assert.fail(`no mutation of ${field}`) };
    assert.equal(await accepts(noCode, create(mutated), signature), false);
  });
}

for (const field of Object.keys(preparation)) {
  test(`a preparation whose ${field} differs from the signed one is refused`, async () => {
    const signature = await wallet.signTypedData(domain, preparationTypes, preparation);
    const changed = field === 'purpose' ? 'create_payment_session' : mutations[field];
    const mutated = { ...preparation, [field]: changed ?? assert.fail(`no mutation of ${field}`) };
    assert.equal(await accepts(noCode, prepare(mutated), signature), false);
  });
}

const otherDomains: Record<
  string,
  { name?: string; version?: string; chainId?: number; verifyingContract?: string }
> = {
  'another deployment': { ...domain, name: 'aipay.other.example.com' },
  'the bare service domain': { ...domain, name: 'pay.example.com' },
  'another chain': { ...domain, chainId: 1 },
  'another version': { ...domain, version: '2' },
  'no chain': { name: domainName, version: '1' },
  'a contract besides': { ...domain, verifyingContract: `0x${'33'.repeat(20)}` },
};

for (const [name, otherDomain] of Object.entries(otherDomains)) {
  test(`a signature for the domain of ${name} is refused`, async () => {
    const signature = await wallet.signTypedData(otherDomain, creationTypes, creation);
    assert.equal(await accepts(noCode, create(creation), signature), false);
  });
}

test('a creation signature authorizes no preparation', async () => {
  const signature = await wallet.signTypedData(domain, creationTypes, creation);
  assert.equal(await accepts(noCode, prepare(preparation), signature), false);
});

// proves W8.8
test('only the canonical form of a signature counts', async () => {
  const canonical = await wallet.signTypedData(domain, creationTypes, creation);
  const { r, s, v, compactSerialized } = Signature.from(canonical);
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const highS = (order - BigInt(s)).toString(16).padStart(64, '0');
  const body = canonical.slice(0, -2);
  const otherV = (v === 27 ? 28 : 27).toString(16);
  const zero = '0'.repeat(64);
  const forms: Record<string, string> = {
    'high s': `${r}${highS}${otherV}`,
    'high s and the same v': `${r}${highS}${v.toString(16)}`,
    'v 0 or 1': `${body}0${v - 27}`,
    'the other v': `${body}${otherV}`,
    'v of EIP-155': `${body}${(35).toString(16)}`,
    'compact form': compactSerialized,
    'an extra byte': `${canonical}00`,
    'a missing byte': body,
    'a leading zero byte': `0x00${canonical.slice(2)}`,
    'r zero': `0x${zero}${s.slice(2)}1b`,
    's zero': `${r}${zero}1b`,
    'r of the curve order': `0x${order.toString(16)}${s.slice(2)}1b`,
    'r off the curve': `0x${'0'.repeat(63)}5${s.slice(2)}1b`,
    nothing: '0x',
    'an ERC-6492 wrapper': `${canonical}${'6492'.repeat(16)}`,
  };
  const accepted: Record<string, boolean> = {};
  for (const [name, form] of Object.entries(forms))
    accepted[name] = await accepts(noCode, create(creation), form);
  assert.deepEqual(accepted, Object.fromEntries(Object.keys(forms).map((name) => [name, false])));
});

test('another valid signature of the same message counts as well', async () => {
  const usual = await wallet.signTypedData(domain, creationTypes, creation);
  const digest = cryptography.digest(domainName, create(creation));
  const other = otherSignature(digest, wallet.privateKey as Hex);
  assert.notEqual(other, usual);
  assert.equal(await accepts(noCode, create(creation), other), true);
});
