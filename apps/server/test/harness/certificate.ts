import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A server's key and certificate with their authority, in PEM. */
export interface TestCertificate {
  /** The certificate that a client must trust; for `ca` or the file of NODE_EXTRA_CA_CERTS. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Tags of the ASN.1 types (X.690) in a certificate (RFC 5280). */
const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8: 0x0c,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const oids = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(body.length.toString(16).padStart(body.length > 255 ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = rest.flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(tags.objectId, Buffer.from([first * 40 + second, ...bytes]));
}

function time(date: Date): Buffer {
  const text = `${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return der(tags.generalizedTime, Buffer.from(text));
}

function name(commonName: string): Buffer {
  const attribute = der(tags.sequence, objectId(oids.commonName), der(tags.utf8, Buffer.from(commonName)));
  return der(tags.sequence, der(tags.set, attribute));
}

function bits(bytes: Uint8Array, unused = 0): Buffer {
  return der(tags.bitString, Buffer.from([unused]), bytes);
}

function extension(oid: string, value: Uint8Array, isCritical = false): Buffer {
  const critical = isCritical ? [der(tags.boolean, Buffer.from([0xff]))] : [];
  return der(tags.sequence, objectId(oid), ...critical, der(tags.octetString, value));
}

function publicKey(key: KeyObject): { info: Buffer; id: Buffer } {
  const info = key.export({ type: 'spki', format: 'der' });
  return { info, id: createHash('sha1').update(info).digest() };
}

/** dNSName is [2], iPAddress is [7] of GeneralName. */
function altName(host: string): Buffer {
  if (/^[\d.]+$/.test(host)) return der(0x87, Buffer.from(host.split('.').map(Number)));
  if (host === '::1') return der(0x87, Buffer.from([...Array(15).fill(0), 1]));
  return der(0x82, Buffer.from(host));
}

interface CertificateTerms {
  readonly subject: string;
  readonly subjectKey: KeyObject;
  readonly issuer: string;
  readonly issuerKey: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly Buffer[];
}

function certificate(terms: CertificateTerms): string {
  const algorithm = der(tags.sequence, objectId(oids.ecdsaWithSha256));
  const subjectKey = publicKey(terms.subjectKey);
  const issuerKeyId = der(tags.sequence, der(0x80, publicKey(terms.issuerKey.publicKey).id));
  const toBeSigned = der(
    tags.sequence,
    der(0xa0, der(tags.integer, Buffer.from([2]))),
    der(tags.integer, Buffer.from([0x40]), randomBytes(15)),
    algorithm,
    name(terms.issuer),
    der(tags.sequence, time(terms.notBefore), time(terms.notAfter)),
    name(terms.subject),
    subjectKey.info,
    der(
      0xa3,
      der(
        tags.sequence,
        extension(oids.subjectKeyId, der(tags.octetString, subjectKey.id)),
        extension(oids.authorityKeyId, issuerKeyId),
        ...terms.extensions,
      ),
    ),
  );
  const signature = sign('sha256', toBeSigned, terms.issuerKey.privateKey);
  const whole = der(tags.sequence, toBeSigned, algorithm, bits(signature)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${whole.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/**
 * Makes an authority and a server certificate (ECDSA P-256). Node has no X.509 builder, and a fresh machine may lack
 * openssl, so the bytes are built here. Valid from an hour before `now` for `validDays` days, 30 by default.
 */
export function makeCertificate(options: {
  readonly now: Date;
  readonly hosts?: readonly string[];
  readonly validDays?: number;
}): TestCertificate {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = `Florin test authority ${randomBytes(4).toString('hex')}`;
  const hosts = options.hosts ?? ['localhost', '127.0.0.1', '::1'];
  const validity = {
    notBefore: new Date(options.now.getTime() - 3_600_000),
    notAfter: new Date(options.now.getTime() + (options.validDays ?? 30) * 86_400_000),
  };
  const isAuthority = der(tags.sequence, der(tags.boolean, Buffer.from([0xff])));
  return {
    ca: certificate({
      ...validity,
      subject: issuer,
      subjectKey: authority.publicKey,
      issuer,
      issuerKey: authority,
      // keyCertSign and cRLSign are bits 5 and 6.
      extensions: [
        extension(oids.basicConstraints, isAuthority, true),
        extension(oids.keyUsage, bits(Buffer.from([0x06]), 1), true),
      ],
    }),
    cert: certificate({
      ...validity,
      subject: hosts[0] ?? 'server',
      subjectKey: server.publicKey,
      issuer,
      issuerKey: authority,
      extensions: [
        extension(oids.basicConstraints, der(tags.sequence), true),
        extension(oids.keyUsage, bits(Buffer.from([0x80]), 7), true),
        extension(oids.extendedKeyUsage, der(tags.sequence, objectId(oids.serverAuth))),
        extension(oids.subjectAltName, der(tags.sequence, ...hosts.map(altName))),
      ],
    }),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
