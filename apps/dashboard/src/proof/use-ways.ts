import { useState } from 'react';
import { send } from '../api/call.ts';
import { ApiFailure } from '../api/failure.ts';
import { askPasskey } from './passkey.ts';
import { signWithWallet, type WalletTerms } from './wallet.ts';

type Purpose = 'sign_in' | 'prove';

const noMerchant = { merchantId: undefined };

async function signInWithPasskey(): Promise<void> {
  const options = (await send('POST /sign-in/passkey/start', {}, noMerchant)) as object;
  const response = await askPasskey(options);
  await send('POST /sign-in/passkey', { body: { response } }, noMerchant);
}

async function signInWithWallet(purpose: Purpose): Promise<void> {
  const asked = await send('POST /sign-in/wallet/start', { body: { purpose } }, noMerchant);
  const signed = await signWithWallet(asked as WalletTerms);
  await send('POST /sign-in/wallet', { body: { ...signed, purpose } }, noMerchant);
}

const ways = { passkey: signInWithPasskey, wallet: signInWithWallet };

/**
 * Signing in with a device: one at a time, with what went wrong.
 * @param purpose `prove`: the person is signed in, and proves again who acts.
 */
export function useWays(purpose: Purpose, onDone: () => void) {
  const [running, setRunning] = useState<keyof typeof ways>();
  const [failed, setFailed] = useState<{ readonly way: keyof typeof ways; readonly error: ApiFailure }>();
  const run = async (way: keyof typeof ways) => {
    if (running !== undefined) return;
    setRunning(way);
    setFailed(undefined);
    try {
      await ways[way](purpose);
      onDone();
    } catch (failure) {
      if (!(failure instanceof ApiFailure)) throw failure;
      setFailed({ way, error: failure });
    } finally {
      setRunning(undefined);
    }
  };
  return { run, running, error: failed?.error, failedWay: failed?.way };
}
