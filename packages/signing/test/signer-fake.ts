import { createPublicKey } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Wallet } from 'ethers';
import type { Hex } from 'viem';
import { getAddress, keccak256 } from 'viem';

/** What goes wrong at a fake signing service; each number counts down. */
export interface SignerFaults {
  /** So many answers are "too many requests", in the service's own way. */
  throttled: number;
  /** So many answers are an error of its own. */
  broken: number;
  /** So many requests get no answer. */
  silent: number;
  /** It signs with another key than it says. */
  hasOtherKey: boolean;
  delayMs: number;
}

/** A signing service that listens on loopback. */
export interface FakeSigner {
  readonly url: string;
  readonly address: Hex;
  readonly faults: SignerFaults;
  /** How often each path or operation was asked for. */
  readonly asked: Map<string, number>;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A Web3Signer in eth1 mode: it lists public keys, and signs the Keccak-256 of data. */
export async function startWeb3Signer(): Promise<FakeSigner> {
  const [wallet, other] = [Wallet.createRandom(), Wallet.createRandom()];
  const publicKey = `0x${wallet.signingKey.publicKey.slice(4)}`;
  return serve(getAddress(wallet.address), (request, body, faults) => {
    if (request.url === '/api/v1/eth1/publicKeys') {
      const stranger = `0x${other.signingKey.publicKey.slice(4)}`;
      return { status: 200, body: JSON.stringify([stranger, publicKey]) };
    }
    if (request.url !== `/api/v1/eth1/sign/${publicKey}`)
      return { status: 404, body: 'Public Key not found' };
    const { data } = JSON.parse(body) as { data: string };
    const signer = faults.hasOtherKey ? other : wallet;
    return { status: 200, body: signer.signingKey.sign(keccak256(data as Hex)).serialized };
  });
}

/** AWS KMS with one key: it checks that requests are signed, and answers in DER, with high or low s. */
export async function startKms(accessKeyIds = ['AKID']): Promise<FakeSigner & { readonly keyId: string }> {
  const [wallet, other] = [Wallet.createRandom(), Wallet.createRandom()];
  const keyId = '1234abcd-12ab-34cd-56ef-1234567890ab';
  const fake = await serve(getAddress(wallet.address), (request, body, faults) => {
    const [, accessKeyId = ''] =
      /^AWS4-HMAC-SHA256 Credential=(\w+)\/\d{8}\/eu-central-1\/kms\//.exec(
        request.headers.authorization ?? '',
      ) ?? [];
    if (!accessKeyIds.includes(accessKeyId)) return refusal(400, 'IncompleteSignatureException');
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '');
    const asked = JSON.parse(body) as Record<string, string>;
    if (asked['KeyId'] !== keyId) return refusal(400, 'NotFoundException');
    if (operation === 'GetPublicKey') {
      const spki = publicKeyInfo(wallet.signingKey.publicKey).toString('base64');
      return {
        status: 200,
        body: JSON.stringify({ KeyId: keyId, PublicKey: spki, KeySpec: 'ECC_SECG_P256K1' }),
      };
    }
    if (asked['MessageType'] !== 'DIGEST' || asked['SigningAlgorithm'] !== 'ECDSA_SHA_256')
      return refusal(400, 'ValidationException');
    const signer = faults.hasOtherKey ? other : wallet;
    const { r, s } = signer.signingKey.sign(Buffer.from(asked['Message'] ?? '', 'base64'));
    const signature = derOf(BigInt(r), BigInt(s)).toString('base64');
    return { status: 200, body: JSON.stringify({ KeyId: keyId, Signature: signature }) };
  });
  return { ...fake, keyId };
}

