import { secp256k1 } from '@florin/signing';
import type { AgentMessage } from '#authorizations/cryptography.ts';
import { cryptographyOf } from '#authorizations/cryptography.ts';

/** Requests with a signature, most with one error, as a stranger could send them to impersonate a payer. */

export const domainName = 'aipay.pay.example.com';

export interface SignatureCase {
  /** The change of a valid request. */
  readonly name: string;
  readonly purpose: AgentMessage['purpose'];
  /** The body as received: any JSON value. */
  readonly body: { readonly message: Readonly<Record<string, unknown>>; readonly signature: unknown };
}

/** Repeatable random numbers. */
export interface Chance {
  /** A whole number from 0 to `count` - 1. */
  below(count: number): number;
  bytes(count: number): Buffer;
  pick<T>(values: readonly T[]): T;
}

/** The random numbers of one case: the same for the same seed (mulberry32). */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (count: number) => Math.floor((next() / 2 ** 32) * count);
  return {
    below,
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => below(256))),
    pick(values) {
      const value = values[below(values.length)];
      if (value === undefined) throw new RangeError('nothing to pick from');
      return value;
    },
  };
}

type Message = Readonly<Record<string, string>>;

const cryptography = cryptographyOf(secp256k1);
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const word = (value: bigint) => value.toString(16).padStart(64, '0');
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Keys of payers; few, so that the libraries' address caches help. */
const payers = Array.from({ length: 64 }, (_, index) => {
  const privateKey = Buffer.from(word(BigInt(index) * 7_919n + 1n), 'hex');
  const zero = `0x${'00'.repeat(32)}` as const;
  const { r, s, v } = secp256k1.sign(Buffer.alloc(32), privateKey);
  const address = cryptography.recover(zero, `0x${hex(r)}${hex(s)}${v.toString(16)}`);
  if (address === undefined) throw new Error('a key without an address');
  return { privateKey, address };
});
type Payer = (typeof payers)[number];

const digits = '0123456789abcdefghijklmnopqrstuvwxyzé漢🍵';
const someText = (chance: Chance) =>
  Array.from({ length: 1 + chance.below(24) }, () => chance.pick([...digits])).join('');
const limits = [0n, 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n, 2n ** 64n - 1n, 2n ** 128n, 2n ** 256n - 1n];
const someInteger = (chance: Chance) =>
  String(
    chance.below(4) === 0 ? chance.pick(limits) : BigInt(`0x${hex(chance.bytes(1 + chance.below(32)))}`),
  );

function validMessage(chance: Chance, purpose: AgentMessage['purpose'], payer: Payer): Message {
  const shared = {
    purpose,
    merchantId: someText(chance),
    payer: payer.address,
    paymentChainId: someInteger(chance),
    paymentToken: `0x${hex(chance.bytes(20))}`,
    authorizationNonce: `0x${hex(chance.bytes(32))}`,
    authorizationExpiresAt: someInteger(chance),
  };
  if (purpose === 'prepare_payment')
    return {
      ...shared,
      sessionId: someText(chance),
      payerEmail: chance.pick(['', 'ada@example.com', 'é@漢.jp']),
    };
  return {
    ...shared,
    linkId: someText(chance),
    linkVersion: someText(chance),
    amount: someInteger(chance),
  };
}

function sign(purpose: AgentMessage['purpose'], message: Message, payer: Payer) {
  const digest = cryptography.digest(domainName, { purpose, message } as unknown as AgentMessage);
  return secp256k1.sign(Buffer.from(digest.slice(2), 'hex'), payer.privateKey);
}

interface Parts {
  readonly r: string;
  readonly s: string;
  readonly v: number;
}

const byte = (value: number) => value.toString(16).padStart(2, '0');
const joined = ({ r, s, v }: Parts) => `0x${r}${s}${byte(v)}`;
const negated = (s: string) => word(order - BigInt(`0x${s}`));
const flippedV = (v: number) => 55 - v;

/** Invalid signatures derived from a valid one. */
const signatureForms: Readonly<Record<string, (parts: Parts, chance: Chance) => unknown>> = {
  'high s': (parts) => joined({ ...parts, s: negated(parts.s), v: flippedV(parts.v) }),
  'high s, same v': (parts) => joined({ ...parts, s: negated(parts.s) }),
  'the other v': (parts) => joined({ ...parts, v: flippedV(parts.v) }),
  'v 0 or 1': (parts) => joined({ ...parts, v: parts.v - 27 }),
  'v of EIP-155': (parts, chance) => joined({ ...parts, v: parts.v + 8 + 2 * chance.below(100) }),
  'any v': (parts, chance) => joined({ ...parts, v: chance.below(256) }),
  'r zero': (parts) => joined({ ...parts, r: word(0n) }),
  's zero': (parts) => joined({ ...parts, s: word(0n) }),
  's one': (parts) => joined({ ...parts, s: word(1n) }),
  'r of the order and around': (parts, chance) =>
    joined({ ...parts, r: word(order - 2n + BigInt(chance.below(5))) }),
  's of half the order and around': (parts, chance) =>
    joined({ ...parts, s: word(order / 2n - 2n + BigInt(chance.below(5))) }),
  's of the order and around': (parts, chance) =>
    joined({ ...parts, s: word(order - 2n + BigInt(chance.below(5))) }),
  's and the order': (parts) => joined({ ...parts, s: word((BigInt(`0x${parts.s}`) + order) % 2n ** 256n) }),
  'any r': (parts, chance) => joined({ ...parts, r: hex(chance.bytes(32)) }),
  'any s': (parts, chance) => joined({ ...parts, s: hex(chance.bytes(32)) }),
  'r and s exchanged': (parts) => joined({ ...parts, r: parts.s, s: parts.r }),
  'a bit flipped': (parts, chance) => {
    const bytes = Buffer.from(joined(parts).slice(2), 'hex');
    const place = chance.below(65);
    bytes[place] = (bytes[place] ?? 0) ^ (1 << chance.below(8));
    return `0x${hex(bytes)}`;
  },
  '65 bytes of chance': (_parts, chance) => `0x${hex(chance.bytes(64))}${chance.pick(['1b', '1c'])}`,
  'compact (EIP-2098)': ({ r, s, v }) => `0x${r}${word(BigInt(`0x${s}`) + (v === 28 ? 2n ** 255n : 0n))}`,
  'bytes missing': (parts, chance) => joined(parts).slice(0, 2 + 2 * chance.below(65)),
  'bytes added': (parts, chance) => `${joined(parts)}${hex(chance.bytes(1 + chance.below(40)))}`,
  'bytes in front': (parts) => `0x00${joined(parts).slice(2)}`,
  'a digit missing': (parts) => joined(parts).slice(0, -1),
  'upper case': (parts) => `0x${joined(parts).slice(2).toUpperCase()}`,
  'an upper-case prefix': (parts) => `0X${joined(parts).slice(2)}`,
  'no prefix': (parts) => joined(parts).slice(2),
  'no hexadecimal': (parts, chance) => joined(parts).replace(/.$/, chance.pick(['g', ' ', 'Ａ', '\0'])),
  'blank around': (parts, chance) => chance.pick([` ${joined(parts)}`, `${joined(parts)}\n`]),
  'no text': (_parts, chance) => chance.pick([null, 0, [], {}, true]),
  nothing: () => '0x',
  'a wrapper (ERC-6492)': (parts) => `${joined(parts)}${'6492'.repeat(16)}`,
};

