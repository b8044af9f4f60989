/** What a person gave as the address of a wallet. */
export interface AddressDraft {
  readonly accountAddress: string;
  /** The wallet's signature of the text for this address. */
  readonly proof: { readonly chainId: number; readonly signature: string } | undefined;
  readonly isWithoutProof: boolean;
}

export interface AddressFaults {
  readonly accountAddress?: string;
  readonly proof?: string;
}

export const noAddress: AddressDraft = { accountAddress: '', proof: undefined, isWithoutProof: false };

/** What is missing. The service checks the checksum and where the address is in use. */
export function addressFaults({ accountAddress, proof, isWithoutProof }: AddressDraft): AddressFaults {
  return {
    ...(/^0x[\da-f]{40}$/i.test(accountAddress.trim())
      ? {}
      : { accountAddress: 'Write 0x and 40 digits or letters from a to f.' }),
    ...(proof === undefined && !isWithoutProof
      ? { proof: 'Sign the proof, or tick that you go on without one.' }
      : {}),
  };
}

export function addressBody({ accountAddress, proof }: AddressDraft) {
  return { accountAddress: accountAddress.trim(), ...(proof === undefined ? {} : { proof }) };
}
