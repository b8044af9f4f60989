import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Signature } from 'ethers';
import fc from 'fast-check';
import type { Hex } from 'viem';
import { keccak256, recoverAddress } from 'viem';
import {
  type FakeSigner,
  startGoogleKms,
  startKms,
  startRole,
  startWeb3Signer,
} from '../test/signer-fake.ts';
import { awsKmsSigner } from './aws-kms.ts';
import { parseEcdsaSignature, parsePublicKey } from './der.ts';
import { googleKmsSigner } from './google-kms.ts';
import { decryptKeystore, encryptKeystore } from './keystore.ts';
import type { Sleeper } from './outside.ts';
import { canonicalSignature, localSigner, type Signer, SignerFailure } from './signer.ts';
import { type SignerHttp, signerHttp } from './signer-http.ts';
import { web3Signer } from './web3signer.ts';

const quickClock: Sleeper = { sleep: async () => {} };
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' };
const stranger = localSigner(`0x${'43'.repeat(32)}`).address;

interface RemoteKind {
  readonly fake: FakeSigner;
  /** What the fake is asked for its public key, and for a signature. */
  readonly operations: { readonly publicKey: string; readonly sign: RegExp };
  readonly open: (changes?: {
    readonly keyId?: string;
    readonly address?: Hex;
    readonly timeoutMs?: number;
  }) => Signer;
}

let http: SignerHttp;
let role: Awaited<ReturnType<typeof startRole>>;
const remote: Record<string, RemoteKind> = {};
const environment = { ...process.env };

