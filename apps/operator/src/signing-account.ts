import { type SigningKey, signerOf } from '@florin/signing';
import { parseSignature, serializeTransaction } from 'viem';
import { type LocalAccount, toAccount } from 'viem/accounts';

/** An account that sends transactions, with a key in memory or in a remote signer. It signs nothing else. */
export function accountOf(key: SigningKey): LocalAccount {
  const signer = signerOf(key);
  const refuse = () => Promise.reject(new Error('this account signs transactions only'));
  return toAccount({
    address: signer.address,
    async signTransaction(transaction, { serializer = serializeTransaction } = {}) {
      const signature = parseSignature(await signer.sign(await serializer(transaction)));
      return serializer(transaction, signature);
    },
    signMessage: refuse,
    signTypedData: refuse,
  });
}
