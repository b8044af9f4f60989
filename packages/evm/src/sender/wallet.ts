import { addressOfPublicKey, keccakHex, type SigningKey, secp256k1, signerOf } from '@florin/signing';
import { type Hex, parseTransaction, type TransactionSerializedEIP1559 } from 'viem';
import { encodeRlp, integerBytes, type RlpItem } from '../nodes/rlp.ts';

/** An EIP-1559 transaction before its signature. Fees in wei per gas. */
export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: bigint;
  readonly to: Hex;
  readonly data: Hex;
  readonly gasLimit: bigint;
  readonly maxFee: bigint;
  readonly priorityFee: bigint;
}

/** A wallet that sends transactions. Its key is in memory, in a keystore or in a remote signer. */
export interface WalletSigner {
  readonly address: Hex;
  /** The signed transaction in the form that nodes accept. Must be fast: database rows are locked meanwhile. */
  signTransaction(transaction: UnsignedTransaction): Promise<Hex>;
  /** Whether `raw` is this transaction, field by field, signed by this wallet. */
  hasSigned(transaction: UnsignedTransaction, raw: Hex): boolean;
}

/** The wallet of a private key or of a remote signer. Refuses all other keys. */
export function walletOf(key: SigningKey): WalletSigner {
  const signer = signerOf(key);
  return {
    address: signer.address,
    async signTransaction(transaction) {
      const fields = fieldsOf(transaction);
      return encoded([...fields, ...partsOf(await signer.sign(encoded(fields)))]);
    },
    hasSigned: (transaction, raw) => isSignedBy(signer.address, transaction, raw),
  };
}

function isSignedBy(address: Hex, transaction: UnsignedTransaction, raw: Hex): boolean {
  const { r, s, yParity } = signatureIn(raw) ?? {};
  if (r === undefined || s === undefined) return false;
  const bytes = Buffer.concat([bytesOf(r), bytesOf(s), Buffer.of(27 + (yParity ?? 0))]);
  const digest = keccakHex(bytesOf(encoded(fieldsOf(transaction))));
  const publicKey = secp256k1.recover(bytesOf(digest), bytes);
  return publicKey !== undefined && addressOfPublicKey(publicKey) === address.toLowerCase();
}

function bytesOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

/** The parts of the signature; undefined where there is no transaction. */
function signatureIn(raw: Hex) {
  try {
    return parseTransaction(raw as TransactionSerializedEIP1559);
  } catch {
    return undefined;
  }
}

/** The fields in the order of EIP-1559, without value and access list. */
function fieldsOf(transaction: UnsignedTransaction): readonly RlpItem[] {
  const { chainId, nonce, to, data, gasLimit, maxFee, priorityFee } = transaction;
  const numbers = [chainId, nonce, priorityFee, maxFee, gasLimit].map(integerBytes);
  return [...numbers, to, integerBytes(0), data, []];
}

const eip1559Type = '02';

function encoded(fields: readonly RlpItem[]): Hex {
  return `0x${eip1559Type}${encodeRlp(fields).toString('hex')}`;
}

/** Parity, r and s of a 65-byte signature, as numbers without leading zeros. */
function partsOf(signature: Hex): readonly RlpItem[] {
  const number = (from: number, to: number) =>
    integerBytes(BigInt(`0x${signature.slice(2 + 2 * from, 2 + 2 * to)}`));
  return [integerBytes(Number(`0x${signature.slice(130)}`) === 28 ? 1 : 0), number(0, 32), number(32, 64)];
}
