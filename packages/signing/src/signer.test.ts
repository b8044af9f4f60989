import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { Signature } from 'ethers';
import fc from 'fast-check';
import type { Hex } from 'viem';
import { keccak256, recoverAddress } from 'viem';
import { type FakeSigner, startKms, startWeb3Signer } from '../test/signer-fake.ts';
import { awsKmsSigner } from './aws-kms.ts';
import { parseEcdsaSignature, parsePublicKey } from './der.ts';
import type { Sleeper } from './outside.ts';
import { canonicalSignature, localSigner, type Signer, SignerFailure } from './signer.ts';
import { type SignerHttp, signerHttp } from './signer-http.ts';
import { web3Signer } from './web3signer.ts';

const quickClock: Sleeper = { sleep: async () => {} };
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' };

let http: SignerHttp;
let kms: FakeSigner & { readonly keyId: string };
let web3: FakeSigner;
before(async () => {
  [kms, web3] = await Promise.all([startKms(), startWeb3Signer()]);
  http = signerHttp(quickClock);
});
after(() => Promise.all([http.close(), kms.close(), web3.close()]));
beforeEach(() => {
  for (const { faults, asked } of [kms, web3]) {
    Object.assign(faults, { throttled: 0, broken: 0, silent: 0, hasOtherKey: false, delayMs: 0 });
    asked.clear();
  }
});

function kmsSigner(changes: { keyId?: string; address?: Hex } = {}): Signer {
  const { keyId, address, url: endpoint } = kms;
  const settings = { region: 'eu-central-1', keyId, address, credentials, endpoint, ...changes };
  return awsKmsSigner(settings);
}

function web3signer(changes: { address?: Hex } = {}): Signer {
  return web3Signer(http, { url: web3.url, address: web3.address, ...changes });
}

function preimage(): Hex {
  return `0x02${randomBytes(120).toString('hex')}`;
}

async function assertSigns(signer: Signer): Promise<void> {
  const data = preimage();
  const signature = await signer.sign(data);
  assert.match(signature, /^0x[0-9a-f]{128}(1b|1c)$/);
  assert.ok(BigInt(Signature.from(signature).s) <= halfOrder);
  assert.equal(await recoverAddress({ hash: keccak256(data), signature }), signer.address);
}

test('every kind of signer returns the form of signature that contracts accept', async () => {
  const local = localSigner(`0x${'42'.repeat(32)}`);
  const [remoteKms, remoteWeb3] = [kmsSigner(), web3signer()];
  // Half of KMS's answers have a high s.
  for (let times = 0; times < 16; times += 1) {
    for (const signer of [local, remoteKms, remoteWeb3]) await assertSigns(signer);
  }
  assert.equal(kms.asked.get('TrentService.GetPublicKey'), 1);
  assert.equal(web3.asked.get('/api/v1/eth1/publicKeys'), 1);
});

test('a signer that is throttled, fails or does not answer for a moment is asked again', async () => {
  for (const [fake, signer] of [
    [kms, kmsSigner()],
    [web3, web3signer()],
  ] as const) {
    for (const fault of ['throttled', 'broken', 'silent'] as const) {
      fake.faults[fault] = 2;
      await assertSigns(signer);
    }
  }
});

test('a signer that stays unavailable is a failure without details', async () => {
  for (const [fake, signer] of [
    [kms, kmsSigner()],
    [web3, web3signer()],
  ] as const) {
    for (const fault of ['throttled', 'broken', 'silent'] as const) {
      Object.assign(fake.faults, { throttled: 0, broken: 0, silent: 0, [fault]: 99 });
      await assert.rejects(signer.sign(preimage()), (error) => {
        assert.ok(error instanceof SignerFailure);
        assert.doesNotMatch(error.message, /not for a log/);
        return true;
      });
    }
  }
});

test('a signature by another key is never used', async () => {
  for (const [fake, signer] of [
    [kms, kmsSigner()],
    [web3, web3signer()],
  ] as const) {
    fake.faults.hasOtherKey = true;
    await assert.rejects(signer.sign(preimage()), { name: 'SignerFailure', message: /has another key/ });
    fake.faults.hasOtherKey = false;
    await assertSigns(signer);
  }
});

test('a key other than the configured one is reported before anything is signed', async () => {
  const stranger = localSigner(`0x${'43'.repeat(32)}`).address;
  await assert.rejects(kmsSigner({ address: stranger }).sign(preimage()), /the configuration says/);
  await assert.rejects(
    kmsSigner({ keyId: 'alias/unknown' }).sign(preimage()),
    /KMS refuses: NotFoundException/,
  );
  await assert.rejects(web3signer({ address: stranger }).sign(preimage()), /has no key of/);
  assert.equal(kms.asked.get('TrentService.Sign'), undefined);
});

test('only DER of exactly two positive integers is an ECDSA signature', () => {
  const good = Buffer.from('3008020301000102017f', 'hex');
  assert.deepEqual(parseEcdsaSignature(good), { r: 0x010001n, s: 0x7fn });
  const bad = [
    '30080203010001020180',
    '3009020301000102017f00',
    '3007020301000102017f',
    '300902030100010202007f',
    '3105020101020101',
    '30050201010201',
    '3004020002017f',
    '',
  ];
  for (const hex of bad) assert.equal(parseEcdsaSignature(Buffer.from(hex, 'hex')), undefined, hex);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      const read = parseEcdsaSignature(bytes);
      assert.ok(read === undefined || (read.r >= 0n && read.s >= 0n));
    }),
  );
  assert.equal(parsePublicKey(Buffer.alloc(88)), undefined);
});

test('an answer that is not a signature is a signer failure, not another error', async () => {
  const hash = keccak256('0x01');
  const { address } = localSigner(`0x${'44'.repeat(32)}`);
  for (const part of [0n, 5n, 2n ** 256n - 1n])
    await assert.rejects(canonicalSignature(hash, { r: part, s: 1n }, address), SignerFailure);
});
