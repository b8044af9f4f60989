/**
 * Hashing of typed data, secp256k1, keystores, and signers with local or remote keys. Independent of the signed
 * content.
 */

export { type AwsKmsSettings, awsKmsSigner } from './aws-kms.ts';
export { addressOfPublicKey, parseAddress, withChecksum } from './checksum.ts';
export { type GoogleKmsSettings, googleKmsSigner } from './google-kms.ts';
export { keccakBytes, keccakHex } from './keccak.ts';
export { decryptKeystore, encryptKeystore } from './keystore.ts';
export {
  isCanonicalSignature,
  nativeFailure,
  nativeSecp256k1,
  type Secp256k1,
  secp256k1,
  wasmSecp256k1,
} from './secp256k1.ts';
export { localSigner, type Signer, SignerFailure, type SigningKey, signerOf } from './signer.ts';
export { type SignerHttp, signerHttp } from './signer-http.ts';
export { type SigningDomain, type StructHasher, structHasher, typedPreimage } from './typed-data.ts';
export { type Web3SignerSettings, web3Signer } from './web3signer.ts';
