import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What a passkey signs besides the challenge; tests change one part at a time. */
interface Ceremony {
  readonly origin: string;
  readonly rpId: string;
  /** Whether the device checked its holder. */
  readonly isVerified: boolean;
}

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest();
const userPresent = 0x01;
const userVerified = 0x04;
const hasKey = 0x40;

/** A CBOR byte string of 24 to 255 bytes. */
function cborBytes(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0x58, bytes.length]), bytes]);
}

/** A short CBOR text. */
function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}

/** A passkey in software (WebAuthn level 3, ES256, no attestation). */
export class Passkey {
  readonly #key: KeyObject;
  readonly #publicKey: { x: string; y: string };
  readonly #id = randomBytes(16);
  readonly #ceremony: Ceremony;

  constructor(ceremony: Ceremony) {
    this.#ceremony = ceremony;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#key = privateKey;
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    this.#publicKey = { x, y };
  }

  /** The answer to options of a registration. */
  register(challenge: string, changes: Partial<Ceremony> = {}): object {
    const client = this.#client('webauthn.create', challenge, changes);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const { x, y } = this.#publicKey;
    // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
    const cose = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      cborBytes(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      cborBytes(Buffer.from(y, 'base64url')),
    ]);
    const data = Buffer.concat([this.#data(hasKey, changes), Buffer.alloc(16), length, this.#id, cose]);
    const attestation = Buffer.concat([
      ...[Buffer.from([0xa3]), cborText('fmt'), cborText('none'), cborText('attStmt'), Buffer.from([0xa0])],
      ...[cborText('authData'), cborBytes(data)],
    ]);
    return this.#answer({
      clientDataJSON: client.toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** The answer to options of a sign-in. */
  signIn(challenge: string, changes: Partial<Ceremony> = {}): object {
    const client = this.#client('webauthn.get', challenge, changes);
    const data = this.#data(0, changes);
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.#key);
    return this.#answer({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
    });
  }

  #client(type: string, challenge: string, changes: Partial<Ceremony>): Buffer {
    const { origin } = { ...this.#ceremony, ...changes };
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  #data(flags: number, changes: Partial<Ceremony>): Buffer {
    const { rpId, isVerified } = { ...this.#ceremony, ...changes };
    const all = flags | userPresent | (isVerified ? userVerified : 0);
    // No counter, as synced passkeys have none.
    return Buffer.concat([sha256(rpId), Buffer.from([all, 0, 0, 0, 0])]);
  }

  #answer(response: object): object {
    const id = this.#id.toString('base64url');
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }
}
