import { useState } from 'react';
import { send } from '../api/call.ts';
import { ApiFailure } from '../api/failure.ts';
import { askPasskey } from './passkey.ts';
import { signWithWallet } from './wallet.ts';

const noMerchant = { merchantId: undefined };

async function signInWithPasskey(): Promise<void> {
  const options = (await send('POST /sign-in/passkey/start', {}, noMerchant)) as object;
  const response = await askPasskey(options);
  await send('POST /sign-in/passkey', { body: { response } }, noMerchant);
}

async function signInWithWallet(): Promise<void> {
  const { nonce } = (await send('POST /sign-in/wallet/start', {}, noMerchant)) as { nonce: string };
  await send('POST /sign-in/wallet', { body: await signWithWallet(nonce) }, noMerchant);
}

const ways = { passkey: signInWithPasskey, wallet: signInWithWallet };

/** Signing in with a device: one at a time, with what went wrong. */
export function useWays(onDone: () => void) {
  const [running, setRunning] = useState<keyof typeof ways>();
  const [error, setError] = useState<ApiFailure>();
  const run = async (way: keyof typeof ways) => {
    if (running !== undefined) return;
    setRunning(way);
    setError(undefined);
    try {
      await ways[way]();
      onDone();
    } catch (failure) {
      if (!(failure instanceof ApiFailure)) throw failure;
      setError(failure);
    } finally {
      setRunning(undefined);
    }
  };
  return { run, running, error };
}
