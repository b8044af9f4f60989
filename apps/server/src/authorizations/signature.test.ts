import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CreateSessionMessage, PreparePaymentMessage } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { secp256k1 } from '@florin/signing';
import { AbiCoder, Signature, TypedDataEncoder, Wallet } from 'ethers';
import fc from 'fast-check';
import { privateKeyToAccount, setSignEntropy } from 'viem/accounts';
import { type AgentMessage, cryptographyOf } from './cryptography.ts';
import type { PayerChain } from './payer-chain.ts';
import { isAuthorizedBy, isPaymentSignedBy } from './signature.ts';

const cryptography = cryptographyOf(secp256k1);

/**
 * The fields in the specification's order, written out here because the service's own list is what this test checks.
 */
const creationTypes = {
  PaymentSessionCreationAuthorization: [
    { name: 'purpose', type: 'string' },
    { name: 'linkId', type: 'string' },
    { name: 'linkVersion', type: 'string' },
    { name: 'merchantId', type: 'string' },
    { name: 'payer', type: 'address' },
    { name: 'paymentChainId', type: 'uint256' },
    { name: 'paymentToken', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'authorizationNonce', type: 'bytes32' },
    { name: 'authorizationExpiresAt', type: 'uint256' },
  ],
};
const preparationTypes = {
  PreparePaymentAuthorization: [
    { name: 'purpose', type: 'string' },
    { name: 'sessionId', type: 'string' },
    { name: 'merchantId', type: 'string' },
    { name: 'paymentChainId', type: 'uint256' },
    { name: 'paymentToken', type: 'address' },
    { name: 'payer', type: 'address' },
    { name: 'payerEmail', type: 'string' },
    { name: 'authorizationNonce', type: 'bytes32' },
    { name: 'authorizationExpiresAt', type: 'uint256' },
  ],
};

const domainName = 'aipay.pay.example.com';
const wallet = new Wallet(`0x${'5e'.repeat(32)}`);
const payer = wallet.address as Hex;
const chainId = 8453;
const domain = { name: domainName, version: '1', chainId };

const creation: CreateSessionMessage = {
  purpose: 'create_payment_session',
  linkId: 'lnk_0000000000000000000001',
  linkVersion: 'ver_0000000000000000000001',
  merchantId: 'mer_0000000000000000000001',
  payer,
  paymentChainId: String(chainId),
  paymentToken: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount: '10020000',
  authorizationNonce: `0x${'ab'.repeat(32)}`,
  authorizationExpiresAt: '1800000000',
};
const preparation: PreparePaymentMessage = {
  purpose: 'prepare_payment',
  sessionId: 'sess_0000000000000000000001',
  merchantId: 'mer_0000000000000000000001',
  payer,
  payerEmail: 'ada@example.com',
  paymentChainId: String(chainId),
  paymentToken: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  authorizationNonce: `0x${'cd'.repeat(32)}`,
  authorizationExpiresAt: '1800000000',
};

const create = (message: CreateSessionMessage): AgentMessage => ({
  purpose: 'create_payment_session',
  message,
});
const prepare = (message: PreparePaymentMessage): AgentMessage => ({ purpose: 'prepare_payment', message });

const noCode: PayerChain = {
  codeAt: async () => '0x',
  callAt: async () => assert.fail('a plain account is never called'),
};

/** An account whose code gives the answer under test. */
function contractWallet(
  answer: Hex | undefined,
  seen: Parameters<PayerChain['callAt']>[1][] = [],
): PayerChain {
  return {
    codeAt: async () => '0x60806040',
    callAt: async (_chainId, call) => {
      seen.push(call);
      return answer;
    },
  };
}

async function accepts(
  payerChain: PayerChain,
  agentMessage: AgentMessage,
  signature: string,
): Promise<boolean> {
  const digest = cryptography.digest(domainName, agentMessage);
  const deps = { cryptography, payerChain };
  return isAuthorizedBy(deps, { chainId, payer, digest, signature: signature as Hex });
}

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
  setSignEntropy(true);
  const other = await privateKeyToAccount(wallet.privateKey as Hex).sign({
    hash: cryptography.digest(domainName, create(creation)),
  });
  assert.notEqual(other, usual);
  assert.equal(await accepts(noCode, create(creation), other), true);
});

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