before(async () => {
  http = signerHttp(quickClock);
  const ofRole = Array.from({ length: 500 }, (_, index) => `ASIA${index + 1}`);
  const [kms, google, web3, roles] = await Promise.all([
    startKms(['AKID', ...ofRole]),
    startGoogleKms(),
    startWeb3Signer(),
    startRole(),
  ]);
  role = roles;
  Object.assign(process.env, {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${role.url}/aws`,
    AWS_EC2_METADATA_DISABLED: 'true',
    GCE_METADATA_HOST: role.url.slice('http://'.length),
    METADATA_SERVER_DETECTION: 'assume-present',
  });
  const region = 'eu-central-1';
  const aws =
    (settings: object) =>
    (changes: object = {}) =>
      awsKmsSigner({
        region,
        keyId: kms.keyId,
        address: kms.address,
        endpoint: kms.url,
        ...settings,
        ...changes,
      });
  const awsOperations = { publicKey: 'TrentService.GetPublicKey', sign: /^TrentService\.Sign$/ };
  Object.assign(remote, {
    'AWS KMS': { fake: kms, operations: awsOperations, open: aws({ credentials }) },
    'AWS KMS by a role': { fake: kms, operations: awsOperations, open: aws({}) },
    'Google Cloud KMS by a role': {
      fake: google,
      operations: { publicKey: `/v1/${google.keyVersion}/publicKey`, sign: /:asymmetricSign$/ },
      open: ({ keyId: keyVersion = google.keyVersion, address = google.address, timeoutMs } = {}) =>
        googleKmsSigner(http, { keyVersion, address, timeoutMs, endpoint: google.url }),
    },
    Web3Signer: {
      fake: web3,
      operations: { publicKey: '/api/v1/eth1/publicKeys', sign: /\/sign\// },
      open: (changes = {}) => web3Signer(http, { url: web3.url, address: web3.address, ...changes }),
    },
  } satisfies Record<string, RemoteKind>);
});
after(async () => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  await Promise.all([http.close(), role.close(), ...Object.values(remote).map(({ fake }) => fake.close())]);
});
beforeEach(() => {
  for (const { fake } of Object.values(remote)) {
    Object.assign(fake.faults, { throttled: 0, broken: 0, silent: 0, hasOtherKey: false, delayMs: 0 });
    fake.asked.clear();
  }
});

function preimage(): Hex {
  return `0x02${randomBytes(120).toString('hex')}`;
}

async function assertSigns(signer: Signer, kind: string): Promise<void> {
  const data = preimage();
  const signature = await signer.sign(data);
  assert.match(signature, /^0x[0-9a-f]{128}(1b|1c)$/, kind);
  assert.ok(BigInt(Signature.from(signature).s) <= halfOrder, kind);
  assert.equal(await recoverAddress({ hash: keccak256(data), signature }), signer.address, kind);
}

const timesAsked = ({ fake }: RemoteKind, operation: RegExp) =>
  [...fake.asked].reduce((sum, [name, times]) => (operation.test(name) ? sum + times : sum), 0);

test('every kind of signer returns the form of signature that contracts accept', async () => {
  const privateKey = `0x${'42'.repeat(32)}` as const;
  const file = encryptKeystore(
    { bytes: (size) => randomBytes(size) },
    { privateKey, password: 'p' },
    { scryptN: 2 },
  );
  const signers = [
    ['a key', localSigner(privateKey)],
    ['a keystore', localSigner(decryptKeystore(JSON.parse(file), 'p'))],
    ...Object.entries(remote).map(([kind, { open }]) => [kind, open()] as const),
  ] as const;
  // Half of the answers of both clouds have a high s.
  for (let times = 0; times < 8; times += 1)
    for (const [kind, signer] of signers) await assertSigns(signer, kind);
  for (const [kind, each] of Object.entries(remote)) {
    const openings = each.fake === remote['AWS KMS']?.fake ? 2 : 1;
    assert.equal(each.fake.asked.get(each.operations.publicKey), openings, kind);
  }
});

test('the credentials of a role are renewed before they end', async () => {
  for (const kind of ['AWS KMS by a role', 'Google Cloud KMS by a role']) {
    const signer = remote[kind]?.open();
    assert.ok(signer !== undefined);
    const before = role.given();
    for (let times = 0; times < 3; times += 1) {
      await assertSigns(signer, kind);
      // Each lasts a second.
      await setTimeout(1_100);
    }
    assert.ok(role.given() - before >= 3, `${kind}: ${role.given() - before} credentials`);
  }
});

test('a token of Google that does not come in time is a failure, and the next signature asks anew', async () => {
  const { open } = remote['Google Cloud KMS by a role'] ?? assert.fail();
  const signer = open({ timeoutMs: 1_000 });
  role.faults.delayMs = 4_000;
  const failure = { name: 'SignerFailure', message: 'no credentials for Google Cloud are found' };
  const startedMs = performance.now();
  await assert.rejects(signer.sign(preimage()), failure);
  assert.ok(performance.now() - startedMs < 4_000);
  role.faults.delayMs = 0;
  await assertSigns(signer, 'Google Cloud KMS by a role');
});

test('a signer that is throttled, fails or does not answer for a moment is asked again', async () => {
  for (const [kind, { fake, open }] of Object.entries(remote)) {
    const signer = open();
    for (const fault of ['throttled', 'broken', 'silent'] as const) {
      fake.faults[fault] = 2;
      await assertSigns(signer, kind);
    }
  }
});

test('a signer that stays unavailable is a failure without details', async () => {
  for (const [kind, { fake, open }] of Object.entries(remote)) {
    const signer = open();
    for (const fault of ['throttled', 'broken', 'silent'] as const) {
      Object.assign(fake.faults, { throttled: 0, broken: 0, silent: 0, [fault]: 99 });
      await assert.rejects(signer.sign(preimage()), (error) => {
        assert.ok(error instanceof SignerFailure, kind);
        assert.doesNotMatch(error.message, /not for a log/);
        return true;
      });
    }
    fake.faults.silent = 0;
  }
});

test('a signature by another key is never used', async () => {
  for (const [kind, { fake, open }] of Object.entries(remote)) {
    const signer = open();
    fake.faults.hasOtherKey = true;
    await assert.rejects(
      signer.sign(preimage()),
      { name: 'SignerFailure', message: /has another key/ },
      kind,
    );
    fake.faults.hasOtherKey = false;
    await assertSigns(signer, kind);
  }
});

test('a key other than the configured one is reported before anything is signed', async () => {
  for (const [kind, each] of Object.entries(remote)) {
    const refused = each.open({ address: stranger }).sign(preimage());
    await assert.rejects(refused, /the configuration says|has no key of/, kind);
    assert.equal(timesAsked(each, each.operations.sign), 0, kind);
  }
  const unknown = { keyId: 'alias/unknown' };
  await assert.rejects(
    remote['AWS KMS']?.open(unknown).sign(preimage()) ?? Promise.resolve(),
    /KMS refuses: NotFoundException/,
  );
  await assert.rejects(
    remote['Google Cloud KMS by a role']?.open(unknown).sign(preimage()) ?? Promise.resolve(),
    /answers with HTTP status 404/,
  );
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