/** Google Cloud KMS with one version of a key: it takes the tokens of `startRole`, and answers in DER. */
export async function startGoogleKms(): Promise<FakeSigner & { readonly keyVersion: string }> {
  const [wallet, other] = [Wallet.createRandom(), Wallet.createRandom()];
  const keyVersion = 'projects/p/locations/europe-west3/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1';
  const fake = await serve(getAddress(wallet.address), (request, body, faults) => {
    if (!/^Bearer token-\d+$/.test(request.headers.authorization ?? '')) return { status: 401, body: '' };
    if (request.url === `/v1/${keyVersion}/publicKey`) {
      const base64 = publicKeyInfo(wallet.signingKey.publicKey).toString('base64');
      const pem = `-----BEGIN PUBLIC KEY-----\n${base64}\n-----END PUBLIC KEY-----\n`;
      return { status: 200, body: JSON.stringify({ pem, algorithm: 'EC_SIGN_SECP256K1_SHA256' }) };
    }
    if (request.url !== `/v1/${keyVersion}:asymmetricSign`) return { status: 404, body: 'not for a log' };
    const { digest } = JSON.parse(body) as { digest: { sha256: string } };
    const signer = faults.hasOtherKey ? other : wallet;
    const { r, s } = signer.signingKey.sign(Buffer.from(digest.sha256, 'base64'));
    return {
      status: 200,
      body: JSON.stringify({ signature: derOf(BigInt(r), BigInt(s)).toString('base64') }),
    };
  });
  return { ...fake, keyVersion };
}

/**
 * The metadata server of a Google machine, or the credential service of an AWS container: each request gets new
 * credentials of the machine's role, which end in a second.
 */
export async function startRole(): Promise<{
  readonly url: string;
  /** How many credentials were given out. */
  readonly given: () => number;
  readonly faults: SignerFaults;
  close(): Promise<void>;
}> {
  let given = 0;
  const fake = await serve('0x', (request) => {
    if (request.url?.startsWith('/aws') === true) {
      given += 1;
      const Expiration = new Date(Date.now() + 1_000).toISOString();
      const keys = { AccessKeyId: `ASIA${given}`, SecretAccessKey: 'secret', Token: 'session' };
      return { status: 200, body: JSON.stringify({ ...keys, Expiration }) };
    }
    if (request.url?.includes('/service-accounts/default/token') !== true) return { status: 200, body: '{}' };
    given += 1;
    return {
      status: 200,
      body: JSON.stringify({ access_token: `token-${given}`, expires_in: 1, token_type: 'Bearer' }),
    };
  });
  return { url: fake.url, given: () => given, faults: fake.faults, close: fake.close };
}

function refusal(status: number, kind: string): Answer {
  return { status, body: JSON.stringify({ __type: kind, message: 'not for a log' }) };
}

/** An uncompressed public key as KMS gives it: DER by Node's own hand. */
function publicKeyInfo(publicKey: string): Buffer {
  const coordinate = (start: number) =>
    Buffer.from(publicKey.slice(start, start + 64), 'hex').toString('base64url');
  const key = { kty: 'EC', crv: 'secp256k1', x: coordinate(4), y: coordinate(68) };
  return createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'der' });
}

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** A signature in DER. As with KMS, s is high about half the time. */
function derOf(r: bigint, s: bigint): Buffer {
  const body = Buffer.concat([integerOf(r), integerOf(r % 2n === 0n ? s : order - s)]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

function integerOf(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  const signed = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return Buffer.concat([Buffer.from([0x02, signed.length]), signed]);
}

async function serve(
  address: Hex,
  answer: (request: IncomingMessage, body: string, faults: SignerFaults) => Answer,
): Promise<FakeSigner> {
  const faults: SignerFaults = { throttled: 0, broken: 0, silent: 0, hasOtherKey: false, delayMs: 0 };
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const what = String(request.headers['x-amz-target'] ?? request.url);
      asked.set(what, (asked.get(what) ?? 0) + 1);
      if (faults.silent > 0) {
        faults.silent -= 1;
        request.socket.destroy();
        return;
      }
      const { status, body: text } = faultyAnswer(faults, request) ?? answer(request, body, faults);
      const headers = { 'content-type': 'application/json', 'metadata-flavor': 'Google' };
      setTimeout(() => response.writeHead(status, headers).end(text), faults.delayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, address, faults, asked, close: () => closeServer(server) };
}

function faultyAnswer(faults: SignerFaults, request: IncomingMessage): Answer | undefined {
  const isKms = request.headers['x-amz-target'] !== undefined;
  if (faults.throttled > 0) {
    faults.throttled -= 1;
    return isKms ? refusal(400, 'ThrottlingException') : { status: 429, body: '' };
  }
  if (faults.broken > 0) {
    faults.broken -= 1;
    return isKms ? refusal(500, 'KMSInternalException') : { status: 500, body: '' };
  }
  return undefined;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
