import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import { transferAuthorizationTypes } from '@florin/protocol/typed-data.ts';
import type { X402Payment } from '@florin/protocol/x402.ts';
import { secp256k1 } from '@florin/signing';
import { decodeFunctionData, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { cryptographyOf } from '#authorizations/cryptography.ts';
import {
  authorizedTransferCall,
  flawOf,
  isAuthorizationSigned,
  payloadHashOf,
} from './transfer-authorization.ts';

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
const authorization = {
  from: `0x${'11'.repeat(20)}`,
  to: `0x${'22'.repeat(20)}`,
  value: '5',
  validAfter: '0',
  validBefore: '9',
  nonce: `0x${'33'.repeat(32)}`,
};
const [r, s] = [`0x${'44'.repeat(32)}`, `0x${'55'.repeat(32)}`] as const;
const signed = (signature: string) =>
  decodeFunctionData({ abi, data: authorizedTransferCall({ authorization, signature }) }).args.slice(6);

test('the token gets a key’s signature in parts, and any other wallet’s signature unchanged', () => {
  assert.deepEqual(signed(`${r}${s.slice(2)}1b`), [27, r, s]);
  assert.deepEqual(signed(`${r}${s.slice(2)}1c`), [28, r, s]);
  const strange = [
    `${r}${s.slice(2)}00`,
    `${r}${s.slice(2)}1f`,
    `0x${'ff'.repeat(64)}1b`,
    `0x${'00'.repeat(64)}1b`,
    `${r}${s.slice(2)}`,
    `${r}${s.slice(2)}1b77`,
  ];
  for (const signature of strange) assert.deepEqual(signed(signature), [signature]);
});

const now = 1_800_000_000;
const asked = { payTo: authorization.to as Hex, total: 5n, now };
const good = { ...authorization, validBefore: String(now + 6) };
type Flaw = readonly [name: string, changed: Partial<typeof authorization>, reason: string | undefined];
const reason = (words: string) => `invalid_exact_evm_payload_${words}`;
const beyond = String(2n ** 256n);
const flaws: readonly Flaw[] = [
  ['what is asked for', {}, undefined],
  ['an end at the end of time', { validBefore: String(2n ** 256n - 1n) }, undefined],
  // proves W8.15
  ['another recipient', { to: authorization.from }, reason('recipient_mismatch')],
  // proves W8.15
  ['less', { value: '4' }, reason('authorization_value_mismatch')],
  ['more', { value: '6' }, reason('authorization_value_mismatch')],
  ['a value beyond uint256', { value: beyond }, reason('authorization_value_mismatch')],
  ['a beginning in the future', { validAfter: String(now + 1) }, reason('authorization_valid_after')],
  ['a beginning beyond uint256', { validAfter: beyond }, reason('authorization_valid_after')],
  ['an end before the next block', { validBefore: String(now + 5) }, reason('authorization_valid_before')],
  ['an end beyond uint256', { validBefore: beyond }, reason('authorization_valid_before')],
];
for (const [name, changed, expected] of flaws)
  test(`an authorization of ${name}: ${expected ?? 'no flaw'}`, () =>
    assert.equal(flawOf({ authorization: { ...good, ...changed } }, asked), expected));

const account = privateKeyToAccount(`0x${'5e'.repeat(32)}`);
const domain = {
  ...{ name: 'USD Coin', version: '2', chainId: 8_453 },
  verifyingContract: `0x${'70'.repeat(20)}`,
} as const;
const own = { ...good, from: account.address };
const deps = {
  cryptography: cryptographyOf(secp256k1),
  payerChain: { codeAt: async () => '0x' as const, callAt: async () => undefined },
};

async function ownSignature(): Promise<Hex> {
  const { from, to, value, validAfter, validBefore, nonce } = own;
  return account.signTypedData({
    domain,
    types: transferAuthorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...{ from, to: to as Hex, nonce: nonce as Hex },
      ...{ value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
    },
  });
}

/** Each field with another value. */
const otherFields: Partial<typeof authorization>[] = [
  { from: authorization.from },
  { to: authorization.from },
  { value: '6' },
  { validAfter: '1' },
  { validBefore: String(now + 7) },
  { nonce: `0x${'34'.repeat(32)}` },
];

// proves W8.15
test('a signature is valid only for the authorization that was signed', async () => {
  const signature = await ownSignature();
  const isSigned = (changed: object, by: string = signature, at: object = domain) =>
    isAuthorizationSigned(
      deps,
      domain,
      { ...domain, ...at },
      { authorization: { ...own, ...changed }, signature: by },
    );
  assert.equal(await isSigned({}), true);
  for (const changed of otherFields) assert.equal(await isSigned(changed), false, JSON.stringify(changed));
  const otherDomains = [{ name: 'USDC' }, { version: '1' }, { chainId: 1 }];
  for (const at of otherDomains) assert.equal(await isSigned({}, signature, at), false);
  const noSignatures = ['0x', `0x${'00'.repeat(65)}`, signature.slice(0, -2), `${signature}00`];
  for (const by of noSignatures) assert.equal(await isSigned({}, by), false, by);
});

test('requests with the same signed authorization share one hash, and others differ', () => {
  const accepted = {
    scheme: 'exact',
    ...{ network: 'eip155:8453', amount: '5', asset: domain.verifyingContract },
    ...{ payTo: authorization.to, maxTimeoutSeconds: 300, extra: { name: '', version: '', offer: '' } },
  } as const;
  const payment: X402Payment = {
    x402Version: 2,
    accepted,
    payload: { authorization: own, signature: '0xab' },
  };
  const { payload } = payment;
  const hash = payloadHashOf(payment);
  const written = { ...own, from: own.from.toLowerCase(), nonce: own.nonce.toUpperCase().replace('X', 'x') };
  assert.equal(payloadHashOf({ ...payment, payload: { authorization: written, signature: '0xAB' } }), hash);
  const others = [
    { ...payment, accepted: { ...accepted, network: 'eip155:1' } },
    { ...payment, accepted: { ...accepted, asset: authorization.to } },
    { ...payment, payload: { ...payload, signature: '0xac' } },
    ...otherFields.map((changed) => ({
      ...payment,
      payload: { ...payload, authorization: { ...own, ...changed } },
    })),
  ];
  assert.equal(new Set([hash, ...others.map(payloadHashOf)]).size, others.length + 1);
});