const integers = ['paymentChainId', 'authorizationExpiresAt', 'amount'];
const addresses = ['payer', 'paymentToken'];

function respelledInteger(text: string, chance: Chance): unknown {
  const value = BigInt(text);
  return chance.pick<unknown>([
    `0${text}`,
    `+${text}`,
    ` ${text}`,
    `${text} `,
    `${text}\n`,
    `${text}.0`,
    `${text}e0`,
    `${text}n`,
    `0x${value.toString(16)}`,
    `0b${value.toString(2)}`,
    text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    Number(text),
    [text],
    '',
    `-${text}`,
    String(2n ** 256n),
    String(2n ** 256n + value),
    '9'.repeat(78),
    '1'.repeat(79),
  ]);
}

function respelledAddress(text: string, chance: Chance): unknown {
  const upper = `0x${text.slice(2).toUpperCase()}`;
  const mixed = text.replace(/[a-f]/g, (letter) => (chance.below(2) === 0 ? letter : letter.toUpperCase()));
  return chance.pick<unknown>([
    upper,
    mixed,
    `0X${text.slice(2)}`,
    text.slice(2),
    `${text}0`,
    text.slice(0, -1),
  ]);
}

const texts = [
  '',
  '\ud800',
  'a\0b',
  'x'.repeat(64),
  'x'.repeat(65),
  '🍵'.repeat(64),
  '🍵'.repeat(65),
  'é',
  'e\u0301',
];

/** Changes the spelling of one field after the payer signed. */
function respelled(message: Message, chance: Chance): Readonly<Record<string, unknown>> {
  const field = chance.pick(Object.keys(message));
  const text = message[field] ?? '';
  if (chance.below(12) === 0) return omit(message, field);
  if (chance.below(12) === 0) return { ...message, [chance.pick(['amount', 'sessionId', 'extra'])]: '1' };
  if (chance.below(12) === 0) return { ...message, [field]: chance.pick([null, 1, {}, [text], false]) };
  if (integers.includes(field)) return { ...message, [field]: respelledInteger(text, chance) };
  if (addresses.includes(field)) return { ...message, [field]: respelledAddress(text, chance) };
  if (field !== 'authorizationNonce') return { ...message, [field]: chance.pick(texts) };
  const forms = [
    `0x${text.slice(2).toUpperCase()}`,
    `0X${text.slice(2)}`,
    `${text}00`,
    text.slice(0, -2),
    text.slice(2),
  ];
  return { ...message, [field]: chance.pick(forms) };
}

function omit(message: Message, field: string): Message {
  return Object.fromEntries(Object.entries(message).filter(([name]) => name !== field));
}

/** A well-formed message that differs from the signed one. */
function exchanged(message: Message, chance: Chance, purpose: AgentMessage['purpose']): Message {
  const other = validMessage(chance, purpose, chance.pick(payers));
  const field = chance.pick(Object.keys(message));
  return { ...message, [field]: other[field] ?? '' };
}

/** The case for a seed. */
export function signatureCase(seed: number): SignatureCase {
  const chance = chanceOf(seed);
  const purpose = chance.pick(['create_payment_session', 'prepare_payment'] as const);
  const payer = chance.pick(payers);
  const message = validMessage(chance, purpose, payer);
  const { r, s, v } = sign(purpose, message, payer);
  const parts = { r: hex(r), s: hex(s), v };
  const signature = joined(parts);
  const kind = chance.below(20);
  if (kind < 2) return { name: 'valid', purpose, body: { message, signature } };
  if (kind < 10)
    return { name: 'respelled field', purpose, body: { message: respelled(message, chance), signature } };
  if (kind < 11)
    return {
      name: 'exchanged field',
      purpose,
      body: { message: exchanged(message, chance, purpose), signature },
    };
  const name = chance.pick(Object.keys(signatureForms));
  return {
    name: `signature: ${name}`,
    purpose,
    body: { message, signature: signatureForms[name]?.(parts, chance) },
  };
}
