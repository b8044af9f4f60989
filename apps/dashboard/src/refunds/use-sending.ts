import type { Refund } from '@florin/protocol/refund.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiFailure } from '../api/failure.ts';
import { withProof } from '../api/prover.ts';
import { request } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { findWallet } from '../proof/wallet.ts';
import { type SendProgress, sendRefund, stepsOf } from './send-refund.ts';
import { movedNothing, type Shortage, stopOf, type WalletStop, WalletStopped } from './wallet-stop.ts';

/** What approvals take at most, mostly. */
const approvalSeconds = 120;

/**
 * Asks for the proof before the wallet's first question, if it would end while approvals are mined: between two questions of
 * the wallet no one expects a third one of the page.
 */
function proveFirst(refund: Refund): Promise<void> {
  return withProof(async () => {
    if (stepsOf(refund).length === 1) return;
    const { freshSeconds } = await request(undefined, 'GET /me');
    if (freshSeconds < approvalSeconds)
      throw new ApiFailure({ slug: 'fresh_proof_required', message: 'a proof would end meanwhile' });
  }, 'POST /refund/signing/start');
}

/** The signing of one refund from this page. */
export function useSending(refund: Refund) {
  const { refundId } = refund;
  const { merchantId } = useMerchant();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<SendProgress>();
  const [stop, setStop] = useState<WalletStop>();
  const [shortage, setShortage] = useState<Shortage>();
  const [isRunning, setRunning] = useState(false);
  const readKnown = async () => {
    const known = await request(merchantId, 'GET /refund/:refundId', { params: { refundId } });
    const { status, orderId, refundedAmount } = known;
    if (refundedAmount === undefined) throw new WalletStopped('ended');
    return { status, orderId, refundedAmount };
  };
  // Without an answer the signing stays open without its transaction, and everybody is told to look at the wallet.
  const report = useMutation({
    mutationFn: (body: { refundId: string; signingId: string; txHash: string }) =>
      request(merchantId, 'POST /refund/signing/sent', { body }),
    retry: 5,
  });
  const end = useMutation({
    mutationFn: (body: { refundId: string; signingId: string }) =>
      request(merchantId, 'POST /refund/signing/end', { body }),
    retry: 5,
  });
  const run = async (insteadOf?: string) => {
    const wallet = findWallet();
    if (wallet === undefined || isRunning) return;
    const signingId = crypto.randomUUID();
    let isReserved = false;
    let sentHash = '';
    setRunning(true);
    setStop(undefined);
    setShortage(undefined);
    setProgress(undefined);
    try {
      await proveFirst(refund);
      await sendRefund({
        wallet,
        refund,
        readKnown,
        reserve: async (account) => {
          isReserved = true;
          const body = { refundId, signingId, account, ...(insteadOf === undefined ? {} : { insteadOf }) };
          await request(merchantId, 'POST /refund/signing/start', { body });
        },
        tell: (next) => {
          setProgress(next);
          const hash = next.hashes.at(-1) ?? '';
          if (hash === '' || hash === sentHash) return;
          sentHash = hash;
          report.mutate({ refundId, signingId, txHash: hash });
        },
      });
    } catch (error) {
      const found = stopOf(error);
      // Without a proof nothing was reserved.
      if (isReserved && found !== 'not_proven' && movedNothing(found, sentHash))
        await endOrLeave(end.mutateAsync({ refundId, signingId }));
      setStop(found);
      setShortage(error instanceof WalletStopped ? error.shortage : undefined);
    } finally {
      await queries.invalidateQueries();
      setRunning(false);
    }
  };
  return { progress, stop, shortage, isRunning, sign: () => run(), signInsteadOf: run };
}

/** A signing that could not be ended stays open, and everybody is told to look at the wallet. */
async function endOrLeave(ended: Promise<unknown>): Promise<void> {
  try {
    await ended;
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
  }
}
