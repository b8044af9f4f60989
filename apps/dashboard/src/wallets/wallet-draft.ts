import { useEffect, useState } from 'react';
import { type ApiFailure, fieldError } from '../api/failure.ts';
import { invalidPart } from '../ui/field.tsx';
import type { WalletAccount } from './types.ts';

/** What a person gave as the address of a wallet. */
export interface AddressDraft {
  readonly accountAddress: string;
  /** The wallet's signature of the text for this address. */
  readonly proof: { readonly chainId: number; readonly signature: string } | undefined;
  readonly isWithoutProof: boolean;
}

/** What of a wallet changes at once. */
export type TermsDraft = Pick<WalletAccount, 'accountName' | 'settlementCurrencies' | 'settlementMode'>;

/** What is wrong, in words, by the field. */
type Faults<Draft> = { readonly [Field in keyof Draft]?: string };

export const noAddress: AddressDraft = { accountAddress: '', proof: undefined, isWithoutProof: false };

/** What is missing. The service checks the checksum and where the address is in use. */
export function addressFaults({ accountAddress, proof, isWithoutProof }: AddressDraft): Faults<AddressDraft> {
  return {
    ...(/^0x[\da-f]{40}$/i.test(accountAddress.trim())
      ? {}
      : { accountAddress: 'Write 0x and 40 digits or letters from a to f.' }),
    ...(proof === undefined && !isWithoutProof
      ? { isWithoutProof: 'Sign the proof, or tick that you go on without one.' }
      : {}),
  };
}

export function termsFaults({ accountName, settlementCurrencies }: TermsDraft): Faults<TermsDraft> {
  return {
    ...(accountName.trim() === '' ? { accountName: 'Give the wallet a name.' } : {}),
    ...(settlementCurrencies.length === 0 ? { settlementCurrencies: 'Choose at least one token.' } : {}),
  };
}

export function addressBody({ accountAddress, proof }: AddressDraft) {
  return { accountAddress: accountAddress.trim(), ...(proof === undefined ? {} : { proof }) };
}

export function termsBody({ accountName, settlementCurrencies, settlementMode }: TermsDraft) {
  return {
    ...{ accountName: accountName.trim(), settlementMode },
    settlementCurrencies: [...settlementCurrencies],
  };
}

/** A form's part of a write. */
interface Sending {
  readonly error: ApiFailure | undefined;
  readonly reset: () => void;
}

/** What is typed into a form. What is wrong with a field is told until that field changes. */
export function useDraft<Draft extends object>(
  initial: Draft,
  find: (draft: Draft) => Faults<Draft>,
  { error, reset }: Sending,
) {
  const [draft, setDraft] = useState(initial);
  const [faults, setFaults] = useState<Faults<Draft>>({});
  const [failedChecks, setFailedChecks] = useState(0);
  useEffect(() => {
    if (failedChecks === 0) return;
    document.querySelector<HTMLElement>(`form :is(${invalidPart})`)?.focus();
  }, [failedChecks]);
  return {
    draft,
    change: (part: Partial<Draft>) => {
      setDraft((before) => ({ ...before, ...part }));
      setFaults(({ ...rest }) => {
        for (const field of Object.keys(part) as (keyof Draft)[]) delete rest[field];
        return rest;
      });
      if (error !== undefined) reset();
    },
    /** Whether nothing is wrong; what is wrong is told at its field, and the first such field takes the focus. */
    check: (): boolean => {
      const found = find(draft);
      setFaults(found);
      const isRight = Object.keys(found).length === 0;
      if (!isRight) setFailedChecks((count) => count + 1);
      return isRight;
    },
    errorOf: (field: keyof Draft & string): string | undefined => faults[field] ?? fieldError(error, field),
  };
}
