import type { Refund } from '@florin/protocol/refund.ts';
import { useEffect, useState } from 'react';
import { request } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { findWallet } from '../proof/wallet.ts';
import { type SendProgress, sendRefund } from './send-refund.ts';
import { keepSentMark, readSentMark, type SentMark, watchSentMark } from './sent-mark.ts';
import { movedNothing, stopOf, type WalletStop, WalletStopped } from './wallet-stop.ts';

/** Browsers have no locks outside a secure origin, where wallets do not work either. */
const locks: LockManager | undefined = navigator.locks;

/** Runs while no other tab of this browser signs a refund of the same payment. */
async function signAlone(sessionId: string, sign: () => Promise<void>): Promise<void> {
  if (locks === undefined) return sign();
  await locks.request(`florin.refund.${sessionId}`, { ifAvailable: true }, async (lock) => {
    if (lock === null) throw new WalletStopped('other_tab');
    await sign();
  });
}

/** The signing of one refund, and what this browser knows of it. */
export function useSending(refund: Refund) {
  const { refundId, sessionId } = refund;
  const { merchantId } = useMerchant();
  const [mark, setMark] = useState(() => readSentMark(refundId));
  const [progress, setProgress] = useState<SendProgress>();
  const [stop, setStop] = useState<WalletStop>();
  const [isRunning, setRunning] = useState(false);
  useEffect(() => watchSentMark(refundId, setMark), [refundId]);
  const keep = (next: SentMark) => {
    keepSentMark(refundId, next);
    setMark(next);
  };
  const readKnown = async () => {
    const [{ status }, view] = await Promise.all([
      request(merchantId, 'GET /refund/:refundId', { params: { refundId } }),
      request(merchantId, 'GET /session/:sessionId', { params: { sessionId } }),
    ]);
    if (view.transaction === undefined) throw new WalletStopped('ended');
    const { orderId } = view.transaction;
    return { status, orderId, refundedAmount: view.session.refundedAmount };
  };
  const tell = (next: SendProgress) => {
    setProgress(next);
    if (next.step < next.hashes.length - 1) return;
    const hash = next.hashes.at(-1) ?? '';
    keep(hash === '' ? 'asked' : (hash as SentMark));
  };
  const run = async (isAgain: boolean) => {
    const wallet = findWallet();
    if (wallet === undefined || isRunning) return;
    setRunning(true);
    setStop(undefined);
    setProgress(undefined);
    try {
      await signAlone(sessionId, async () => {
        if (!isAgain && readSentMark(refundId) !== '') throw new WalletStopped('asked_before');
        keep('');
        try {
          await sendRefund({ wallet, refund, readKnown, tell });
        } catch (error) {
          if (movedNothing(stopOf(error), readSentMark(refundId))) keep('');
          throw error;
        }
      });
    } catch (error) {
      setStop(stopOf(error));
    } finally {
      setRunning(false);
    }
  };
  return { mark, progress, stop, isRunning, sign: () => run(false), signAgain: () => run(true) };
}
